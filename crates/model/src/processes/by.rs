//! What processes are grouped by, and the names that come out of a control group's path.
//!
//! Worked example: `/system.slice/docker-4f5e….scope` is the container `docker 4f5e8a1b2c3d`;
//! `/system.slice/ssh.service` is the service `ssh.service`.

use std::borrow::Cow;

use ramline_snapshot::containers::{ByGroup, Container};

use crate::prelude::*;

/// What a row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The program's file; its own name where that is hidden from this user.
    #[default]
    Program,
    /// The effective user.
    User,
    /// The memory control group.
    Cgroup,
    /// The container, by the marks of Docker, Podman, containerd, CRI-O, LXC and systemd-nspawn.
    Container,
    /// The service or scope of systemd.
    Service,
    /// Each process by itself.
    Process,
    /// Each process below its parent, with all that it has started.
    Tree,
}

/// The name of the group a process belongs to.
#[must_use]
pub fn name<'a>(all: &'a Processes, p: &'a Process, by: By) -> Cow<'a, str> {
    let text = |list: &'a [String], index: Option<u32>| list.get(usize::try_from(index?).ok()?).map(String::as_str);
    let group = || text(&all.groups, p.group);
    match by {
        By::Program => match (&p.run_as, text(&all.programs, p.exe)) {
            (Some(name), Some(path)) if path.ends_with(GONE) => format!("{name} (replaced)").into(),
            (Some(name), _) => name.as_str().into(),
            (None, path) => path.map_or(p.name.as_str().into(), program),
        },
        By::Process | By::Tree => p.name.as_str().into(),
        By::User => user(all, p.uid),
        By::Cgroup => group().unwrap_or("(not known)").into(),
        By::Container => group().and_then(container).map_or("(no container)".into(), Cow::Owned),
        By::Service => group().and_then(service).unwrap_or("(no service)").into(),
    }
}

/// The name of a user, or its number.
pub fn user(all: &Processes, uid: u32) -> Cow<'_, str> {
    all.users.get(&uid).map_or_else(|| format!("user {uid}").into(), |name| name.as_str().into())
}

/// What the kernel writes behind the path of a file that is no longer there.
const GONE: &str = " (deleted)";

/// The file's name; one that was replaced while it runs says so.
fn program(path: &str) -> Cow<'_, str> {
    // A program that was never a file of a directory is always "deleted".
    if let Some(name) = path.strip_prefix("/memfd:") {
        return name.trim_end_matches(GONE).into();
    }
    let (path, gone) = path.strip_suffix(GONE).map_or((path, false), |p| (p, true));
    let file = path.rsplit('/').next().filter(|f| !f.is_empty()).unwrap_or(path);
    if gone { format!("{file} (replaced)").into() } else { file.into() }
}

/// The last part of the path that is a unit of systemd.
fn service(path: &str) -> Option<&str> {
    path.rsplit('/').find(|part| [".service", ".scope", ".slice"].iter().any(|end| part.ends_with(end)))
}

/// Marks of container managers in a path; the name is cut to the twelve digits they print.
fn container(path: &str) -> Option<String> {
    const SCOPES: &[(&str, &str)] = &[
        ("docker-", "docker"),
        ("libpod-", "podman"),
        ("cri-containerd-", "containerd"),
        ("crio-", "cri-o"),
        ("machine-", "machine"),
        ("lxc.payload.", "lxc"),
    ];
    const PARENTS: &[(&str, &str)] = &[("docker", "docker"), ("lxc", "lxc"), ("machine.slice", "machine")];
    let parts: Vec<&str> = path.split('/').collect();
    let pods = path.contains("kubepods");
    // Containers may run inside others: the innermost counts.
    (0..parts.len()).rev().find_map(|at| {
        let part = parts[at].trim_end_matches(".scope").trim_end_matches(".service");
        let scope = SCOPES.iter().find_map(|(mark, kind)| Some((*kind, part.strip_prefix(mark)?)));
        let below = || {
            let parent = at.checked_sub(1).and_then(|up| parts.get(up))?;
            PARENTS.iter().find(|(name, _)| name == parent).map(|(_, kind)| (*kind, part))
        };
        let pod = || (pods && is_id(part)).then_some(("pod", part));
        let (kind, id) =
            scope.or_else(below).or_else(pod).filter(|(_, id)| !id.is_empty() && !id.starts_with("conmon"))?;
        let id = if is_id(id) { id.get(..12).unwrap_or(id) } else { id };
        Some(format!("{kind} {id}"))
    })
}

/// What its engine calls a container, before its id: `docker web 4f5e8a1b2c3d`.
pub fn name_container(name: &mut String, containers: &ByGroup<'_>) {
    let Some((kind, short)) = name.split_once(' ') else { return };
    if let Some(words) = containers.by_short_id(short).and_then(Container::words) {
        *name = format!("{kind} {words} {short}");
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::containers::Containers;

    use super::*;

    #[test]
    fn a_container_has_the_name_that_its_engine_gave_it_before_its_id() {
        let one = Container {
            id: format!("4f5e8a1b2c3d{}", "0".repeat(52)),
            name: Some("web".into()),
            ..Container::default()
        };
        let all = Containers { list: vec![one], ..Containers::default() };
        let named = |name: &str| {
            let mut name = name.to_owned();
            name_container(&mut name, &ByGroup::new(Some(&all)));
            name
        };
        assert_eq!(named("docker 4f5e8a1b2c3d"), "docker web 4f5e8a1b2c3d");
        assert_eq!(named("podman 000000000000"), "podman 000000000000");
        assert_eq!(named("(no container)"), "(no container)");
    }

    #[test]
    fn containers_and_services_are_found_in_the_paths_their_managers_make() {
        let id = "4f5e8a1b2c3d".repeat(6)[..64].to_owned();
        for (path, name) in [
            (format!("/system.slice/docker-{id}.scope"), Some("docker 4f5e8a1b2c3d")),
            (format!("/docker/{id}"), Some("docker 4f5e8a1b2c3d")),
            (format!("/user.slice/libpod-{id}.scope/container"), Some("podman 4f5e8a1b2c3d")),
            (format!("/kubepods.slice/kubepods-pod7.slice/cri-containerd-{id}.scope"), Some("containerd 4f5e8a1b2c3d")),
            (format!("/kubepods/burstable/pod7/{id}"), Some("pod 4f5e8a1b2c3d")),
            ("/lxc.payload.web/system.slice/ssh.service".into(), Some("lxc web")),
            ("/machine.slice/machine-deb.scope".into(), Some("machine deb")),
            ("/system.slice/ssh.service".into(), None),
            ("/".into(), None),
            (String::new(), None),
        ] {
            assert_eq!(container(&path).as_deref(), name, "{path}");
        }
        assert_eq!(service("/system.slice/ssh.service/sub"), Some("ssh.service"));
        assert_eq!(service("/a/b"), None);
    }

    #[test]
    fn a_replaced_program_is_named_so_and_odd_paths_name_something() {
        assert_eq!(program("/usr/bin/db (deleted)"), "db (replaced)");
        assert_eq!(program("/memfd:tool (deleted)"), "tool");
        assert_eq!(program("/"), "/");
        assert_eq!(program("db"), "db");
    }
}
