//! Settings that files configure: sysctl.d in systemd's order, and /etc/sysctl.conf where it is read.

use ramline_snapshot::configured::{Configured, order};

use super::reader::Reader;
use crate::prelude::*;

/// The strongest first (`sysctl.d(5)`).
const DIRS: [&str; 4] = ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"];
/// Read last by `sysctl --system`, and by systemd not at all unless a link in sysctl.d leads to it.
const OLD: &str = "/etc/sysctl.conf";
/// More files than any system has; what is beyond is not read.
const MOST: usize = 1000;

pub fn configured(reader: &Reader<'_>) -> Seen<Configured> {
    reader.timed(|| {
        let mut out = Configured::default();
        let named = DIRS.map(|dir| (dir, reader.names(dir)));
        let mut files = order(&named);
        files.truncate(MOST);
        // Of a capture, the file is there only if it was read.
        if reader.word("/proc/1/comm").as_deref() != Some("systemd") {
            files.push(OLD.to_owned());
        }
        for file in files {
            if let Some(text) = reader.config_or(&file, &mut out.unseen) {
                out.read(&file, &text);
            }
        }
        let keys: std::collections::BTreeSet<String> = out.settings.iter().map(|s| s.key.clone()).collect();
        for key in keys {
            let Some(name) = key.strip_prefix("vm.") else { continue };
            if let Ok(text) = reader.text(format!("/proc/sys/vm/{name}")) {
                let words: Vec<&str> = text.split_ascii_whitespace().collect();
                out.in_force.insert(key.clone(), words.join(" "));
            }
        }
        out
    })
}
