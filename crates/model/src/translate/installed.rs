//! Which of the tools are installed here, and which row is theirs.
//!
//! Versions compared. Not a search for programs; what was found is passed in.
//!
//! Worked example: `htop 3.2.2` is in the rows of 3.1 to 3.2, and not in those from 3.3 on. A program whose version is not known
//! may be of any of its rows.

use crate::prelude::*;

/// A program, and how it is asked for its version; without that only its presence is looked for, where asking takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// The file's name.
    pub name: &'static str,
    /// The argument that makes it print its version.
    pub asked: Option<&'static str>,
}

const fn program(name: &'static str, asked: &'static str) -> Program {
    Program { name, asked: Some(asked) }
}

const fn present(name: &'static str) -> Program {
    Program { name, asked: None }
}

/// The programs of the rows. Those without an argument need a second for the answer, or a server.
pub const PROGRAMS: &[Program] = &[
    program("free", "--version"),
    program("sar", "-V"),
    program("htop", "--version"),
    program("btop", "--version"),
    program("systemctl", "--version"),
    program("docker", "--version"),
    program("podman", "--version"),
    present("glances"),
    present("netdata"),
    present("node_exporter"),
    present("prometheus-node-exporter"),
    present("otelcol"),
    present("kubectl"),
    present("crictl"),
];

/// A program that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installed {
    /// The file's name.
    pub program: String,
    /// What it printed of its version, as far as that is numbers; empty where that is not known.
    pub version: Vec<u32>,
}

/// What is installed here of a row's tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Here {
    /// The program.
    pub program: String,
    /// Its version; `None` where it was not asked or did not say.
    pub version: Option<String>,
    /// The row holds for this version; `None` where the version is not known.
    pub holds: Option<bool>,
}

/// A row's program, with the versions it holds for: from the first, and before the second where there is one.
type Range = (&'static str, &'static str, &'static [u32], &'static [u32]);

const ROWS: &[Range] = &[
    ("procps-4.0.1", "free", &[4, 0, 1], &[]),
    ("procps-3.3.10", "free", &[3, 3, 10], &[4, 0, 1]),
    ("total-less-free", "free", &[], &[3, 3, 10]),
    ("sar-12.7.8", "sar", &[12, 7, 8], &[]),
    ("sar-11.7.4", "sar", &[11, 7, 4], &[12, 7, 8]),
    ("htop-3.3-bar", "htop", &[3, 3], &[]),
    ("htop-3.3-text", "htop", &[3, 3], &[]),
    ("htop-3.1", "htop", &[3, 1], &[3, 3]),
    ("btop-1.3", "btop", &[1, 3], &[]),
    ("systemd-root", "systemctl", &[257], &[258]),
    ("systemd-unit", "systemctl", &[], &[]),
    ("docker", "docker", &[20, 10], &[]),
    ("docker-19.03", "docker", &[], &[19, 4]),
    ("podman-5.6", "podman", &[5, 6], &[]),
    ("podman-anon", "podman", &[4], &[5, 6]),
    ("podman-usage", "podman", &[], &[5, 6]),
    ("glances", "glances", &[3], &[]),
    ("netdata", "netdata", &[2], &[3]),
    ("node-exporter-available", "node_exporter", &[], &[]),
    ("node-exporter-caches", "node_exporter", &[], &[]),
    ("node-exporter-available", "prometheus-node-exporter", &[], &[]),
    ("node-exporter-caches", "prometheus-node-exporter", &[], &[]),
    ("otel-available", "otelcol", &[], &[]),
    ("otel-legacy", "otelcol", &[], &[]),
    ("kubectl-node", "kubectl", &[], &[]),
    ("kubectl-pod", "kubectl", &[], &[]),
    ("kubectl-pod", "crictl", &[], &[]),
];

/// What is installed of the tool of a row; `None` where nothing is.
#[must_use]
pub fn for_row(id: &str, installed: &[Installed]) -> Option<Here> {
    let (_, name, from, before) =
        ROWS.iter().find(|(row, program, ..)| *row == id && installed.iter().any(|found| found.program == *program))?;
    let found = installed.iter().find(|found| found.program == *name)?;
    let version = found.version.as_slice();
    let bounded = !from.is_empty() || !before.is_empty();
    let within = version >= *from && (before.is_empty() || version < *before);
    let text = version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    Some(Here {
        program: found.program.clone(),
        version: (!text.is_empty()).then_some(text),
        holds: if bounded && version.is_empty() { None } else { Some(within) },
    })
}

/// The version in what a program printed: its first number with a point, or else its first number.
#[must_use]
pub fn version_in(printed: &str) -> Vec<u32> {
    let words = || printed.split(|c: char| !c.is_ascii_digit() && c != '.').map(|word| word.trim_matches('.'));
    let numbers = |word: &str| word.split('.').map(|n| n.parse().ok()).collect::<Option<Vec<u32>>>();
    let found = words().filter(|word| word.contains('.')).find_map(numbers);
    found.or_else(|| words().find_map(numbers)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::recipes::{GROUP, SYSTEM};

    #[test]
    fn every_row_has_a_program_that_is_looked_for() {
        for recipe in SYSTEM.iter().chain(GROUP) {
            let of: Vec<_> = ROWS.iter().filter(|(id, ..)| *id == recipe.id).collect();
            assert!(!of.is_empty(), "{}", recipe.id);
            assert!(of.iter().all(|(_, program, ..)| PROGRAMS.iter().any(|p| p.name == *program)), "{}", recipe.id);
        }
        for (id, ..) in ROWS {
            assert!(SYSTEM.iter().chain(GROUP).any(|recipe| recipe.id == *id), "{id} is no row");
        }
    }

    #[test]
    fn versions_are_read_from_what_programs_print() {
        for (printed, version) in [
            ("free from procps-ng 4.0.2\n", &[4, 0, 2][..]),
            ("sysstat version 12.6.1\n(C) Sebastien", &[12, 6, 1]),
            ("\u{1b}[0mbtop version: 1.2.13\n", &[1, 2, 13]),
            ("systemd 257 (257.9-1)\n+PAM", &[257, 9]),
            ("Docker version 27.5.1, build 9f9e405\n", &[27, 5, 1]),
            ("no number", &[]),
            ("99999999999.1", &[]),
        ] {
            assert_eq!(version_in(printed), version, "{printed}");
        }
    }

    #[test]
    fn an_installed_tool_is_in_the_row_of_its_version_and_not_in_the_others() {
        let installed = |program: &str, version: &[u32]| Installed { program: program.into(), version: version.into() };
        let all = [installed("free", &[4, 0, 2]), installed("btop", &[1, 2, 13]), installed("glances", &[])];
        let here = |id| for_row(id, &all);
        assert_eq!(here("procps-4.0.1").unwrap().holds, Some(true));
        assert_eq!(here("procps-3.3.10").unwrap().holds, Some(false));
        let btop = here("btop-1.3").unwrap();
        assert_eq!((btop.version.as_deref(), btop.holds), (Some("1.2.13"), Some(false)));
        assert_eq!(here("glances").unwrap(), Here { program: "glances".into(), version: None, holds: None });
        assert_eq!(here("htop-3.1"), None);
    }
}
