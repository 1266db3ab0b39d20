//! The name a process was started by, where that is not the name of its program's file.
//!
//! Three names are known. The file (`exe`) is what is mapped, links resolved: of redis-server, a link on Debian, it is redis-check-rdb. The
//! kernel's name (`comm`) is the last part of what was given to exec, 15 characters of it, until the process takes another; for a script it is
//! the script's. The first argument is what the caller wrote, and a process may write over it.
//!
//! None is believed alone: a name that the kernel noted at exec and that the first argument has too is what was started. Otherwise, and where
//! the file only says more exactly which (python3.11 for python3), the file stands: threads that name themselves and scripts keep theirs.
//!
//! Worked example: file redis-check-rdb, comm redis-server, first argument `/usr/bin/redis-server 127.0.0.1:6379`: redis-server.

/// The kernel keeps so much of a name (TASK_COMM_LEN less the end).
const KEPT: usize = 15;

/// The kernel's name is that of the file, or the file's says more: the first argument need not be read.
#[must_use]
pub fn is_by_its_file(path: &str, comm: &str) -> bool {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.starts_with("/memfd:") || last_part(path).starts_with(comm) || comm.is_empty()
}

/// The name it was started by; `None` where that is its file's, or is not known.
#[must_use]
pub fn run_as(path: &str, comm: &str, first_argument: &str) -> Option<String> {
    if is_by_its_file(path, comm) {
        return None;
    }
    // A process that writes over its arguments puts a status behind its name.
    let first_word = first_argument.split([' ', ':']).next().unwrap_or_default();
    let called = [first_word, first_argument].map(|words| last_part(words).trim_start_matches('-'));
    let noted = |name: &&str| *name == comm || (comm.len() == KEPT && name.starts_with(comm));
    let name = called.into_iter().find(noted)?;
    (!last_part(path).starts_with(name)).then(|| name.to_owned())
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_named_as_it_was_started_and_all_else_by_its_file() {
        for (path, comm, first, name) in [
            ("/usr/bin/redis-check-rdb", "redis-server", "/usr/bin/redis-server 127.0.0.1:6379", Some("redis-server")),
            (
                "/usr/bin/redis-check-rdb",
                "redis-server",
                "redis-server unixsocket:/run/redis.sock",
                Some("redis-server"),
            ),
            ("/bin/busybox", "httpd", "httpd", Some("httpd")),
            ("/bin/busybox (deleted)", "sh", "-sh", Some("sh")),
            ("/usr/bin/qemu", "qemu-system-x86", "/usr/bin/qemu-system-x86_64", Some("qemu-system-x86_64")),
            // The file says more exactly which.
            ("/usr/bin/python3.11", "python3", "python3", None),
            ("/usr/bin/vim.basic", "vi", "vi", None),
            // A script, its interpreter's file; a thread's own name; a title.
            ("/usr/bin/python3.11", "unattended-upgr", "/usr/bin/python3", None),
            ("/usr/bin/node", "MainThread", "node", None),
            ("/usr/lib/postgresql/15/bin/postgres", "postgres", "postgres: checkpointer ", None),
            ("/usr/lib/systemd/systemd", "(sd-pam)", "(sd-pam)", Some("(sd-pam)")),
            ("/memfd:tool (deleted)", "4", "tool", None),
            ("/bin/x", "", "", None),
        ] {
            assert_eq!(run_as(path, comm, first).as_deref(), name, "{path} {comm} {first}");
        }
    }
}
