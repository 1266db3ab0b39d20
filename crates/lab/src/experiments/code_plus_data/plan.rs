//! What a series of code-plus-data will do, checked against the machine, for the reader to agree to.

mod unprivileged;

use super::settings::{CODE_UNITS, NAME, Settings};
use crate::limited::plan::{self as limited, SeriesRequest};
use crate::prelude::*;

/// What the code file lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// An ext4 image on a loop device, whose read-ahead is set.
    OwnFs,
    /// The scratch place itself, read with the read-ahead of its disk: without root.
    Plain {
        /// Of the disk.
        read_ahead: Bytes,
    },
}

/// What a run will do, for the reader to agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePlusDataPlan {
    /// What was asked for.
    pub settings: Settings,
    /// Arms with fills, in order.
    pub arms: Vec<Arm>,
    /// Where scratch files go.
    pub place: Place,
    /// What the code file lies on there.
    pub ground: Ground,
    /// The hierarchy the sandbox is made in.
    pub hierarchy: Hierarchy,
    /// What is written to the disk at once: code file and swap files, in bytes.
    pub scratch: Bytes,
    /// What is made or changed outside the sandbox; nothing when no consent is needed.
    pub global: Vec<String>,
    /// What makes the timing doubtful but not impossible.
    pub doubts: Vec<String>,
}

impl CodePlusDataPlan {
    /// Looks at the machine and says what would be done.
    ///
    /// # Errors
    /// The settings make no sense, or `Refused` with every reason; nothing has been touched.
    pub fn checked(root: &Root, settings: &Settings) -> Result<CodePlusDataPlan> {
        settings.check()?;
        let (arms, mut settings) = (settings.crossed()?, settings.clone());
        let scratch = scratch_needed(&settings, &arms);
        let smaller = if settings.unit > Bytes::from_mib(16) { "--unit 16MiB" } else { "--unit 4MiB" };
        let command = format!("ramline lab run {NAME}");
        let caller = Caller { command: &command, smaller, without_swap: "--arms as-configured,no-swap" };
        let mut check = Check::new(root, caller);
        let hierarchy = check.hierarchy();
        if is_unprivileged() {
            check.extend(unprivileged::reasons(hierarchy.as_ref(), &settings));
        }
        let (limit, dir, allow_busy) = (settings.limit(), settings.dir.as_deref(), settings.allow_busy);
        let wanted = SeriesRequest { name: NAME, arms: &arms, limit, scratch, dir, allow_busy };
        let (place, doubts) = wanted.look(root, &mut check)?;
        let mut ground = Ground::OwnFs;
        if let Some(place) = place.as_ref().filter(|_| is_unprivileged()) {
            match unprivileged::read_ahead(root, &settings, place) {
                Ok(read_ahead) => {
                    ground = Ground::Plain { read_ahead };
                    settings.read_aheads = vec![read_ahead];
                }
                Err(reason) => check.extend([reason]),
            }
        }
        let (hierarchy, place) = check.conclude(hierarchy.zip(place))?;
        let global = limited::global(root, settings.swap_sizes(), &arms, hierarchy.version());
        Ok(CodePlusDataPlan { settings, arms, place, ground, hierarchy, scratch, global, doubts })
    }

    /// True when something outside the sandbox is touched.
    #[must_use]
    pub fn needs_consent(&self) -> bool {
        !self.global.is_empty()
    }
}

/// The image with the code file, and one swap file at a time.
fn scratch_needed(settings: &Settings, arms: &[Arm]) -> Bytes {
    image_size(settings.units(CODE_UNITS)) + settings.swap_sizes().on_disk(arms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sandbox::fill::Fill;

    #[test]
    fn only_arms_with_swap_of_their_own_need_room_for_it() {
        let settings = Settings::default();
        let arms = |text: &str| arm::cross(&[arm::parse(text).unwrap()], &[Fill::Text], &settings.read_aheads).unwrap();
        let code = Bytes::from_mib(96 + 12 + 16);
        assert_eq!(scratch_needed(&settings, &arms("no-swap")), code);
        assert_eq!(scratch_needed(&settings, &arms("swap:60")), code + Bytes::from_mib(512));
    }
}
