//! Swap areas: make one in a file or on a block device, switch it on and off, and what /proc/swaps says.
//!
//! A swap area is global; whether the host may have one is decided above.
//! The header is written by ourselves (no mkswap needed) and carries the label `ramline` and a random UUID, by which a
//! later run recognises its own.
//!
//! ```no_run
//! use ramline_kernel::{Root, swap};
//! use ramline_units::Bytes;
//! let file = "/var/tmp/ramline-1/swap".as_ref();
//! swap::create_file(file, Bytes::from_mib(16))?;
//! let uuid = swap::make(file, 4096)?;
//! swap::swapon(file, Some(-1))?;
//! assert_eq!(swap::label(file, 4096)?.map(|label| label.uuid), Some(uuid));
//! swap::swapoff(file)?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "swapon, swapoff")]

use std::io;
use std::os::unix::fs::FileExt;

use ramline_snapshot::swaps::SwapArea;

use crate::place;
use crate::prelude::*;
use crate::sys::{c_path, size_of_target};

/// The label of every area we make.
pub const LABEL: &str = "ramline";
const SIGNATURE: &[u8; 10] = b"SWAPSPACE2";
// union swap_header in linux/swap.h: 1024 bytes for boot code, then version, last_page, nr_badpages, uuid, label.
const HEADER_AT: usize = 1024;
const UUID_AT: usize = HEADER_AT + 12;
const LABEL_AT: usize = UUID_AT + 16;

/// What the header of a swap area says about its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The label, up to the first NUL.
    pub label: String,
    /// The UUID as 32 hex digits in the usual groups.
    pub uuid: String,
}

/// Creates a file without holes for a swap area: mode 0600, never an existing one, no link followed.
///
/// # Errors
/// `Refused` on a file system where a swap file cannot work (btrfs, overlay, tmpfs, network) or when less than twice
/// the size is free; `Io` (EEXIST) when the name is taken.
pub fn create_file(path: &Path, size: Bytes) -> Result<()> {
    let tried = "create the swap file";
    let place = place::describe(path.parent().unwrap_or(Path::new(".")))?;
    place.refuse_unless_disk(tried)?;
    if place.fs_type == "btrfs" {
        let rule = "a swap file on btrfs must not be copy-on-write";
        return Err(KernelError::refused(tried, path, rule, place.fs_type));
    }
    crate::scratch::allocated_file(tried, path, &place, size)
}

/// Writes the header of a swap area over the first page of a file or block device and returns its UUID.
///
/// # Errors
/// `Refused` below ten pages (the kernel's own minimum), `Io` when the target cannot be written.
pub fn make(path: &Path, page_size: u64) -> Result<String> {
    let tried = "write a swap header to";
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path).tried(tried, path)?;
    let size = size_of_target(&file, path)?;
    let pages = size / page_size.max(1);
    if pages < 10 || page_size < 4096 {
        let numbers = format!("{pages} pages of {page_size} B");
        return Err(KernelError::refused(tried, path, "a swap area has at least 10 pages", numbers));
    }
    let uuid = random_uuid().tried(tried, path)?;
    let page = header(pages, page_size, &uuid);
    file.write_all_at(&page, 0).and_then(|()| file.sync_all()).tried(tried, path)?;
    Ok(format_uuid(&uuid))
}

fn header(pages: u64, page_size: u64, uuid: &[u8; 16]) -> Vec<u8> {
    let size = usize::try_from(page_size).unwrap_or(4096);
    let mut page = vec![0u8; size];
    let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
    // last_page is a u32: a larger area is used up to that page, as mkswap does.
    let last_page = u32::try_from(pages - 1).unwrap_or(u32::MAX);
    put(HEADER_AT, &1u32.to_ne_bytes());
    put(HEADER_AT + 4, &last_page.to_ne_bytes());
    put(UUID_AT, uuid);
    put(LABEL_AT, LABEL.as_bytes());
    put(size - SIGNATURE.len(), SIGNATURE);
    page
}

fn random_uuid() -> io::Result<[u8; 16]> {
    let mut uuid = [0u8; 16];
    // So few bytes come whole.
    rustix::rand::getrandom(&mut uuid, rustix::rand::GetRandomFlags::empty())?;
    uuid[6] = (uuid[6] & 0x0f) | 0x40;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
    Ok(uuid)
}

fn format_uuid(uuid: &[u8]) -> String {
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map(|(from, to)| hex.get(from..to).unwrap_or_default()).join("-")
}

/// The label and UUID of the swap area at `path`; `None` when there is no swap header of that page size.
///
/// # Errors
/// When the target cannot be opened or read.
pub fn label(path: &Path, page_size: u64) -> Result<Option<Label>> {
    let failed = |error| KernelError::io("read the swap header of", path, error);
    let file = File::open(path).map_err(failed)?;
    let size = usize::try_from(page_size).unwrap_or(4096);
    if size_of_target(&file, path)? < page_size || size < 4096 {
        return Ok(None);
    }
    let mut page = vec![0u8; size];
    file.read_exact_at(&mut page, 0).map_err(failed)?;
    if !page.ends_with(SIGNATURE) {
        return Ok(None);
    }
    let label = page[LABEL_AT..LABEL_AT + 16].split(|byte| *byte == 0).next().unwrap_or_default();
    let uuid = format_uuid(&page[UUID_AT..UUID_AT + 16]);
    Ok(Some(Label { label: String::from_utf8_lossy(label).into_owned(), uuid }))
}

/// Switches a swap area on. `priority` 0 to 32767 is as given; `None` or a negative one lets the kernel choose, which is
/// below every area that has a priority.
///
/// # Errors
/// EINVAL when the header or the file is not usable, EBUSY when it is on already.
pub fn swapon(path: &Path, priority: Option<i32>) -> Result<()> {
    const SWAP_FLAG_PREFER: libc::c_int = 0x8000;
    const SWAP_FLAG_PRIO_MASK: libc::c_int = 0x7fff;
    let name = c_path("swap on", path)?;
    let flags = match priority {
        Some(priority) if priority >= 0 => SWAP_FLAG_PREFER | (priority & SWAP_FLAG_PRIO_MASK),
        _ => 0,
    };
    // SAFETY: the string is NUL-terminated and lives through the call.
    check(unsafe { libc::swapon(name.as_ptr(), flags) }).map(drop).tried("swap on", path)
}

/// Switches a swap area off; its pages are read back into memory first, whether they fit is judged above.
///
/// # Errors
/// ENOMEM when memory would not hold its pages, EINVAL when it is not on.
pub fn swapoff(path: &Path) -> Result<()> {
    let name = c_path("swap off", path)?;
    // SAFETY: the string is NUL-terminated and lives through the call.
    check(unsafe { libc::swapoff(name.as_ptr()) }).map(drop).tried("swap off", path)
}

/// vm.swappiness; `None` where it cannot be read.
#[must_use]
pub fn swappiness(root: &Root) -> Option<u64> {
    read_u64(&crate::write::vm_setting(root, "swappiness")).ok()
}

/// The areas that are on, in the order of /proc/swaps.
///
/// # Errors
/// When the file cannot be read; a kernel without swap has no file, which is an empty list.
pub fn areas(root: &Root) -> Result<Vec<SwapArea>> {
    match read_text(&root.path("/proc/swaps")) {
        Ok(text) => Ok(text.lines().skip(1).filter_map(parse_area).collect()),
        Err(error) if error.is_absent() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn parse_area(line: &str) -> Option<SwapArea> {
    let mut area = SwapArea::parse(line)?;
    area.path.truncate(area.path.strip_suffix(" (deleted)").unwrap_or(&area.path).len());
    Some(area)
}

/// True while `path` is on.
///
/// # Errors
/// When /proc/swaps cannot be read.
pub fn is_on(root: &Root, path: &Path) -> Result<bool> {
    Ok(areas(root)?.iter().any(|area| Path::new(&area.path) == path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_file_that_is_called_zram_is_no_device() {
        let of = |path: &str| parse_area(&format!("{path} partition 1024 0 5")).unwrap().zram_number();
        assert_eq!((of("/dev/zram12"), of("/var/zram.swap"), of("/var/zram1")), (Some(12), None, None));
    }

    #[test]
    fn the_header_is_the_one_of_linux_swap_h() {
        let page = header(4096, 4096, &[7; 16]);
        assert_eq!(page.len(), 4096);
        assert_eq!(&page[1024..1028], &1u32.to_ne_bytes());
        assert_eq!(&page[1028..1032], &4095u32.to_ne_bytes());
        assert_eq!(&page[1036..1052], &[7; 16]);
        assert_eq!(&page[1052..1059], b"ramline");
        assert_eq!(&page[4086..], b"SWAPSPACE2");
        assert_eq!(&header(100, 65536, &[0; 16])[65526..], b"SWAPSPACE2");
    }

    #[test]
    fn a_name_with_a_blank_in_proc_swaps_is_read_whole() {
        let area = parse_area("/data/my\\040swap\\040(deleted)   file\t\t16380\t\t8\t\t-2").unwrap();
        assert_eq!(area.path, "/data/my swap");
        assert_eq!((area.size, area.used, area.priority), (Bytes::from_kib(16380), Bytes::from_kib(8), -2));
    }
}
