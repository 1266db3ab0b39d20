//! Whose a group is, told from its path: container, pod, service, session.
//!
//! Not a question to an engine. Names are those the engines and systemd give their groups; the identity of a
//! container is its id, shortened as the engines do.

use std::fmt;

use crate::prelude::*;
/// What kind of thing a group is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OwnerKind {
    /// A Docker container.
    Docker,
    /// A Podman container.
    Podman,
    /// A container of a Kubernetes pod.
    Kubernetes,
    /// A Kubernetes pod with all its containers.
    Pod,
    /// A containerd container outside of Kubernetes.
    Containerd,
    /// An LXC or Incus container.
    Lxc,
    /// A machine registered with systemd: a virtual machine or nspawn container.
    Machine,
    /// A unit of systemd.
    Service,
    /// A scope of systemd: processes started elsewhere.
    Scope,
    /// A login session.
    Session,
    /// Everything of one user.
    User,
    /// A slice of systemd.
    Slice,
    /// A snap or flatpak.
    Package,
    /// A sandbox of ramline.
    Ramline,
}

/// One word, as in the JSON.
impl fmt::Display for OwnerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl OwnerKind {
    /// A container of whatever engine.
    #[must_use]
    pub fn is_container(self) -> bool {
        self <= OwnerKind::Lxc && self != OwnerKind::Pod
    }
}

/// Whose a group is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Owner {
    /// What it is for.
    pub kind: OwnerKind,
    /// Its name or short id; comes from the machine.
    pub name: String,
}

/// Whose the group at `path` is, by the last part of the path that says something; `None` where none does.
#[must_use]
pub fn owner(path: &str) -> Option<Owner> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let pods = parts.iter().position(|part| part.starts_with("kubepods"));
    let in_pod = |at| pods.is_some_and(|first| first < at);
    (0..parts.len()).rev().find_map(|at| one(parts[at], &parts[..at], in_pod(at)))
}

/// A sandbox of the lab, or below one: it is short of memory because that is the experiment, and gone when it ends.
#[must_use]
pub fn is_sandbox(path: &str) -> bool {
    path.split('/').any(|part| owner(part).is_some_and(|owner| owner.kind == OwnerKind::Ramline))
}

/// Ids of containers are 64 hexadecimal digits; 12 are enough to tell them apart.
fn id(text: &str) -> Option<String> {
    (text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text[..12].to_owned())
}

fn one(part: &str, above: &[&str], in_pod: bool) -> Option<Owner> {
    let owner = |kind, name: &str| Some(Owner { kind, name: unescape(name) });
    let bare = part.strip_suffix(".scope").unwrap_or(part);
    for (prefix, kind) in [
        ("docker-", OwnerKind::Docker),
        ("libpod-", OwnerKind::Podman),
        ("cri-containerd-", OwnerKind::Kubernetes),
        ("crio-", OwnerKind::Kubernetes),
        ("nerdctl-", OwnerKind::Containerd),
    ] {
        if let Some(short) = bare.strip_prefix(prefix).and_then(id) {
            return owner(if in_pod { OwnerKind::Kubernetes } else { kind }, &short);
        }
    }
    if let Some(short) = id(part) {
        return match above.last() {
            _ if in_pod => owner(OwnerKind::Kubernetes, &short),
            Some(&"docker") => owner(OwnerKind::Docker, &short),
            Some(_) => owner(OwnerKind::Containerd, &short),
            None => None,
        };
    }
    if in_pod || part.starts_with("kubepods") {
        let name = part.strip_suffix(".slice").unwrap_or(part);
        let pod = name.rsplit_once("-pod").map(|(_, uid)| uid).or_else(|| name.strip_prefix("pod"));
        if let Some(uid) = pod {
            // systemd's names cannot hold a dash.
            return owner(OwnerKind::Pod, &uid.replace('_', "-"));
        }
    }
    let lxc = part.strip_prefix("lxc.payload.").or_else(|| part.strip_prefix("lxc.monitor."));
    if let Some(name) = lxc.or_else(|| (above.last() == Some(&"lxc")).then_some(part)) {
        return owner(OwnerKind::Lxc, name);
    }
    if let Some(name) = part.strip_prefix("snap.") {
        return owner(OwnerKind::Package, name.split('.').next().unwrap_or(name));
    }
    if let Some(name) = bare.strip_prefix("app-flatpak-") {
        return owner(OwnerKind::Package, name.rsplit_once('-').map_or(name, |(name, _)| name));
    }
    if part.starts_with("ramline-") {
        return owner(OwnerKind::Ramline, part);
    }
    let forms = [
        ("machine-", ".scope", OwnerKind::Machine),
        ("user@", ".service", OwnerKind::User),
        ("", ".service", OwnerKind::Service),
        ("session-", ".scope", OwnerKind::Session),
        ("", ".scope", OwnerKind::Scope),
        ("user-", ".slice", OwnerKind::User),
        ("", ".slice", OwnerKind::Slice),
    ];
    let name = |prefix, suffix| part.strip_prefix(prefix)?.strip_suffix(suffix);
    forms.into_iter().find_map(|(prefix, suffix, kind)| owner(kind, name(prefix, suffix)?))
}

/// systemd writes bytes a unit's name cannot hold as `\xNN`; only printable ones are turned back.
fn unescape(name: &str) -> String {
    ramline_units::unescape(name, "\\x", (2, 16), |byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_which_container_service_or_session_it_is() {
        let hex = "0123456789abcdef".repeat(4);
        let told = |path: &str| owner(&path.replace("ID", &hex)).map(|o| (o.kind, o.name));
        let is = |kind, name: &str| Some((kind, name.to_owned()));
        assert_eq!(told("/system.slice/docker-ID.scope"), is(OwnerKind::Docker, "0123456789ab"));
        assert_eq!(told("/docker/ID"), is(OwnerKind::Docker, "0123456789ab"));
        assert_eq!(told("/docker/ID/inner"), is(OwnerKind::Docker, "0123456789ab"));
        assert_eq!(told("/machine.slice/libpod-ID.scope/container"), is(OwnerKind::Podman, "0123456789ab"));
        let pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podaa_bb.slice";
        assert_eq!(told(pod), is(OwnerKind::Pod, "aa-bb"));
        assert_eq!(told(&format!("{pod}/cri-containerd-ID.scope")), is(OwnerKind::Kubernetes, "0123456789ab"));
        assert_eq!(told("/kubepods/besteffort/pod1-2/ID"), is(OwnerKind::Kubernetes, "0123456789ab"));
        assert_eq!(told("/lxc.payload.web/system.slice"), is(OwnerKind::Slice, "system"));
        assert_eq!(told("/lxc/web"), is(OwnerKind::Lxc, "web"));
        assert_eq!(told("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope"), is(OwnerKind::Machine, "qemu-1-vm"));
        assert_eq!(told("/system.slice/ssh.service"), is(OwnerKind::Service, "ssh"));
        assert_eq!(told("/user.slice/user-1000.slice/session-3.scope"), is(OwnerKind::Session, "3"));
        assert_eq!(told("/user.slice/user-1000.slice"), is(OwnerKind::User, "1000"));
        assert_eq!(told("/x/snap.firefox.firefox.abc-1.scope"), is(OwnerKind::Package, "firefox"));
        assert_eq!(told("/x/app-flatpak-org.gimp.GIMP-77.scope"), is(OwnerKind::Package, "org.gimp.GIMP"));
        assert_eq!(told("/a/b"), None);
        assert_eq!(told("/ID"), None);
        assert_eq!(told("/x\\x0a\\xé.service"), is(OwnerKind::Service, "x\\x0a\\xé"));
    }
}
