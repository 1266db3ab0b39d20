//! Which descriptors can be of a file in RAM, by their links alone.

use ramline_snapshot::shmem::ObjectKind;

use super::super::spaces::Space;
use crate::held::DELETED;

/// Why a descriptor is worth a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Candidate {
    /// Named like a file of the kernel's internal tmpfs.
    Internal,
    /// Its path leads into a file system in RAM.
    InRam,
    Graphics,
}

impl Candidate {
    pub fn of(path: &[u8], space: Option<&Space>) -> Option<Candidate> {
        match path {
            b"/dev/null" | b"/dev/zero" | b"/dev/random" | b"/dev/urandom" => None,
            _ if path.starts_with(b"/dev/dri/") => Some(Candidate::Graphics),
            _ if path.ends_with(DELETED) && internal_kind(path) != ObjectKind::Other => Some(Candidate::Internal),
            _ if path.first() == Some(&b'/') && space?.in_ram(path) => Some(Candidate::InRam),
            _ => None,
        }
    }
}

/// What a file of the kernel's internal tmpfs is, by the name the kernel gives it.
pub fn internal_kind(path: &[u8]) -> ObjectKind {
    let kinds: [(&[u8], ObjectKind); 5] = [
        (b"/memfd:", ObjectKind::Memfd),
        (b"/dev/zero", ObjectKind::SharedAnonymous),
        (b"/SYSV", ObjectKind::Segment),
        (b"/drm mm object", ObjectKind::Graphics),
        (b"/i915", ObjectKind::Graphics),
    ];
    kinds.iter().find(|(start, _)| path.starts_with(start)).map_or(ObjectKind::Other, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_descriptors_that_can_be_in_ram_are_looked_at() {
        let mut space = Space::default();
        space.points.insert(b"/".to_vec(), false);
        space.points.insert(b"/dev".to_vec(), true);
        let of = |path: &str| Candidate::of(path.as_bytes(), Some(&space));
        assert_eq!(of("socket:[3]"), None);
        assert_eq!(of("/net/dead (deleted)"), None);
        assert_eq!(of("/dev/null"), None);
        assert_eq!(of("/dev/x (deleted)"), Some(Candidate::InRam));
        assert_eq!(of("/memfd:x (deleted)"), Some(Candidate::Internal));
        assert_eq!(of("/memfd:x"), None, "a file of that name on a disk");
        assert_eq!(of("/dev/dri/card0"), Some(Candidate::Graphics));
        assert_eq!(Candidate::of(b"/dev/x", None), None);
    }
}
