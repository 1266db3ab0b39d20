//! Settings as files configure them for the next boot: `sysctl.d` in the order in which it is read.
//!
//! Every setting below `vm.` with its file and line, and what the kernel has now. Not a list of
//! everything that sets a knob: a service, a tuning daemon or a person may do so too.
//!
//! Worked example: 10-a.conf says `vm.swappiness = 10` and 99-b.conf says `vm/swappiness=60`: the later file wins, 60.

use crate::prelude::*;

/// One line of a sysctl file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Setting {
    /// The knob: `vm.swappiness`.
    pub key: String,
    /// Its value, as text.
    pub value: String,
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
}

/// What the files say, in the order in which it takes effect: of one key the last wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Configured {
    /// Every setting below `vm.`, in order of effect.
    pub settings: Vec<Setting>,
    /// What the kernel has now, for each knob that a file sets; a knob it does not have is not listed.
    pub in_force: BTreeMap<String, String>,
    /// Files and lines that could not be used.
    pub unseen: Vec<Unseen>,
}

impl Configured {
    /// Takes in one file; files come in order of effect. Lines of another form are noted, the rest goes on.
    pub fn read(&mut self, file: &str, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            // A leading minus: an error in setting it is no error.
            let line = line.strip_prefix('-').unwrap_or(line);
            let Some((key, value)) = line.split_once('=') else {
                // `-net.ipv4.*` alone excludes names from a pattern: no setting.
                if !line.contains(['*', '?', '.', '/']) {
                    self.unseen.push(Unseen::line(file, index, line));
                }
                continue;
            };
            let Some(key) = knob(key.trim()) else { continue };
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            let line = u64::try_from(index + 1).unwrap_or(u64::MAX);
            self.settings.push(Setting { key, value, file: file.to_owned(), line });
        }
    }

    /// The settings of one knob, in order of effect.
    pub fn for_key(&self, key: &str) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(move |setting| setting.key == key)
    }
}

/// `vm.swappiness` from `vm.swappiness` or `vm/swappiness`; `None` for patterns and for what is not directly below `vm`.
fn knob(text: &str) -> Option<String> {
    let name = text.strip_prefix("vm.").or_else(|| text.strip_prefix("vm/"))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!name.is_empty() && name.len() <= 64 && name.chars().all(plain)).then(|| format!("vm.{name}"))
}

/// The files that count, of the names in each directory, the first directory being the strongest: of one name only the
/// strongest stands, and all are read in the order of their names (`sysctl.d(5)`).
#[must_use]
pub fn order(dirs: &[(&str, Vec<String>)]) -> Vec<String> {
    let mut files: BTreeMap<&str, &str> = BTreeMap::new();
    for (dir, names) in dirs {
        for name in names.iter().filter(|name| name.ends_with(".conf")) {
            files.entry(name).or_insert(dir);
        }
    }
    files.into_iter().map(|(name, dir)| format!("{dir}/{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_separator_names_a_knob_and_other_lines_are_left_or_noted() {
        let mut seen = Configured::default();
        seen.read("/etc/sysctl.d/a.conf", "# x\n; y\n\n vm/swappiness =  10 \n-vm.page-cluster=0\nkernel.pid_max=9\nvm.*=3\n-net.ipv4.*\nnonsense\u{1b}\nvm.lowmem_reserve_ratio = 256\t32 0\nvm.../etc/shadow=1\n");
        let keys: Vec<String> = seen.settings.iter().map(|s| format!("{}={}:{}", s.key, s.value, s.line)).collect();
        assert_eq!(keys, ["vm.swappiness=10:4", "vm.page-cluster=0:5", "vm.lowmem_reserve_ratio=256 32 0:10"]);
        assert_eq!(seen.unseen.len(), 1);
        assert!(seen.unseen[0].reason.contains("line 9") && seen.unseen[0].reason.contains("\\u{1b}"));
    }

    #[test]
    fn of_one_name_the_strongest_directory_stands_and_names_give_the_order() {
        let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let dirs =
            [("/etc/s", names(&["50-b.conf", "README"])), ("/usr/s", names(&["10-a.conf", "50-b.conf", "99-c.conf"]))];
        assert_eq!(order(&dirs), ["/usr/s/10-a.conf", "/etc/s/50-b.conf", "/usr/s/99-c.conf"]);
    }
}
