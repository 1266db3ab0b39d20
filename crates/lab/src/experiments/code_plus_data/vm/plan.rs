//! Requirements of a series in virtual machines, looked at before anything is made.

use std::process::Stdio;

use ramline_gather::quiet;
use ramline_kernel::mount::Journalled;
use ramline_kernel::program;

use super::super::settings::{CODE_UNITS, NAME, Settings};
use super::options::GuestOptions;
use crate::prelude::*;
use ramline_sandbox::requirements::{BUSY_LIMIT, LOOK};
use ramline_sandbox::vm::cpio::Archive;
use ramline_sandbox::vm::image::{self, Kernel};
use ramline_sandbox::vm::modules::{self, Dependencies};
use ramline_sandbox::vm::qemu::{OVERHEAD, PROGRAM};

/// Everything a series needs, found and judged.
#[derive(Debug, Clone)]
pub struct VmPlan {
    /// What was asked of the guest.
    pub options: GuestOptions,
    /// What was asked of the workload; its unit is set once the guest has been measured.
    pub settings: Settings,
    /// Arms with fills and page lists.
    pub arms: Vec<Arm>,
    /// The kernel.
    pub kernel: Kernel,
    /// The initramfs.
    pub initramfs: Vec<u8>,
    /// Where images go.
    pub place: Place,
    /// What QEMU calls itself.
    pub emulator: String,
    /// At most this is written to the disk at once.
    pub scratch: Bytes,
    /// What the host must have to give.
    pub memory: Bytes,
    /// What makes results doubtful but not impossible.
    pub doubts: Vec<String>,
}

impl VmPlan {
    /// Checks the values against the machine; nothing is touched.
    ///
    /// # Errors
    /// Values that make no sense, or `Refused` with every reason.
    pub fn checked(root: &Root, params: &Params) -> Result<VmPlan> {
        let options = GuestOptions::from_params(params)?;
        // The unit is checked by the options: a guest's need not be a whole number of MiB.
        let settings = Settings { unit: Bytes::from_mib(32), ..Settings::from_params(params)? };
        settings.check()?;
        let arms = options.arms(&settings)?;
        let kernel = Kernel::find(&options.kernel, options.modules.as_deref(), &places())?;
        let found = Dependencies::read(&kernel.modules)?;
        let binary = options.binary.clone().map_or_else(process::own_exe, Ok)?;
        let program = input::read("read the binary", &binary, image::LARGEST)?;
        image::refuse_unless_static(&binary, &program)?;
        let command = format!("ramline lab run {NAME} --sandbox vm --kernel {}", options.kernel);
        let mut check = Check::new(root, Caller { command: &command, smaller: "--memory 128MiB", ..Caller::default() });
        check.extend(lacking(&found, &arms, &kernel));
        let emulator = emulator().map_err(|reason| check.extend([reason])).unwrap_or_default();
        check.tools(&[Tool::Mkfs(Journalled::Ext4)]);
        let taken = options.memory + OVERHEAD;
        let memory = check.memory(taken, &format!("guest {}, QEMU {OVERHEAD}", options.memory))?;
        let scratch = scratch_needed(&options, &settings, &arms, Bytes(program.len().try_into().unwrap_or(u64::MAX)));
        // A swap disk is no swap file of the host's: any file system on a disk will do.
        let place = check.place(scratch, settings.dir.as_deref(), false);
        let doubts = quiet::look(root, LOOK)?.disturbance(BUSY_LIMIT).into_iter().collect();
        let initramfs = initramfs(&kernel, &found, &arms, &program)?;
        let place = check.conclude(place)?;
        Ok(VmPlan { options, settings, arms, kernel, initramfs, place, emulator, scratch, memory, doubts })
    }
}

/// Where this project's own tools keep kernels: below the present folder, and beside the binary's source.
fn places() -> Vec<PathBuf> {
    let exe = process::own_exe().unwrap_or_default();
    let beside = exe.ancestors().skip(1).map(|dir| dir.join("vm/cache"));
    let named = std::env::var_os("RAMLINE_VM_CACHE").map(PathBuf::from);
    named.into_iter().chain([PathBuf::from("vm/cache")]).chain(beside).map(|cache| cache.join("kernels")).collect()
}

/// What the kernel does not have.
fn lacking(found: &Dependencies, arms: &[Arm], kernel: &Kernel) -> Vec<Reason> {
    let mut needed = modules::ESSENTIAL.to_vec();
    let zram = |arm: &Arm| arm::on_zram(&arm.swap);
    if arms.iter().any(zram) {
        needed.push("zram");
    }
    let missing: Vec<&str> = needed.into_iter().filter(|name| !found.has(name)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let text = format!("{} has neither as a module nor built in: {}", kernel.modules.display(), missing.join(", "));
    vec![Reason::new(text, "ramline lab run code-plus-data --sandbox vm --kernel 6.12 --modules /lib/modules/VERSION")]
}

fn emulator() -> std::result::Result<String, Reason> {
    let mut command = match program::command(PROGRAM) {
        Err(error) if !error.is_absent() => {
            return Err(Reason::new(format!("{PROGRAM}: {}", error.cause), error.try_hint.unwrap_or_default()));
        }
        found => found,
    };
    let output = command.as_mut().ok().and_then(|command| command.arg("--version").stdin(Stdio::null()).output().ok());
    match output {
        Some(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
        }
        _ => Err(Reason::new(format!("the program {PROGRAM} is not installed"), "sudo apt install qemu-system-x86")),
    }
}

/// Initramfs, code twice (as a file, and in its image), and a swap disk.
fn scratch_needed(options: &GuestOptions, settings: &Settings, arms: &[Arm], program: Bytes) -> Bytes {
    let unit = options.unit.unwrap_or(Bytes(options.memory.0 / 16));
    let sized = Settings { unit, ..settings.clone() };
    let image = image_size(sized.units(CODE_UNITS));
    let swap = if arms.iter().any(|arm| arm::on_disk(&arm.swap)) {
        options.swap_disk.unwrap_or_else(|| sized.swap_size())
    } else {
        Bytes::ZERO
    };
    program + Bytes::from_mib(16) + image + image + swap
}

/// The binary as /init, the modules the arms need, and the folders they are used in.
fn initramfs(kernel: &Kernel, found: &Dependencies, arms: &[Arm], program: &[u8]) -> Result<Vec<u8>> {
    let mut names = [modules::ESSENTIAL, modules::HELPFUL].concat();
    if arms.iter().any(|arm| arm::on_zram(&arm.swap)) {
        names.extend(modules::ZRAM);
    }
    if arms.iter().any(|arm| arm.swap == SwapKind::Zswap) {
        names.extend(modules::ZSWAP);
    }
    // What ext4 asks for by name must be there before it.
    ramline_units::sort_by_key(&mut names, |name| modules::ESSENTIAL.contains(name));
    let mut archive = Archive::default();
    for folder in ["dev", "proc", "sys", "tmp", "code"] {
        archive.folder(folder);
    }
    // The kernel opens it for the first process before anything is mounted.
    archive.device("dev/console", 5, 1);
    let mut list = String::new();
    for path in found.order(&names) {
        let plain = path.trim_end_matches(".xz").trim_end_matches(".zst");
        let name = format!("modules/{}", Path::new(plain).file_name().unwrap_or_default().to_string_lossy());
        archive.file(&name, 0o600, &modules::contents(&kernel.modules, &path)?);
        list.push_str(&name);
        list.push('\n');
    }
    archive.file("modules.list", 0o600, list.as_bytes());
    archive.file("init", 0o755, program);
    Ok(archive.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_a_disk_driver_or_zram_is_refused_by_their_names() {
        let kernel = Kernel { image: "/k".into(), modules: "/m".into(), release: None };
        let builtin = "kernel/virtio_pci.ko\nkernel/virtio_console.ko\nkernel/ext4.ko\n";
        let found = Dependencies::parse("", builtin);
        let text = |arms: &[Arm]| lacking(&found, arms, &kernel).first().map(|reason| reason.text.clone());
        assert!(text(&[]).unwrap().ends_with("built in: virtio_blk"));
        assert!(text(&[arm::parse("zram:60").unwrap()]).unwrap().ends_with("virtio_blk, zram"));
        let whole = Dependencies::parse("", &format!("{builtin}kernel/virtio_blk.ko\n"));
        assert_eq!(lacking(&whole, &[], &kernel), []);
    }

    #[test]
    fn only_arms_with_a_swap_disk_need_room_for_it() {
        let params = Params::defaults(&super::super::super::table());
        let mut given = params;
        given.set(&super::super::super::table(), "kernel", vec!["x".to_owned()]).unwrap();
        let (options, settings) = (GuestOptions::from_params(&given).unwrap(), Settings::default());
        let needed = |text: &str| scratch_needed(&options, &settings, &[arm::parse(text).unwrap()], Bytes::ZERO);
        assert_eq!(needed("swap:60").checked_sub(needed("no-swap")), Some(Bytes::from_mib(512)));
        assert_eq!(needed("zram:60"), needed("no-swap"));
    }
}
