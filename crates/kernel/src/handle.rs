//! A file opened by its inode, where its file system lets that be done without knowing more (ext2, ext3, ext4). Needs root.

#![expect(unsafe_code, reason = "open_by_handle_at")]

use crate::prelude::*;
use crate::sys::new_fd;

#[repr(C)]
struct Handle {
    bytes: u32,
    kind: i32,
    inode: u32,
    generation: u32,
}

/// linux/exportfs.h: FILEID_INO32_GEN. A generation of 0 is any, on ext2, ext3 and ext4.
const INODE_AND_GENERATION: i32 = 1;

/// The file with this inode on the file system `mounted`, a directory of it; opened without being opened (O_PATH).
#[must_use]
pub fn open_by_inode(mounted: &File, inode: u64) -> Option<File> {
    let mut handle = Handle { bytes: 8, kind: INODE_AND_GENERATION, inode: u32::try_from(inode).ok()?, generation: 0 };
    let flags = libc::O_PATH | libc::O_CLOEXEC;
    // SAFETY: the handle has the layout of struct file_handle with eight bytes behind it, and lives through the call, which
    // gives a descriptor of our own.
    let fd = unsafe { new_fd(libc::syscall(libc::SYS_open_by_handle_at, mounted.as_raw_fd(), &raw mut handle, flags)) };
    let file = File::from(fd.ok()?);
    file.metadata().is_ok_and(|meta| meta.ino() == inode).then_some(file)
}
