//! The kernel's own description of its types (BTF): at which offset a field of a structure is, and what an enumerator is worth.
//!
//! The format is that of the kernel's Documentation/bpf/btf.rst: a header, a section of types one behind the other, a section of names.
//!
//! ```no_run
//! use ramline_kernel::{Root, bpf::btf::Btf};
//! let btf = Btf::from_kernel(&Root::live())?;
//! println!("folio.index is at {}", btf.offset("folio", "index")?);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use crate::kernel_file::read_bytes;
use crate::prelude::*;

/// Where a kernel built with CONFIG_DEBUG_INFO_BTF shows it; every user may read it.
const FILE: &str = "/sys/kernel/btf/vmlinux";

const MAGIC: u16 = 0xeb9f;
// Kinds of types, linux/btf.h.
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const TYPEDEF: u32 = 8;
const RESTRICT: u32 = 11;
const ENUM64: u32 = 19;

/// The types of a kernel.
#[derive(Debug)]
pub struct Btf {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Where each type begins; type ids count from 1.
    types: Vec<usize>,
    names: usize,
}

/// The fixed part of a type.
#[derive(Debug, Clone, Copy)]
struct Type {
    at: usize,
    name: u32,
    kind: u32,
    members: u32,
    /// The members' offsets carry the size of a bit field in their upper byte.
    with_bit_fields: bool,
    /// The type it names, or its size.
    of: u32,
}

impl Btf {
    /// Reads the types of the running kernel.
    ///
    /// # Errors
    /// `Unsupported` where the kernel has none, or writes them in another form.
    pub fn from_kernel(root: &Root) -> Result<Btf> {
        let path = root.path(FILE);
        match read_bytes(&path) {
            Ok(bytes) => Btf::parse(&path, bytes),
            Err(error) if error.is_absent() => Err(KernelError::unsupported(
                "read the kernel's types from",
                &path,
                "this kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF)",
            )),
            Err(error) => Err(error),
        }
    }

    /// The types in these bytes; `path` is named in errors.
    ///
    /// # Errors
    /// `Unsupported` for another form, or types that end too early.
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Btf> {
        let mut btf = Btf { path: path.to_owned(), bytes, types: Vec::new(), names: 0 };
        match btf.index() {
            Some(()) => Ok(btf),
            None => Err(KernelError::unsupported("read the kernel's types from", path, "types in an unknown form")),
        }
    }

    fn index(&mut self) -> Option<()> {
        let magic = self.bytes.get(..2).map(|two| u16::from_ne_bytes([two[0], two[1]]))?;
        if magic != MAGIC {
            return None;
        }
        let field = |at| self.word(at).and_then(|word| usize::try_from(word).ok());
        let (header, first, length, names) = (field(4)?, field(8)?, field(12)?, field(16)?);
        let begin = header.checked_add(first)?;
        let end = begin.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        let names = header.checked_add(names).filter(|names| *names <= self.bytes.len())?;
        let (mut at, mut types) = (begin, Vec::with_capacity(length / 24));
        while at < end {
            types.push(at);
            let (kind, members) = kind_of(self.word(at + 4)?);
            let members = usize::try_from(members).ok()?;
            // What stands behind the twelve bytes that every type has.
            let more = match kind {
                1 | 14 | 17 => 4,
                3 => 12,
                STRUCT | UNION | 15 | ENUM64 => 12 * members,
                ENUM | 13 => 8 * members,
                2 | 7..=12 | 16 | 18 => 0,
                _ => return None,
            };
            at = at.checked_add(12 + more)?;
        }
        (self.types, self.names) = (types, names);
        (at == end).then_some(())
    }

    fn word(&self, at: usize) -> Option<u32> {
        let four = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
    }

    fn name(&self, offset: u32) -> &[u8] {
        let begin = usize::try_from(offset).ok().and_then(|offset| self.names.checked_add(offset));
        let rest = begin.and_then(|begin| self.bytes.get(begin..)).unwrap_or_default();
        rest.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    fn read(&self, at: usize) -> Option<Type> {
        let info = self.word(at + 4)?;
        let (kind, members) = kind_of(info);
        Some(Type { at, name: self.word(at)?, kind, members, with_bit_fields: info >> 31 == 1, of: self.word(at + 8)? })
    }

    fn by_id(&self, id: u32) -> Option<Type> {
        self.read(*self.types.get(usize::try_from(id).ok()?.checked_sub(1)?)?)
    }

    fn named(&self, name: &str, is_kind: impl Fn(u32) -> bool) -> Option<Type> {
        let fits = |found: &Type| is_kind(found.kind) && self.name(found.name) == name.as_bytes();
        self.types.iter().filter_map(|at| self.read(*at)).find(fits)
    }

    /// Where a member begins, in bytes. Members of anonymous structures and unions within belong to the structure.
    ///
    /// # Errors
    /// `Unsupported` where this kernel has no such structure or member.
    pub fn offset(&self, structure: &str, member: &str) -> Result<u32> {
        self.offset_if_any(structure, member).ok_or_else(|| {
            KernelError::unsupported("find", format!("{structure}.{member}"), "this kernel's types do not have it")
        })
    }

    /// The same, for what some kernels have.
    #[must_use]
    pub fn offset_if_any(&self, structure: &str, member: &str) -> Option<u32> {
        // Declarations without members have the name too.
        let found = self.types.iter().filter_map(|at| self.read(*at)).find(|found| {
            matches!(found.kind, STRUCT | UNION) && found.members > 0 && self.name(found.name) == structure.as_bytes()
        })?;
        self.member(found, member, 0, 8)
    }

    fn member(&self, of: Type, wanted: &str, base: u32, deepest: u32) -> Option<u32> {
        for n in 0..of.members {
            let at = of.at + 12 + 12 * usize::try_from(n).ok()?;
            let (name, id, place) = (self.word(at)?, self.word(at + 4)?, self.word(at + 8)?);
            let bits = if of.with_bit_fields { place & 0x00ff_ffff } else { place };
            let here = base.checked_add(bits / 8)?;
            if self.name(name) == wanted.as_bytes() {
                return Some(here);
            }
            let inner = self.name(name).is_empty().then(|| self.unqualified(id)).flatten();
            let inner = inner.filter(|inner| deepest > 0 && matches!(inner.kind, STRUCT | UNION));
            if let Some(found) = inner.and_then(|inner| self.member(inner, wanted, here, deepest - 1)) {
                return Some(found);
            }
        }
        None
    }

    /// Behind typedefs, const and volatile.
    fn unqualified(&self, id: u32) -> Option<Type> {
        let mut found = self.by_id(id)?;
        for _ in 0..16 {
            if !(TYPEDEF..=RESTRICT).contains(&found.kind) {
                return Some(found);
            }
            found = self.by_id(found.of)?;
        }
        None
    }

    /// What an enumerator is worth, of whatever enumeration.
    ///
    /// # Errors
    /// `Unsupported` where this kernel has none of that name.
    pub fn enumerator(&self, enumeration: &str, name: &str) -> Result<u32> {
        let found = self.named(enumeration, |kind| kind == ENUM).and_then(|found| {
            (0..found.members).find_map(|n| {
                let at = found.at + 12 + 8 * usize::try_from(n).ok()?;
                (self.name(self.word(at)?) == name.as_bytes()).then(|| self.word(at + 4)).flatten()
            })
        });
        found.ok_or_else(|| KernelError::unsupported("find", name, "this kernel's types do not have it"))
    }

    /// Whether the kernel has this tracepoint, for programs that attach to it directly.
    #[must_use]
    pub fn has_tracepoint(&self, name: &str) -> bool {
        self.named(&format!("btf_trace_{name}"), |kind| kind == TYPEDEF).is_some()
    }

    /// Where the types were read.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

const fn kind_of(info: u32) -> (u32, u32) {
    (info >> 24 & 0x1f, info & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `enum flags { A = 5 }`, `struct { int x }` without a name, `struct outer { int a; struct {int x}; }`, `typedef outer t`.
    fn bytes() -> Vec<u8> {
        let names = b"\0flags\0A\0outer\0a\0x\0int\0btf_trace_t\0";
        let name = |of: &str| {
            let found = names.windows(of.len() + 2).position(|w| w[0] == 0 && &w[1..=of.len()] == of.as_bytes());
            u32::try_from(found.unwrap() + 1).unwrap()
        };
        let info = |kind: u32, members: u32| kind << 24 | members;
        let mut types: Vec<u32> = vec![name("int"), info(1, 0), 4, 32];
        types.extend([name("flags"), info(ENUM, 1), 4, name("A"), 5]);
        types.extend([0, info(STRUCT, 1), 4, name("x"), 1, 0]);
        types.extend([name("outer"), info(STRUCT, 2), 12, name("a"), 1, 0, 0, 3, 64]);
        types.extend([name("btf_trace_t"), info(TYPEDEF, 0), 4]);
        let length = u32::try_from(types.len() * 4).unwrap();
        let mut out = Vec::from(MAGIC.to_ne_bytes());
        out.extend([1, 0]);
        let strings = u32::try_from(names.len()).unwrap();
        [24, 0, length, length, strings].iter().for_each(|word: &u32| out.extend(word.to_ne_bytes()));
        types.iter().for_each(|word| out.extend(word.to_ne_bytes()));
        out.extend(names);
        out
    }

    #[test]
    fn a_member_of_an_anonymous_structure_belongs_to_the_one_around_it() {
        let btf = Btf::parse(Path::new("x"), bytes()).unwrap();
        assert_eq!((btf.offset("outer", "a").unwrap(), btf.offset("outer", "x").unwrap()), (0, 8));
        assert_eq!(btf.enumerator("flags", "A").unwrap(), 5);
        assert!(btf.has_tracepoint("t") && !btf.has_tracepoint("u"));
        assert!(btf.offset("outer", "y").is_err() && btf.offset("inner", "a").is_err());
    }

    #[test]
    fn what_is_cut_off_or_garbage_is_refused_and_never_read_beyond() {
        let whole = bytes();
        for length in 0..whole.len() {
            if let Ok(btf) = Btf::parse(Path::new("x"), whole[..length].to_vec()) {
                let _ = (btf.offset_if_any("outer", "x"), btf.enumerator("flags", "A"));
            }
        }
        for at in 0..whole.len() {
            let mut odd = whole.clone();
            odd[at] ^= 0xff;
            if let Ok(btf) = Btf::parse(Path::new("x"), odd) {
                let _ = (btf.offset_if_any("outer", "x"), btf.enumerator("flags", "A"));
            }
        }
    }
}
