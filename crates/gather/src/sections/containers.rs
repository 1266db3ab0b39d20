//! Containers by name, from the files of their engines: as far as this user may read them.
//!
//! Docker keeps a directory for each container, stopped ones too; containerd and CRI-O one for each that runs; Podman and CRI-O a list of all
//! for each user. Where a directory may not be listed, nothing is known and the id stays.

use ramline_snapshot::Malformed;
use ramline_snapshot::containers::{Container, Containers, Engine, is_id};

use super::reader::{NotRead, Reader};
use crate::prelude::*;

/// More than the kernel gives control groups to on any machine that was seen; a file is read for each.
const MOST: usize = 20_000;
/// A live look ends after this long.
const LONGEST: Duration = Duration::from_secs(2);
/// Files that could not be used are named up to this many.
const NAMED: usize = 8;

const DOCKER: &str = "/var/lib/docker/containers";
const CONTAINERD: [&str; 3] = [
    "/run/containerd/io.containerd.runtime.v2.task",
    "/run/k3s/containerd/io.containerd.runtime.v2.task",
    "/run/containerd/io.containerd.runtime.v1.linux",
];
/// CRI-O's of running containers; Podman's have no names in them.
const RUNNING: &str = "/run/containers/storage/overlay-containers";
/// Below the root of a storage.
const STORAGES: [&str; 3] = ["overlay-containers", "vfs-containers", "btrfs-containers"];

pub fn containers(reader: &Reader<'_>) -> Seen<Containers> {
    reader.timed(|| {
        let mut look = ContainerReader {
            reader,
            until: reader.ends(LONGEST),
            out: Containers { complete: true, ..Containers::default() },
        };
        look.each(DOCKER, |id| format!("{id}/config.v2.json"), Container::from_docker);
        for dir in CONTAINERD {
            for space in look.names(dir) {
                // Docker runs its containers by containerd too, and names them itself.
                if space != "moby" {
                    look.each(
                        &format!("{dir}/{space}"),
                        |id| format!("{id}/config.json"),
                        |id, path, text| Container::from_runtime(Engine::Containerd, id, path, text),
                    );
                }
            }
        }
        look.storages();
        let ContainerReader { mut out, .. } = look;
        // Of two entries for one id the first stays: the engine's own before the storage's.
        ramline_units::sort_by(&mut out.list, |a, b| a.id.cmp(&b.id));
        out.list.dedup_by(|b, a| a.id == b.id);
        out
    })
}

struct ContainerReader<'a> {
    reader: &'a Reader<'a>,
    until: Instant,
    out: Containers,
}

impl ContainerReader<'_> {
    /// Names in a directory that is there; one that may not be listed is named.
    fn names(&mut self, dir: &str) -> Vec<String> {
        match self.reader.directories(Path::new(dir)) {
            Ok(names) => names.iter().filter_map(|name| name.to_str().map(str::to_owned)).collect(),
            Err(NotRead::Absent) => Vec::new(),
            Err(NotRead::Denied) => {
                self.note(Unseen::denied(dir));
                Vec::new()
            }
            Err(NotRead::Unusable(why)) => {
                self.note(Unseen::new(dir, why));
                Vec::new()
            }
        }
    }

    fn note(&mut self, why: Unseen) {
        if self.out.unseen.len() < NAMED {
            self.out.unseen.push(why);
        }
    }

    fn is_full(&mut self) -> bool {
        let full = self.out.list.len() >= MOST || Instant::now() > self.until;
        self.out.complete &= !full;
        full
    }

    /// A file for each container of a directory.
    fn each(
        &mut self,
        dir: &str,
        file: impl Fn(&str) -> String,
        parse: impl Fn(&str, &str, &str) -> Result<Container, Malformed>,
    ) {
        for id in self.names(dir).iter().filter(|name| is_id(name)) {
            if self.is_full() {
                return;
            }
            let path = format!("{dir}/{}", file(id));
            let Some(text) = self.reader.config_or(&path, &mut self.out.unseen) else { continue };
            match parse(id, &path, &text) {
                Ok(one) => self.out.list.push(one),
                Err(why) => self.note(Unseen { garbage: false, ..(&why).into() }),
            }
        }
    }

    /// The storages of root, and of each user who is here: their containers are in their homes.
    fn storages(&mut self) {
        let has_crio = self.reader.exists("/var/run/crio") || self.reader.exists("/run/crio");
        if has_crio {
            self.each(
                RUNNING,
                |id| format!("{id}/userdata/config.json"),
                |id, path, text| Container::from_runtime(Engine::Crio, id, path, text),
            );
        }
        let mut roots = vec!["/var/lib/containers/storage".to_owned()];
        let users: Vec<String> = self.names("/run/user");
        if !users.is_empty()
            && let Ok(accounts) = self.reader.peek("/etc/passwd")
        {
            let home = |line: &str| {
                let mut words = line.split(':').skip(2);
                let uid = words.next()?.to_owned();
                users
                    .contains(&uid)
                    .then(|| words.nth(2))
                    .flatten()
                    .map(|home| format!("{home}/.local/share/containers/storage"))
            };
            roots.extend(accounts.lines().filter_map(home).filter(|path| path.starts_with('/')));
        }
        for root in roots {
            for storage in STORAGES {
                if self.is_full() {
                    return;
                }
                let path = format!("{root}/{storage}/containers.json");
                let Some(text) = self.reader.config_or(&path, &mut self.out.unseen) else { continue };
                let left = MOST.saturating_sub(self.out.list.len());
                match Container::from_storage(&path, &text) {
                    Ok(list) => self.out.list.extend(list.into_iter().take(left)),
                    Err(why) => self.note(Unseen { garbage: false, ..(&why).into() }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ramline_kernel::Root;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path.replace("AAAA", &"a".repeat(64)).replace("BBBB", &"b".repeat(64)));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.replace("CCCC", &"c".repeat(64))).unwrap();
        }
        dir
    }

    fn named(files: &[(&str, &str)]) -> Vec<String> {
        let dir = tree(files);
        let root = Root::new(dir.path());
        let seen = containers(&Reader::new(&root));
        seen.data().unwrap().list.iter().map(|one| one.words().unwrap_or_else(|| one.id[..12].to_owned())).collect()
    }

    #[test]
    fn the_files_of_every_engine_are_found() {
        let docker = ("var/lib/docker/containers/AAAA/config.v2.json", r#"{"Name":"/web"}"#);
        let cri = (
            "run/containerd/io.containerd.runtime.v2.task/k8s.io/BBBB/config.json",
            r#"{"annotations":{"io.kubernetes.cri.container-name":"nginx","io.kubernetes.cri.sandbox-name":"web-1","io.kubernetes.cri.sandbox-namespace":"shop"}}"#,
        );
        let podman =
            ("var/lib/containers/storage/overlay-containers/containers.json", r#"[{"id":"CCCC","names":["db"]}]"#);
        assert_eq!(named(&[docker, cri, podman]), ["web", "shop/web-1/nginx", "db"]);
        // Docker's own are named by Docker alone.
        let moby = ("run/containerd/io.containerd.runtime.v2.task/moby/AAAA/config.json", "{}");
        assert_eq!(named(&[docker, moby]), ["web"]);
        assert_eq!(named(&[]), [""; 0]);
    }

    #[test]
    fn a_container_of_a_user_is_found_in_his_home() {
        let files = [
            ("run/user/1000/x", ""),
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n"),
            (
                "home/ann/.local/share/containers/storage/overlay-containers/containers.json",
                r#"[{"id":"CCCC","names":["cache"]}]"#,
            ),
        ];
        assert_eq!(named(&files), ["cache"]);
    }

    #[test]
    fn what_is_no_file_of_an_engine_leaves_the_id_and_is_told() {
        let dir = tree(&[
            ("var/lib/docker/containers/AAAA/config.v2.json", "{\"Name\":"),
            ("var/lib/docker/containers/x/config.v2.json", "{}"),
        ]);
        let root = Root::new(dir.path());
        let seen = containers(&Reader::new(&root));
        let seen = seen.data().unwrap();
        assert_eq!((seen.list.len(), seen.unseen.len()), (0, 1));
    }
}
