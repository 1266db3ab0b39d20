//! Who asked for memory: the first line of a report, and the flags of the request.

use super::fields::{between, clip, number_after};
use crate::prelude::*;

/// Zone modifiers of a request (linux/gfp_types.h): the low four bits, the same in every version since 2.6.32.
const DMA: u64 = 0x1;
const HIGHMEM: u64 = 0x2;
const DMA32: u64 = 0x4;
const MOVABLE: u64 = 0x8;
/// `__GFP_WAIT` up to Linux 4.3, where the flags are printed as a number only.
const OLD_WAIT: u64 = 0x10;

/// The flags of a request, as printed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Gfp {
    /// The number.
    pub bits: u64,
    /// Their names, where the kernel prints them (Linux 4.6).
    pub names: Option<String>,
}

impl Gfp {
    fn parse(text: &str) -> Option<Gfp> {
        let digits = text.trim_start_matches("0x");
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let bits = u64::from_str_radix(digits.get(..end)?, 16).ok()?;
        let names = digits
            .get(end..)?
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map(|(names, _)| clip(names, 200));
        Some(Gfp { bits, names: names.filter(|names| !names.is_empty()) })
    }

    /// No flags: no page was asked for, but a fault failed that a group had refused.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// A flag is named.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.as_deref().is_some_and(|names| names.split('|').any(|flag| flag == name))
    }

    /// Only the 16 MiB for old devices will do.
    #[must_use]
    pub const fn is_dma(&self) -> bool {
        self.bits & DMA != 0
    }

    /// Only the first 4 GiB will do.
    #[must_use]
    pub const fn is_dma32(&self) -> bool {
        self.bits & DMA32 != 0
    }

    /// High memory will do.
    #[must_use]
    pub const fn is_high(&self) -> bool {
        self.bits & HIGHMEM != 0
    }

    /// Movable memory, CMA too, will do.
    #[must_use]
    pub const fn is_movable(&self) -> bool {
        self.bits & MOVABLE != 0
    }

    /// It may not sleep, so it cannot reclaim.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        match &self.names {
            Some(_) => (self.has("GFP_ATOMIC") || self.has("GFP_NOWAIT")) && !self.has("__GFP_DIRECT_RECLAIM"),
            None => self.bits != 0 && self.bits & OLD_WAIT == 0 && self.bits < 0x40_0000,
        }
    }
}

/// The request that was not served.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trigger {
    /// The process that asked.
    pub name: String,
    /// Its number, from the CPU line.
    pub pid: Option<u32>,
    /// 2 to this power pages in one block; -1 is a kill by SysRq.
    pub order: Option<i32>,
    /// The flags.
    pub gfp: Option<Gfp>,
}

/// A line that begins a report of a kill: `NAME invoked oom-killer: gfp_mask=...`.
pub(super) fn invoked(text: &str) -> Option<Trigger> {
    let (name, rest) = text.split_once(" invoked oom-killer")?;
    (rest.is_empty() || rest.starts_with(':')).then_some(())?;
    Some(Trigger { name: clip(name.trim(), 64), pid: None, order: order(rest, "order="), gfp: mask(rest, "gfp_mask=") })
}

/// `NAME: page allocation failure: order:4, mode:0x40c40(...)`; older kernels have a point in place of the second colon.
pub(super) fn failure(text: &str) -> Option<Trigger> {
    let (name, rest) = text.split_once(": page allocation failure")?;
    let (order_mark, mode) = if rest.contains("order:") { ("order:", "mode:") } else { ("order=", "mode=") };
    Some(Trigger { name: clip(name.trim(), 64), pid: None, order: order(rest, order_mark), gfp: mask(rest, mode) })
}

/// `NAME: page allocation stalls for 12345ms, order:0, mode:...` (Linux 4.10 to 4.14), and how long.
pub(super) fn stall(text: &str) -> Option<(Trigger, u64)> {
    let (name, rest) = text.split_once(": page allocation stalls for ")?;
    let trigger =
        Trigger { name: clip(name.trim(), 64), pid: None, order: order(rest, "order:"), gfp: mask(rest, "mode:") };
    Some((trigger, number_after(text, "stalls for ")?))
}

fn order(text: &str, mark: &str) -> Option<i32> {
    let rest = text.split_once(mark)?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

fn mask(text: &str, mark: &str) -> Option<Gfp> {
    Gfp::parse(text.split_once(mark)?.1)
}

/// `CPU: 2 PID: 7 Comm: x Not tainted 5.15.0 #1`, `Pid: 7, comm: x Tainted: G 2.6.32`: the process, and the version of the kernel.
pub(super) fn cpu_line(text: &str) -> Option<(Option<u32>, Option<String>)> {
    let pid = match text.strip_prefix("CPU: ") {
        Some(rest) => number_after(rest, "PID: ")?,
        None => number_after(text.strip_prefix("Pid: ").map(|_| text)?, "Pid: ")?,
    };
    let version = text.split_whitespace().rev().find(|word| {
        let mut parts = word.split('.');
        let number =
            |part: Option<&str>| part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        number(parts.next())
            && number(parts.next())
            && parts.next().is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit() || c == 'x'))
    });
    Some((u32::try_from(pid).ok(), version.map(|version| clip(version, 100))))
}

/// The name of a function in a line of a stack: ` do_thing+0x1/0x2 [module]`, `[addr] [addr] do_thing+0x1`, `(do_thing) from [<addr>] (caller)`.
pub(super) fn function(text: &str) -> Option<&str> {
    if let Some((name, _)) = text.rsplit_once("+0x").and_then(|_| text.split_once("+0x")) {
        let name = name.rsplit([' ', '(', ')', ']']).next()?;
        return is_name(name).then_some(name);
    }
    let name = between(text, "(", ") from ")?;
    is_name(name).then_some(name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() < 80 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_from_every_form_of_its_line() {
        let seen = invoked(
            "tmux: server invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0",
        )
        .unwrap();
        let gfp = seen.gfp.unwrap();
        assert_eq!((seen.name.as_str(), seen.order), ("tmux: server", Some(0)));
        assert!(gfp.is_movable() && gfp.is_high() && !gfp.is_atomic());
        assert_eq!(invoked("a invoked oom-killer").unwrap().order, None);
        assert_eq!(invoked("a invoked oom-killer: gfp_mask=0xd0, order=-1").unwrap().order, Some(-1));
        let failed =
            failure("kworker/2:0: page allocation failure: order:0, mode:0x400000(GFP_NOWAIT), nodemask=(null)")
                .unwrap();
        assert!(failed.gfp.unwrap().is_atomic());
        assert!(failure("swapper: page allocation failure. order:1, mode:0x20").unwrap().gfp.unwrap().is_atomic());
        assert_eq!(stall("a: page allocation stalls for 10500ms, order:0, mode:0x1(x)").unwrap().1, 10500);
    }

    #[test]
    fn versions_and_functions_are_found_where_kernels_print_them() {
        let version = |text| cpu_line(text).unwrap().1.unwrap();
        assert_eq!(
            version("CPU: 1 UID: 0 PID: 7 Comm: a b Not tainted 6.12.0-211.el10.ppc64le #1 VOLUNTARY"),
            "6.12.0-211.el10.ppc64le"
        );
        assert_eq!(
            version("Pid: 1743, comm: sshd Tainted: G   --- H  2.6.32-279.9.1.el6.x86_64 #1"),
            "2.6.32-279.9.1.el6.x86_64"
        );
        assert_eq!(function(" ? try_charge_memcg+0xcd/0x870"), Some("try_charge_memcg"));
        assert_eq!(
            function("[c00000037540f730] [c00000000127ec44] dump_stack_lvl+0x88/0xc4 (unreliable)"),
            Some("dump_stack_lvl")
        );
        assert_eq!(
            function("[<c08b1b14>] (dump_stack) from [<c0547bf8>] (dump_header+0x54/0x1ec)"),
            Some("dump_header")
        );
        assert_eq!(function("RIP: 0033:0x7965df71a184"), None);
    }
}
