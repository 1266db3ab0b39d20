//! What a series in virtual machines was asked for, beside what every series of code-plus-data takes.

use super::super::settings::Settings;
use crate::prelude::*;
use ramline_sandbox::vm::qemu::Accel;

/// The options; none has a default, so that one given without `--sandbox vm` is noticed.
pub const PARAMETERS: &[Parameter] = &[
    row("kernel", Kind::Text, None, "Virtual machine: the kernel, a vmlinuz or a name such as 6.12"),
    row("modules", Kind::Path, None, "Virtual machine: folder with the kernel's modules, when it is not beside it"),
    row("guest-binary", Kind::Path, None, "Virtual machine: a static ramline to run inside, when this one is not"),
    params::size("memory", "Virtual machine: memory (512MiB)"),
    row("cpus", Kind::Count(1, 16), None, "Virtual machine: processors (1)"),
    params::size("swap-disk", "Virtual machine: size of the swap disk (16 units, more with ballast)"),
    row("lru", Kind::List, None, "Virtual machine: settings also by page lists, comma-separated: classic, mglru"),
    row("sysctl", Kind::List, None, "Virtual machine: settings, comma-separated: vm.page-cluster=0"),
    row("accel", Kind::Word(&["auto", "kvm", "tcg"]), None, "Virtual machine: how the processor is made (auto)"),
];

/// What runs when no arms are named: a fresh guest has no swap that could be taken as it is.
const DEFAULT_ARMS: [&str; 2] = ["swap:60", "no-swap"];

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestOptions {
    /// The kernel as written.
    pub kernel: String,
    /// Folder of its modules.
    pub modules: Option<PathBuf>,
    /// The binary for the guest.
    pub binary: Option<PathBuf>,
    /// Memory of the guest.
    pub memory: Bytes,
    /// Its processors.
    pub cpus: u64,
    /// Size of the swap disk; `None`: as the workload needs.
    pub swap_disk: Option<Bytes>,
    /// Page lists as a dimension of arms; empty: as the kernel has them.
    pub lru: Vec<String>,
    /// Settings of the guest's kernel.
    pub sysctls: Vec<(String, String)>,
    /// How the processor is made; `None`: whichever works.
    pub accel: Option<Accel>,
    /// The unit; `None`: a sixteenth of the memory available at the start.
    pub unit: Option<Bytes>,
}

const EXAMPLE: &str = "code-plus-data --sandbox vm --kernel 6.12";

impl GuestOptions {
    /// From the parameters of a series.
    ///
    /// # Errors
    /// What cannot be meant, with what can.
    pub fn from_params(params: &Params) -> Result<GuestOptions> {
        let refuse = |wrong: bool, option: &str, text: &str| refuse_if(wrong, EXAMPLE, option, text);
        let kernel = params.text("kernel").unwrap_or_default();
        refuse(kernel.is_empty(), "", "a virtual machine needs a kernel")?;
        let text = "--limit is for a group; in a virtual machine the limit is its memory";
        refuse(params.size("limit").is_some(), "--memory 512MiB", text)?;
        let text = "--stale-statistics is for a group; a whole machine's statistics are never stale";
        refuse(params.switch("stale-statistics"), "", text)?;
        let (memory, unit) = (params.size("memory").unwrap_or(Bytes::from_mib(512)), params.size("unit"));
        let text = format!("{memory} are too little for a guest; 128 MiB are the least");
        refuse(memory < Bytes::from_mib(128), "--memory 256MiB", &text)?;
        let fits =
            |unit: Bytes| unit >= Bytes::from_mib(1) && unit.0.checked_mul(12).is_some_and(|all| all <= memory.0);
        let text = "the unit must be at least 1 MiB, and 12 of them must fit into --memory";
        refuse(!unit.is_none_or(fits), "--unit 16MiB", text)?;
        Ok(GuestOptions {
            kernel: kernel.to_owned(),
            modules: params.path("modules"),
            binary: params.path("guest-binary"),
            memory,
            cpus: params.count("cpus").unwrap_or(1),
            swap_disk: params.size("swap-disk"),
            lru: params.list("lru").iter().map(|text| lru(text)).collect::<Result<_>>()?,
            sysctls: params.list("sysctl").iter().map(|text| sysctl(text)).collect::<Result<_>>()?,
            accel: match params.text("accel") {
                Some("kvm") => Some(Accel::Kvm),
                Some("tcg") => Some(Accel::Tcg),
                _ => None,
            },
            unit,
        })
    }

    /// Arms with fills and page lists, in order: `swap:60 random mglru`.
    ///
    /// # Errors
    /// One that makes no sense in a guest.
    pub fn arms(&self, settings: &Settings) -> Result<Vec<Arm>> {
        let by_default = settings.arms.iter().map(|arm| arm.name.as_str()).eq(arm::DEFAULT_ARMS);
        let plain = if by_default {
            DEFAULT_ARMS.iter().map(|text| arm::parse(text)).collect::<Result<_>>()?
        } else {
            settings.arms.clone()
        };
        let configured = plain.iter().any(|arm| arm.swap == SwapKind::AsConfigured);
        let text = "as-configured: a fresh machine has no configured swap";
        refuse_if(configured, EXAMPLE, "--arms swap:60,no-swap", text)?;
        let crossed = Settings { arms: plain, ..settings.clone() }.crossed()?;
        if self.lru.is_empty() {
            return Ok(crossed);
        }
        let with = |arm: &Arm, lru: &String| Arm {
            name: format!("{} {lru}", arm.name),
            settings: arm.settings.clone().into_iter().chain([("lru".to_owned(), lru.clone())]).collect(),
            ..arm.clone()
        };
        Ok(crossed.iter().flat_map(|arm| self.lru.iter().map(|lru| with(arm, lru))).collect())
    }
}

fn lru(text: &str) -> Result<String> {
    let why = format!("'{}' is neither classic nor mglru", text.escape_debug());
    refuse_if(!matches!(text, "classic" | "mglru"), EXAMPLE, "--lru classic,mglru", why)?;
    Ok(text.to_owned())
}

/// `vm.page-cluster=0`: names as sysctl has them, so that no path outside /proc/sys can be meant.
fn sysctl(text: &str) -> Result<(String, String)> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name_ok = |name: &str| {
        name.split('.').count() > 1 && name.split('.').all(|part| !part.is_empty() && part.chars().all(plain))
    };
    let pair = text.split_once('=').filter(|(name, value)| name_ok(name) && !value.is_empty());
    let why = format!("'{}' is no setting and its value", text.escape_debug());
    refuse_if(pair.is_none(), EXAMPLE, "--sysctl vm.page-cluster=0", why)?;
    let (name, value) = pair.unwrap_or_default();
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(values: &[(&str, &str)]) -> Params {
        let table = super::super::super::table();
        let mut params = Params::defaults(&table);
        for (name, value) in values {
            params.set(&table, name, vec![(*value).to_owned()]).unwrap();
        }
        params
    }

    #[test]
    fn what_makes_no_sense_in_a_guest_is_refused_with_what_does() {
        let told = |values: &[(&str, &str)], what: &str| {
            let error = GuestOptions::from_params(&given(values)).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("try: ramline"), "{error}");
        };
        told(&[], "needs a kernel");
        told(&[("kernel", "6.1"), ("limit", "1GiB")], "--limit is for a group");
        told(&[("kernel", "6.1"), ("memory", "64MiB")], "too little");
        told(&[("kernel", "6.1"), ("unit", "64MiB")], "12 of them");
        told(&[("kernel", "6.1"), ("lru", "old")], "neither classic nor mglru");
        for bad in ["vm.page-cluster", "../../x=1", "vm..x=1", "swappiness=1", "vm.x="] {
            told(&[("kernel", "6.1"), ("sysctl", bad)], "no setting and its value");
        }
    }

    #[test]
    fn page_lists_are_a_dimension_of_arms_and_a_fresh_machine_has_arms_of_its_own() {
        let arms = |values: &[(&str, &str)]| -> Vec<String> {
            let params = given(values);
            let arms =
                GuestOptions::from_params(&params).unwrap().arms(&Settings::from_params(&params).unwrap()).unwrap();
            arms.into_iter().map(|arm| arm.name).collect()
        };
        assert_eq!(arms(&[("kernel", "6.1")]), ["swap:60 text", "no-swap text"]);
        let both = arms(&[("kernel", "6.1"), ("arms", "zswap:60"), ("fill", "random"), ("lru", "classic,mglru")]);
        assert_eq!(both, ["zswap:60 random classic", "zswap:60 random mglru"]);
    }
}
