//! The kernel a guest boots and the binary it runs: found, looked into, and refused before anything is started.
//!
//! What it is not: a downloader. A name such as `6.12` is looked up where this project's own tools put kernels and among the
//! installed ones; everything else is a path.

use ramline_kernel::input;

use crate::prelude::*;

/// A kernel with its modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The image.
    pub image: PathBuf,
    /// The folder that holds `modules.dep`.
    pub modules: PathBuf,
    /// As the image says of itself; nothing for an image of another architecture.
    pub release: Option<String>,
}

/// No kernel, module or program is larger.
pub const LARGEST: u64 = 512 << 20;

const HINT: &str = "ramline lab run code-plus-data --sandbox vm --kernel /boot/vmlinuz-VERSION";

impl Kernel {
    /// Finds `text`: a file, a folder with a `vmlinuz`, or a name looked up in `places` and among the installed kernels.
    /// `modules` is the folder of its modules, where that is not beside it.
    ///
    /// # Errors
    /// There is no such kernel, or it has no modules; with what was looked for.
    pub fn find(text: &str, modules: Option<&Path>, places: &[PathBuf]) -> Result<Kernel> {
        let image = image(text, places)?;
        let release = release_of(&input::read("read the kernel", &image, LARGEST)?);
        let modules = folder(&image, modules, release.as_deref())?;
        Ok(Kernel { image, modules, release })
    }
}

fn image(text: &str, places: &[PathBuf]) -> Result<PathBuf> {
    let named = Path::new(text);
    let mut candidates = vec![named.to_owned(), named.join("vmlinuz")];
    if !text.contains('/') {
        candidates.extend(places.iter().map(|place| place.join(text).join("vmlinuz")));
        candidates.push(Path::new("/boot").join(format!("vmlinuz-{text}")));
        candidates.push(Path::new("/lib/modules").join(text).join("vmlinuz"));
    }
    candidates.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        let looked: Vec<String> = candidates.iter().skip(1).map(|path| path.display().to_string()).collect();
        let message = format!("there is no kernel {}; looked at {}", text.escape_debug(), looked.join(", "));
        LabError::usage(message, HINT)
    })
}

fn folder(image: &Path, given: Option<&Path>, release: Option<&str>) -> Result<PathBuf> {
    let beside = image.parent().unwrap_or(Path::new("."));
    let starts: Vec<PathBuf> = match given {
        Some(dir) => vec![dir.to_owned(), dir.join("lib/modules")],
        None => vec![beside.join("modules/lib/modules"), beside.join("lib/modules"), PathBuf::from("/lib/modules")],
    };
    let mut candidates = Vec::new();
    for start in &starts {
        candidates.push(start.clone());
        match release {
            Some(release) => candidates.push(start.join(release)),
            None => {
                candidates.extend(std::fs::read_dir(start).into_iter().flatten().flatten().map(|entry| entry.path()))
            }
        }
    }
    candidates.iter().find(|dir| dir.join("modules.dep").is_file()).cloned().ok_or_else(|| {
        let looked: Vec<String> = starts.iter().map(|path| path.display().to_string()).collect();
        let of = release.unwrap_or("this kernel");
        let message = format!("there is no modules.dep for {of} in {}", looked.join(", "));
        LabError::usage(message, format!("{HINT} --modules /lib/modules/VERSION"))
    })
}

/// The release a bzImage names (Documentation/arch/x86/boot.rst: magic HdrS at 0x202, offset of the text less 0x200 at 0x20e).
fn release_of(image: &[u8]) -> Option<String> {
    if image.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let at = usize::from(u16::from_le_bytes([*image.get(0x20e)?, *image.get(0x20f)?])) + 0x200;
    let text: Vec<u8> =
        image.get(at..)?.iter().copied().take(200).take_while(|byte| *byte > b' ' && *byte < 127).collect();
    let text = String::from_utf8(text).ok()?;
    // It becomes part of a path.
    (!text.is_empty() && !text.contains('/') && !text.starts_with('.')).then_some(text)
}

/// Refuses a binary that needs libraries: a guest has none.
///
/// # Errors
/// It is no program of this machine, or it names an interpreter.
pub fn refuse_unless_static(path: &Path, bytes: &[u8]) -> Result<()> {
    let refused = |why: &str| {
        let text = format!("{} {why}; in the guest there is nothing but the binary", path.display());
        let hint = "make build, then run target/*/release/ramline or give it with --guest-binary";
        Err(LabError::refused(vec![text], hint))
    };
    // Machine 62 is x86-64 (elf(5)).
    match has_interpreter(bytes).filter(|_| bytes.get(0x12..0x14) == Some(&[62, 0])) {
        Some(false) => Ok(()),
        Some(true) => refused("needs libraries of this machine"),
        None => refused("is no Linux program for x86-64"),
    }
}

/// Whether an ELF file has a program header of type PT_INTERP (3); `None` for another file (elf(5)).
fn has_interpreter(bytes: &[u8]) -> Option<bool> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let number = |at: usize, length: usize| {
        let part = bytes.get(at..at.checked_add(length)?)?;
        usize::try_from(part.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))).ok()
    };
    let (start, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    for index in 0..count {
        if number(start.checked_add(index.checked_mul(size)?)?, 4)? == 3 {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bzimage(release: &str) -> Vec<u8> {
        let mut image = vec![0u8; 0x400];
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
        image[0x300..0x300 + release.len()].copy_from_slice(release.as_bytes());
        image
    }

    #[test]
    fn an_image_names_its_release_and_damaged_ones_name_none() {
        assert_eq!(release_of(&bzimage("6.12.1-x (me@here) #1")).as_deref(), Some("6.12.1-x"));
        assert_eq!(release_of(&bzimage("../../etc x")), None);
        assert_eq!(release_of(b"HdrS"), None);
        assert_eq!(release_of(&bzimage("6.1")[..0x208]), None);
    }

    #[test]
    fn a_kernel_is_found_by_name_with_the_modules_beside_it() {
        let cache = tempfile::tempdir().unwrap();
        let dir = cache.path().join("6.12");
        let modules = dir.join("modules/lib/modules/6.12.1-x");
        std::fs::create_dir_all(&modules).unwrap();
        std::fs::write(dir.join("vmlinuz"), bzimage("6.12.1-x #1")).unwrap();
        let places = [cache.path().to_owned()];
        let missing = Kernel::find("6.12", None, &places).unwrap_err().to_string();
        assert!(missing.contains("no modules.dep for 6.12.1-x") && missing.contains("--modules"), "{missing}");
        std::fs::write(modules.join("modules.dep"), "").unwrap();
        assert_eq!(Kernel::find("6.12", None, &places).unwrap().modules, modules);
        assert_eq!(Kernel::find(dir.to_str().unwrap(), None, &[]).unwrap().image, dir.join("vmlinuz"));
        let unknown = Kernel::find("9.99", None, &places).unwrap_err().to_string();
        assert!(unknown.contains("no kernel 9.99; looked at") && unknown.contains("try:"), "{unknown}");
    }

    #[test]
    fn a_binary_that_needs_libraries_is_refused_with_the_way_out() {
        let mut elf = vec![0u8; 200];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[0x20] = 0x40;
        (elf[0x12], elf[0x36], elf[0x38], elf[0x40]) = (62, 56, 2, 1);
        assert_eq!(has_interpreter(&elf), Some(false));
        elf[0x40 + 56] = 3;
        assert_eq!(has_interpreter(&elf), Some(true));
        let error = refuse_unless_static("/x".as_ref(), &elf).unwrap_err().to_string();
        assert!(error.contains("make build") && error.contains("--guest-binary"), "{error}");
        assert_eq!(has_interpreter(b"#!/bin/sh"), None);
        elf[0x20..0x28].fill(0xff);
        assert_eq!(has_interpreter(&elf), None, "headers beyond the end");
    }
}
