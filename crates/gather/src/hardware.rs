//! The machine below the measurement: processor, its last-level cache, the hypervisor, huge pages.
//!
//! Only what a reader needs to judge a latency.
//!
//! ```
//! let hardware = ramline_gather::hardware::read(&ramline_kernel::Root::live());
//! println!("{} CPUs, {}", hardware.cpus, hardware.cpu_model);
//! ```

use ramline_kernel::write::read_knob;

use crate::prelude::*;

/// What was found; unknown things are `None` or "unknown".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// As /proc/cpuinfo names it.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: u64,
    /// The largest cache of the first CPU.
    pub last_level_cache: Option<Bytes>,
    /// Kernel release.
    pub kernel: String,
    /// The hypervisor, when the processor says there is one: its signature (`KVMKVMKVM`), or "unknown".
    pub hypervisor: Option<String>,
    /// This guest can run guests (vmx or svm).
    pub nested_capable: bool,
    /// Selected policy of transparent huge pages for anonymous memory.
    pub thp_anon: Option<String>,
    /// Selected policy for tmpfs inside the kernel (memfd).
    pub thp_shmem: Option<String>,
}

/// Reads it; missing files leave gaps.
#[must_use]
pub fn read(root: &Root) -> Hardware {
    let cpuinfo = read_text(&root.path("/proc/cpuinfo")).unwrap_or_default();
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let flags = field("flags").unwrap_or_default();
    let has = |flag: &str| flags.split(' ').any(|word| word == flag);
    let sys_name = |path: &str| {
        read_text(&root.path(path)).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let hypervisor = sys_name("/sys/hypervisor/type")
        .or_else(|| has("hypervisor").then(|| signature(root).unwrap_or_else(|| "unknown".to_owned())));
    let processors = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    Hardware {
        cpu_model: field("model name").or_else(|| field("Model")).unwrap_or_else(|| "unknown".to_owned()),
        cpus: u64::try_from(processors).unwrap_or(0).max(1),
        last_level_cache: last_level_cache(root),
        kernel: sys_name("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned()),
        hypervisor,
        nested_capable: has("vmx") || has("svm"),
        thp_anon: read_knob(&root.path("/sys/kernel/mm/transparent_hugepage/enabled")),
        thp_shmem: read_knob(&root.path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")),
    }
}

/// Version and patch level of the kernel, as (6, 18). What a distribution took over from later ones is not seen in it.
#[must_use]
pub fn kernel_version(root: &Root) -> Option<(u32, u32)> {
    let text = read_text(&root.path("/proc/sys/kernel/osrelease")).ok()?;
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The processor is a program (QEMU without acceleration): its seconds are those of no machine. Only on the live machine.
#[must_use]
pub fn is_emulated(root: &Root) -> bool {
    signature(root).is_some_and(|name| name.starts_with("TCG"))
}

/// The largest size among cpu0/cache/index*.
fn last_level_cache(root: &Root) -> Option<Bytes> {
    let dir = std::fs::read_dir(root.path("/sys/devices/system/cpu/cpu0/cache")).ok()?;
    dir.flatten().filter_map(|entry| cache_size(&read_text(&entry.path().join("size")).ok()?)).max()
}

/// `107520K` or `32M`.
fn cache_size(text: &str) -> Option<Bytes> {
    let text = text.trim();
    let in_unit = |unit| text.strip_suffix(unit)?.parse().ok();
    in_unit("K").map(Bytes::from_kib).or_else(|| in_unit("M").map(Bytes::from_mib)).or_else(|| in_unit("").map(Bytes))
}

/// What the hypervisor calls itself (CPUID leaf 0x4000_0000).
#[cfg(target_arch = "x86_64")]
fn signature(root: &Root) -> Option<String> {
    if !root.is_live() {
        return None;
    }
    let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    let text: String = String::from_utf8_lossy(&bytes).chars().filter(char::is_ascii_graphic).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(not(target_arch = "x86_64"))]
fn signature(_root: &Root) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_sizes_carry_their_unit() {
        assert_eq!(cache_size("107520K\n"), Some(Bytes::from_mib(105)));
        assert_eq!(cache_size("2M"), Some(Bytes::from_mib(2)));
        assert_eq!(cache_size("x"), None);
    }

    #[test]
    fn a_release_is_read_to_its_second_number() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc/sys/kernel")).unwrap();
        for (text, version) in [("6.18.5+deb13-amd64\n", Some((6, 18))), ("7.0-rc1\n", Some((7, 0))), ("odd\n", None)] {
            std::fs::write(dir.path().join("proc/sys/kernel/osrelease"), text).unwrap();
            assert_eq!(kernel_version(&Root::new(dir.path())), version, "{text}");
        }
    }

    #[test]
    fn a_tree_without_the_files_gives_gaps_not_errors() {
        let dir = tempfile::tempdir().unwrap();
        let hardware = read(&Root::new(dir.path()));
        assert_eq!(
            (hardware.cpu_model.as_str(), hardware.last_level_cache, hardware.hypervisor),
            ("unknown", None, None)
        );
    }
}
