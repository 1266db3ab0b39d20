//! The commands that set an answer as the limit of the group, and that take it back. Downwards that is ramline itself: a limit far below the use, set at
//! once, killed a Redis with 85 % of its zram free.

use super::{Need, NeedAnswer};
use crate::groups::{GroupTree, OwnerKind};
use crate::prelude::*;

/// One command and its way back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetLimit {
    /// Sets it.
    pub command: String,
    /// Takes it back.
    pub undo: String,
}

impl Need {
    /// With the command that sets the answer, where there is one: of systemd for its units, of the engine for a container, else the limit's own file.
    #[must_use]
    pub fn with_command(mut self, tree: &GroupTree) -> Need {
        let is_least = matches!(self.answer, NeedAnswer::MoreThan(..));
        let Some(limit) = self.new_limit().filter(|_| !is_least) else { return self };
        let Some(group) = tree.groups.iter().find(|group| group.path == self.group) else { return self };
        let before = group.bound.max.and_then(Limit::bytes).map(|bytes| bytes.0.to_string());
        let last = ramline_units::quoted(group.path.rsplit('/').next().unwrap_or_default()).into_owned();
        let is_unit = [".service", ".scope", ".slice"].iter().any(|kind| last.ends_with(kind));
        let engine = group.owner.as_ref().and_then(|owner| match owner.kind {
            OwnerKind::Docker => Some(("docker", owner)),
            OwnerKind::Podman => Some(("podman", owner)),
            _ => None,
        });
        let (set, none) = match engine {
            Some((engine, owner)) => {
                let name = ramline_units::quoted(&owner.name).into_owned();
                (
                    Box::new(move |value: &str| format!("{engine} update --memory {value} {name}"))
                        as Box<dyn Fn(&str) -> String>,
                    "0",
                )
            }
            None if is_unit => (
                Box::new(move |value: &str| format!("sudo systemctl set-property {last} MemoryMax={value}")) as _,
                "infinity",
            ),
            None => {
                let (file, none) = match tree.version {
                    Version::V1 => ("memory.limit_in_bytes", "-1"),
                    Version::V2 => ("memory.max", "max"),
                };
                let path = format!("{}{}/{file}", tree.mount.trim_end_matches('/'), group.path.trim_end_matches('/'));
                let path = ramline_units::quoted(&path).into_owned();
                (Box::new(move |value: &str| format!("echo {value} | sudo tee {path}")) as _, none)
            }
        };
        // A big step downwards can kill: ramline takes small ones.
        let command = if self.grew() {
            set(&limit.0.to_string())
        } else {
            format!("sudo ramline need {} --try --verify --keep", ramline_units::quoted(&self.group))
        };
        self.set = Some(SetLimit { command, undo: set(before.as_deref().unwrap_or(none)) });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::cgroup::Group;
    use ramline_snapshot::groups::Groups;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::{Seen, Snapshot};

    #[test]
    fn an_answer_is_set_where_the_limit_comes_from() {
        let container = "/docker/4f0c5c4e1d2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e";
        let list = ["/system.slice/db.service", container, "/a b"].map(|path| Group {
            path: path.to_owned(),
            max: Some(if path == "/a b" { Limit::Max } else { Limit::At(Bytes(100)) }),
            ..Group::default()
        });
        let mut snapshot = Snapshot::new(Machine::default());
        let groups = Groups {
            version: Some(Version::V2),
            mount: "/sys/fs/cgroup".into(),
            list: list.to_vec(),
            ..Groups::default()
        };
        snapshot.groups = Seen::new(groups);
        let tree = crate::groups::from_snapshot(&snapshot, None).unwrap();
        let set = |path: &str| {
            let need =
                Need { group: path.to_owned(), answer: NeedAnswer::Size(Bytes(500)), ..super::super::tests::empty() };
            let set = need.with_command(&tree).set.unwrap();
            (set.command, set.undo)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let unit = "sudo systemctl set-property db.service MemoryMax=";
        assert_eq!(set("/system.slice/db.service"), (format!("{unit}500"), format!("{unit}100")));
        assert_eq!(
            set(container),
            pair("docker update --memory 500 4f0c5c4e1d2b", "docker update --memory 100 4f0c5c4e1d2b")
        );
        let file = "| sudo tee '/sys/fs/cgroup/a b/memory.max'";
        assert_eq!(set("/a b"), (format!("echo 500 {file}"), format!("echo max {file}")));
    }
}
