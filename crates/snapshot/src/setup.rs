//! How the system is set up: files, units and managers that a change must know before it is planned.
//!
//! It is no section of a [`crate::Snapshot`]: it is read for a plan alone, and holds texts of configuration files.
//!
//! Worked example: fstab mounts a tmpfs at /tmp, and zramswap.service is switched on by a link: a plan changes the first
//! and leaves the second to its owner, by the command that stops it.

use std::collections::BTreeMap;

use ramline_units::{Deserialize, JsonSchema, Serialize};

use crate::Unseen;
use crate::configured::Setting;

/// Whether files of settings may be written below /etc.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Etc {
    /// It was not looked at.
    #[default]
    NotSeen,
    /// They stay.
    Writable,
    /// It is on a file system mounted read-only.
    ReadOnly,
    /// They are made by another system from a description of its own; which: `NixOS`.
    Managed(String),
}

/// A file and what is in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConfFile {
    /// The file.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// zram-generator and its configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Generator {
    /// Its program; `None` where it is not installed.
    pub program: Option<String>,
    /// The main file in force: of several places the strongest.
    pub main: Option<ConfFile>,
    /// Drop-ins in order of effect: they win over the main file.
    pub drop_ins: Vec<ConfFile>,
}

/// A link that switches a unit on at boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UnitLink {
    /// The link.
    pub path: String,
    /// What it leads to.
    pub target: String,
}

/// A program other than the kernel and zram-generator that makes swap or sets knobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Manager {
    /// `zram-tools`, `tuned`.
    pub name: String,
    /// Its unit: `zramswap.service`.
    pub unit: String,
    /// The links that switch it on at boot; empty where it is not.
    pub enabled_by: Vec<UnitLink>,
}

/// What is done with zram at boot by a line of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConfLine {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// Its text.
    pub text: String,
}

/// How systemd is to mount /tmp.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TmpUnit {
    /// The unit file that is in force: `/usr/lib/systemd/system/tmp.mount`.
    pub file: Option<String>,
    /// The links that switch it on at boot.
    pub enabled_by: Vec<String>,
    /// A link to /dev/null that keeps it off.
    pub masked: bool,
    /// The kernel's tmpfs can limit what each user takes of it (`usrquota`). `None` where it was not asked: it answers root only.
    pub limits_users: Option<bool>,
}

/// How the system is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SetUp {
    /// systemd runs it.
    pub systemd: bool,
    /// /etc.
    pub etc: Etc,
    /// zram-generator.
    pub generator: Generator,
    /// `/etc/fstab`; `None` where there is none.
    pub fstab: Option<String>,
    /// Other managers that are there.
    pub managers: Vec<Manager>,
    /// Settings below `vm.` by tuned's profile and by rules of udev, which are no files of sysctl.d.
    pub others_set: Vec<Setting>,
    /// tuned takes sysctl.d back into force behind its own profile.
    pub tuned_yields: bool,
    /// Lines about zram in modules-load.d, modprobe.d, rules of udev, units and rc.local of the administrator's own.
    pub zram_lines: Vec<ConfLine>,
    /// /tmp.
    pub tmp: TmpUnit,
    /// What a hibernated system is resumed from, and where that is written.
    pub resume: Option<Setting>,
    /// Names in crypttab: encrypted devices.
    pub encrypted: Vec<String>,
    /// Usual places of swap files where something is.
    pub swap_files: Vec<String>,
    /// Files of ramline's own that are there, by path.
    pub own: BTreeMap<String, String>,
    /// What could not be read.
    pub unseen: Vec<Unseen>,
}

impl SetUp {
    /// Managers that make swap at boot or now.
    pub fn makes_swap(&self) -> impl Iterator<Item = &Manager> {
        self.managers.iter().filter(|manager| manager.name != "tuned")
    }

    /// Who sets a knob beside sysctl.d, in order of effect.
    pub fn others_of(&self, key: &str) -> impl Iterator<Item = &Setting> {
        self.others_set.iter().filter(move |setting| setting.key == key)
    }
}
