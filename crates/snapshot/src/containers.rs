//! Containers by name, from the files that their engines leave on the disk; no engine is asked.
//!
//! A control group carries a container's id, 64 hexadecimal digits; here is what belongs to it: name, image, and the pod of Kubernetes.
//! Containers whose group's path has the name already (LXC, systemd-nspawn, Flatpak) are not in it.
//!
//! Worked example: `/var/lib/docker/containers/4f5e…/config.v2.json` says `"Name":"/web"`: the group `docker-4f5e….scope` is `web`.

use std::collections::BTreeMap;

use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prelude::*;

/// Who made a container.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Docker.
    #[default]
    Docker,
    /// Podman.
    Podman,
    /// containerd, by Kubernetes or nerdctl.
    Containerd,
    /// CRI-O, by Kubernetes.
    Crio,
}

/// One container. Names come from whoever started it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Container {
    /// 64 hexadecimal digits.
    pub id: String,
    /// Who made it.
    pub engine: Engine,
    /// Its name; `None` where no file has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The image it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The pod of Kubernetes, or of Podman, that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// The pod's own id, which is in the path of its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_uid: Option<String>,
    /// The name space of Kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// `oom_score_adj` of its first process; the kubelet makes it of the memory request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oom_score_adj: Option<i64>,
}

/// Every container that files tell of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Containers {
    /// In order of ids.
    pub list: Vec<Container>,
    /// All were read: none is beyond the bound.
    pub complete: bool,
    /// Files that could not be used.
    pub unseen: Vec<Unseen>,
}

/// A name longer than any engine allows is none.
const LONGEST: usize = 512;

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty() && text.len() <= LONGEST).map(str::to_owned)
}

fn parsed(path: &str, json: &str) -> Result<Value, Malformed> {
    serde_json::from_str(json).map_err(|error| Malformed::whole(path, &error.to_string()))
}

impl Container {
    /// Docker's `config.v2.json`. Kubernetes' labels of old clusters are taken in.
    ///
    /// # Errors
    /// It is no JSON.
    pub fn from_docker(id: &str, path: &str, json: &str) -> Result<Container, Malformed> {
        let all = parsed(path, json)?;
        let labels = &all["Config"]["Labels"];
        let of_pod = text(&labels["io.kubernetes.container.name"]);
        Ok(Container {
            id: id.to_owned(),
            engine: Engine::Docker,
            name: of_pod.or_else(|| text(&all["Name"]).map(|name| name.trim_start_matches('/').to_owned())),
            image: text(&all["Config"]["Image"]),
            pod: text(&labels["io.kubernetes.pod.name"]),
            pod_uid: text(&labels["io.kubernetes.pod.uid"]),
            namespace: text(&labels["io.kubernetes.pod.namespace"]),
            oom_score_adj: all["HostConfig"]["OomScoreAdj"]
                .as_i64()
                .filter(|_| labels["io.kubernetes.pod.uid"].is_string()),
        })
    }

    /// The `config.json` of a running container (OCI runtime specification), whose annotations say what Kubernetes or nerdctl calls it.
    ///
    /// # Errors
    /// It is no JSON.
    pub fn from_runtime(engine: Engine, id: &str, path: &str, json: &str) -> Result<Container, Malformed> {
        let all = parsed(path, json)?;
        let said = |keys: &[&str]| keys.iter().find_map(|key| text(&all["annotations"][*key]));
        let is_sandbox = said(&["io.kubernetes.cri.container-type", "io.kubernetes.cri-o.ContainerType"]);
        let is_sandbox = is_sandbox.is_some_and(|kind| kind == "sandbox");
        let name = said(&["io.kubernetes.cri.container-name", "io.kubernetes.container.name", "nerdctl/name"]);
        Ok(Container {
            id: id.to_owned(),
            engine,
            // What holds the pod's name spaces has no name of its own.
            name: if is_sandbox { Some("(pause)".to_owned()) } else { name },
            image: said(&["io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"]),
            pod: said(&["io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"]),
            pod_uid: said(&["io.kubernetes.cri.sandbox-uid", "io.kubernetes.pod.uid"]),
            namespace: said(&["io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace"]),
            oom_score_adj: all["process"]["oomScoreAdj"].as_i64(),
        })
    }

    /// `containers.json` of the storage that Podman and CRI-O share: all containers of one user.
    ///
    /// # Errors
    /// It is no list.
    pub fn from_storage(path: &str, json: &str) -> Result<Vec<Container>, Malformed> {
        let all = parsed(path, json)?;
        let list = all.as_array().ok_or_else(|| Malformed::whole(path, "not a list"))?;
        let one = |entry: &Value| {
            let more = entry["metadata"].as_str().and_then(|json| serde_json::from_str::<Value>(json).ok());
            let more = more.unwrap_or_default();
            let is_crio = more.get("pod-name").is_some();
            let first = text(&entry["names"][0]);
            Some(Container {
                id: text(&entry["id"]).filter(|id| is_id(id))?,
                engine: if is_crio { Engine::Crio } else { Engine::Podman },
                name: if is_crio {
                    text(&more["metadata-name"]).or(first)
                } else {
                    first.or_else(|| text(&more["name"]))
                },
                image: text(&more["image-name"]),
                pod: None,
                pod_uid: text(&more["uid"]).filter(|_| is_crio),
                namespace: text(&more["namespace"]),
                oom_score_adj: None,
            })
        };
        Ok(list.iter().filter_map(one).collect())
    }

    /// What an administrator calls it: `web`, or with Kubernetes `shop/web-5d9/nginx`; `None` where nothing has a name.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let parts = [&self.namespace, &self.pod, &self.name].into_iter().flatten();
        let words = parts.map(String::as_str).collect::<Vec<_>>().join("/");
        self.name.as_ref().or(self.pod.as_ref()).map(|_| words)
    }
}

/// The id of a container.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The id in the path of a control group: the innermost one.
#[must_use]
pub fn id_in(path: &str) -> Option<&str> {
    path.rsplit('/').find_map(|part| {
        let bare = part.strip_suffix(".scope").unwrap_or(part);
        let bare = bare.rsplit(['-', ':']).next().unwrap_or(bare);
        // conmon, Podman's and CRI-O's watcher, has the same id and is no container.
        (is_id(bare) && !part.contains("conmon")).then_some(bare)
    })
}

/// Containers by the path of a group.
#[derive(Debug, Clone, Default)]
pub struct ByGroup<'a> {
    ids: BTreeMap<&'a str, &'a Container>,
    pods: BTreeMap<&'a str, &'a Container>,
}

impl<'a> ByGroup<'a> {
    /// The containers that were seen, by group.
    #[must_use]
    pub fn new(containers: Option<&'a Containers>) -> ByGroup<'a> {
        let list = containers.map(|containers| containers.list.as_slice()).unwrap_or_default();
        let pods = list.iter().filter_map(|one| Some((one.pod_uid.as_deref()?, one)));
        ByGroup { ids: list.iter().map(|one| (one.id.as_str(), one)).collect(), pods: pods.collect() }
    }

    /// The container of a group, or of the one it is in; of a pod's own group what is known of the pod.
    #[must_use]
    pub fn container(&self, path: &str) -> Option<Container> {
        if let Some(found) = id_in(path).and_then(|id| self.ids.get(id)) {
            let mut found = (*found).clone();
            // CRI-O's storage has the pod's id alone, and another container of the pod may have its name.
            let pod = found.pod_uid.as_deref().filter(|_| found.pod.is_none()).and_then(|uid| self.pods.get(uid));
            found.pod = found.pod.or_else(|| pod.and_then(|pod| pod.pod.clone()));
            return Some(found);
        }
        let uid = pod_uid(path)?;
        let of = self.pods.get(uid.as_str())?;
        let pod = Container { id: String::new(), name: None, image: None, oom_score_adj: None, ..(*of).clone() };
        pod.pod.is_some().then_some(pod)
    }

    /// The container with the first twelve digits of an id, as engines print it.
    #[must_use]
    pub fn by_short_id(&self, short: &str) -> Option<&'a Container> {
        let (id, found) = self.ids.range(short..).next()?;
        (short.len() >= 12 && id.starts_with(short)).then_some(*found)
    }
}

/// The id of a pod in the path of its group, where no container follows it; systemd's names hold no dash.
fn pod_uid(path: &str) -> Option<String> {
    let last = path.rsplit('/').next()?;
    let bare = last.strip_suffix(".slice").unwrap_or(last);
    let uid = bare.rsplit_once("-pod").map(|(_, uid)| uid).or_else(|| bare.strip_prefix("pod"))?;
    path.contains("kubepods").then(|| uid.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(of: char) -> String {
        of.to_string().repeat(64)
    }

    #[test]
    fn each_engine_says_what_it_calls_a_container() {
        let docker = r#"{"Name":"/web","Config":{"Image":"nginx:1.27","Labels":{}}}"#;
        let docker = Container::from_docker(&id('a'), "f", docker).unwrap();
        assert_eq!((docker.words().as_deref(), docker.image.as_deref()), (Some("web"), Some("nginx:1.27")));
        let cri = r#"{"annotations":{"io.kubernetes.cri.container-name":"nginx","io.kubernetes.cri.container-type":"container",
            "io.kubernetes.cri.sandbox-name":"web-5d9","io.kubernetes.cri.sandbox-namespace":"shop","io.kubernetes.cri.sandbox-uid":"1-2"},
            "process":{"oomScoreAdj":985}}"#;
        let cri = Container::from_runtime(Engine::Containerd, &id('b'), "f", cri).unwrap();
        assert_eq!((cri.words().as_deref(), cri.oom_score_adj), (Some("shop/web-5d9/nginx"), Some(985)));
        let storage = format!(
            r#"[{{"id":"{}","names":["db"],"metadata":"{{\"image-name\":\"postgres\",\"name\":\"db\"}}"}},{{"id":"short"}}]"#,
            id('c')
        );
        let storage = Container::from_storage("f", &storage).unwrap();
        assert_eq!((storage.len(), storage[0].words().as_deref(), storage[0].engine), (1, Some("db"), Engine::Podman));
        assert!(Container::from_docker(&id('a'), "f", "{").is_err() && Container::from_storage("f", "{}").is_err());
        assert_eq!(Container::from_docker(&id('a'), "f", "{}").unwrap().words(), None, "its id is what there is");
    }

    #[test]
    fn a_group_is_found_by_the_innermost_id_and_a_pod_by_its_own() {
        let pod = |id: String, name: &str| Container {
            id,
            engine: Engine::Containerd,
            name: Some(name.into()),
            pod: Some("web-5d9".into()),
            pod_uid: Some("11-22".into()),
            namespace: Some("shop".into()),
            ..Container::default()
        };
        let all = Containers { list: vec![pod(id('a'), "nginx"), pod(id('b'), "log")], ..Containers::default() };
        let by = ByGroup::new(Some(&all));
        let words = |path: String| by.container(&path).and_then(|one| one.words());
        let slice = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11_22.slice";
        assert_eq!(words(format!("{slice}/cri-containerd-{}.scope", id('a'))).as_deref(), Some("shop/web-5d9/nginx"));
        assert_eq!(
            words(format!("/kubepods/burstable/pod11-22/{}/below", id('b'))).as_deref(),
            Some("shop/web-5d9/log")
        );
        assert_eq!(words(slice.into()).as_deref(), Some("shop/web-5d9"));
        assert_eq!(words(format!("/machine.slice/libpod-conmon-{}.scope", id('a'))), None);
        assert_eq!(words("/system.slice/ssh.service".into()), None);
        assert_eq!(by.by_short_id(&id('b')[..12]).and_then(Container::words).as_deref(), Some("shop/web-5d9/log"));
        assert_eq!(by.by_short_id("b"), None);
    }
}
