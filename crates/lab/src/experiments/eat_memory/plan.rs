//! What a series of eat-memory will do, checked against the machine.

use super::allocate::AllocateTask;
use super::arms::{self, NAME};
use crate::prelude::*;

/// Looks in a run, about: each stops the child for a millisecond.
const LOOKS: u64 = 128;

/// What will be done.
pub struct EatPlan {
    pub values: Values,
    /// What the child is to do, whatever the setting.
    pub task: AllocateTask,
    pub timeout: Duration,
    pub found: Resources,
}

impl EatPlan {
    /// Of the values given.
    pub fn from_params(root: &Root, params: &Params) -> Result<EatPlan> {
        let limit = params.size("limit").unwrap_or_default();
        let part = |name: &str, share: u64| {
            params.size(name).unwrap_or(Bytes(((limit.0 / 8 * share) >> 20 << 20).max(1 << 20)))
        };
        let values = Values {
            limit,
            arms: params.list("arms").iter().map(|text| arms::parse(text)).collect::<Result<_>>()?,
            eat: params.size("eat"),
            step: params.size("step").unwrap_or_default(),
            cache: part("cache", 7),
            idle: part("idle", 2),
            read_ahead: params.size("read-ahead").unwrap_or_default(),
        };
        values.check()?;
        let Values { eat, step, idle, .. } = values;
        let swap = if values.swaps() { limit } else { Bytes::ZERO };
        // Without a limit the end of eating is what bounds it, with what is there before.
        let open = if values.any(arms::NO_LIMIT) { eat.unwrap_or_default() + values.cache + idle } else { Bytes::ZERO };
        let needed = Requirements {
            smaller: "--limit 64MiB",
            without_swap: "--arms no-swap",
            root_for: "a memory cgroup, a loop device and a mount need root",
            group: true,
            memory: limit.max(open),
            tools: Tool::OWN_FS,
            scratch: image_size(values.tree()) + swap,
            swap_priority: values.swaps().then_some(PRIORITY),
            ..params.requirements(NAME)
        };
        let found = needed.check(root, Vec::new())?;
        let task = AllocateTask {
            idle,
            files: Vec::new(),
            reads: params.count("reads").and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
            step,
            most: eat,
            look_every: step,
            fill: params.text("fill").unwrap_or_default().parse()?,
            seed: params.count("seed").unwrap_or_default(),
        };
        Ok(EatPlan { values, task, timeout: params.time("timeout").unwrap_or_default(), found })
    }
}

/// What can be judged without a machine.
pub struct Values {
    pub limit: Bytes,
    pub arms: Vec<Arm>,
    pub eat: Option<Bytes>,
    pub step: Bytes,
    pub cache: Bytes,
    pub idle: Bytes,
    pub read_ahead: Bytes,
}

impl Values {
    fn check(&self) -> Result<()> {
        let Values { limit, step, .. } = *self;
        let mib = |bytes: Bytes| bytes.0 > 0 && bytes.0.is_multiple_of(1 << 20);
        refuse_if(self.arms.is_empty(), NAME, "--arms no-swap,cache+no-swap", "there is no setting")?;
        let text = format!("a limit of {limit} is not a whole number of MiB from 16 on");
        refuse_if(!mib(limit) || limit < Bytes::from_mib(16), NAME, "--limit 256MiB", text)?;
        let fits = step.0.is_multiple_of(4096) && (Bytes(4096)..=Bytes(limit.0 / 8)).contains(&step);
        let text = format!("a step of {step} is not a multiple of 4 KiB up to an eighth of the limit");
        refuse_if(!fits, NAME, "--step 1MiB", text)?;
        for (name, value) in [("cache", self.cache), ("idle", self.idle)] {
            let fits = mib(value) && value <= Bytes(limit.0.saturating_mul(4));
            let text = format!("{value} of {name} is not a whole number of MiB up to four times the limit");
            refuse_if(!fits, NAME, &format!("--{name} 64MiB"), text)?;
        }
        if let Some(Arm { name, .. }) = self.arms.iter().find(|arm| arms::has(arm, arms::NO_LIMIT)) {
            let text = format!("setting {name}: without a limit it must be said where eating ends");
            refuse_if(self.eat.is_none(), NAME, &format!("--arms {name} --eat 400MiB"), text)?;
        }
        let text = format!("--eat is less than a step of {step}");
        refuse_if(self.eat.is_some_and(|eat| eat < step), NAME, "--eat 128MiB", text)?;
        check_read_ahead(self.read_ahead, NAME)
    }

    fn any(&self, part: &str) -> bool {
        self.arms.iter().any(|arm| arms::has(arm, part))
    }

    /// An arm has a swap file of its own.
    pub fn swaps(&self) -> bool {
        self.arms.iter().any(|arm| arm.swap == SwapKind::File)
    }

    /// `None` in an arm without.
    pub fn limit_of(&self, arm: &Arm) -> Option<Bytes> {
        (!arms::has(arm, arms::NO_LIMIT)).then_some(self.limit)
    }

    /// All files; a token one where no arm reads them.
    pub fn tree(&self) -> Bytes {
        if self.any(arms::CACHE) { self.cache } else { Bytes::from_mib(1) }
    }

    /// As much as the limit: what does not fit into memory fits there.
    pub fn swap_size(&self) -> Bytes {
        self.limit
    }

    /// So much is taken or read between two looks.
    pub fn look_every(&self, arm: &Arm) -> Bytes {
        let all = match (arm.swap == SwapKind::File, self.eat) {
            (_, Some(eat)) => eat,
            (true, None) => self.limit + self.swap_size(),
            (false, None) => self.limit,
        };
        let steps = (all.0 / LOOKS).div_ceil(self.step.0.max(1)).max(1);
        Bytes(self.step.0.saturating_mul(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(arms: &[&str]) -> Values {
        let mib = Bytes::from_mib;
        Values {
            limit: mib(256),
            arms: arms.iter().map(|text| arms::parse(text).unwrap()).collect(),
            eat: None,
            step: mib(1),
            cache: mib(224),
            idle: mib(64),
            read_ahead: Bytes::from_kib(128),
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_command_that_works() {
        values(&["no-swap", "idle+cache+swap:60"]).check().unwrap();
        let told = |change: fn(&mut Values)| {
            let mut changed = values(&["no-swap"]);
            change(&mut changed);
            changed.check().unwrap_err().to_string()
        };
        assert!(told(|v| v.arms.clear()).contains("--arms no-swap"));
        assert!(told(|v| v.limit = Bytes::from_mib(8)).contains("from 16 on"));
        assert!(told(|v| v.step = Bytes(5000)).contains("--step 1MiB"));
        assert!(told(|v| v.step = Bytes::from_mib(64)).contains("an eighth of the limit"));
        assert!(told(|v| v.idle = Bytes::ZERO).contains("--idle 64MiB"));
        assert!(told(|v| v.eat = Some(Bytes(1))).contains("--eat 128MiB"));
        assert!(told(|v| v.read_ahead = Bytes(1)).contains("--read-ahead 128KiB"));
    }

    #[test]
    fn without_a_limit_the_end_must_be_given() {
        let open = values(&["no-limit+cache"]);
        assert!(open.check().unwrap_err().to_string().contains("--arms no-limit+cache --eat 400MiB"));
        Values { eat: Some(Bytes::from_mib(64)), ..open }.check().unwrap();
    }
}
