//! Which program a lasting unit may run: this one, if it is installed where a reboot keeps it and only root can replace it.

use ramline_act::standing::text;
use ramline_kernel::{place, service};
use ramline_plan::{CHECK, Plan, Step, UnitProgram, check_at_boot};

use crate::prelude::*;

/// Where programs are installed to stay.
const PLACES: [&str; 6] = ["/usr", "/opt", "/bin", "/sbin", "/nix/store", "/gnu/store"];
const INSTALL: &str = "install it first: sudo install -m 755 ramline /usr/local/bin";

/// The path of this program.
///
/// # Errors
/// Why no unit can run it, with what to do.
pub fn program() -> Result<String, String> {
    let exe = process::own_exe().map_err(|error| error.to_string())?;
    let shown = exe.display().to_string();
    if !PLACES.iter().any(|place| exe.starts_with(place)) {
        return Err(format!("ramline runs from {shown}, which may not be there after a reboot; {INSTALL}"));
    }
    if !plain(&shown) {
        return Err(format!("{shown} is no name that stands in a unit as it is; {INSTALL}"));
    }
    place::refuse_unless_private("let systemd run", &exe).map_err(|error| format!("{error}; {INSTALL}"))?;
    Ok(shown)
}

/// Where a unit keeps its state, if not where root usually does.
pub fn state_dir() -> Option<String> {
    std::env::var_os("RAMLINE_STATE_DIR").and_then(|dir| dir.into_string().ok()).filter(|dir| plain(dir))
}

fn plain(path: &str) -> bool {
    path.starts_with('/') && path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:@".contains(c))
}

/// The steps that have a change checked at each boot; none where nothing of it outlives this one. Why not is said.
pub fn boot_check(plan: &Plan, root: &Root) -> Result<Vec<Step>, String> {
    if plan.runtime_only || !plan.steps().iter().any(Step::lasts) {
        return Ok(Vec::new());
    }
    if !service::has_systemd(root) {
        return Err("no systemd runs this machine; at each boot run: ramline tune verify".to_owned());
    }
    let now = text(root, CHECK).map_err(|error| error.to_string())?;
    Ok(check_at_boot(&UnitProgram { path: program()?, state: state_dir() }, now.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_a_build_tree_is_no_program_of_a_unit() {
        let why = program().unwrap_err();
        assert!(why.contains("may not be there after a reboot") && why.contains("/usr/local/bin"), "{why}");
    }

    #[test]
    fn a_change_for_this_boot_alone_is_checked_at_no_other() {
        assert_eq!(boot_check(&Plan::default(), &Root::live()), Ok(Vec::new()));
    }
}
