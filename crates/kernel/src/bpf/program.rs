//! Instructions of the kernel's virtual machine, put together one by one (Documentation/bpf/standardization/instruction-set.rst).
//!
//! Only what the programs of this crate need. Register 10 is the frame, 1 to 5 are arguments, 0 is what a call returns, 6 to 9 survive calls.

use std::os::fd::{AsRawFd, OwnedFd};

/// One instruction, as the kernel lays it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    code: u8,
    /// Destination and source, four bits each.
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// A register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reg(pub u8);

/// What calls return.
pub const R0: Reg = Reg(0);
/// First argument of calls; the context when a program begins.
pub const R1: Reg = Reg(1);
/// Second argument.
pub const R2: Reg = Reg(2);
/// Third argument.
pub const R3: Reg = Reg(3);
/// Fourth argument.
pub const R4: Reg = Reg(4);
/// Survives calls.
pub const R6: Reg = Reg(6);
/// Survives calls.
pub const R7: Reg = Reg(7);
/// Survives calls.
pub const R8: Reg = Reg(8);
/// The end of the program's stack of 512 bytes.
pub const FRAME: Reg = Reg(10);

/// Functions of the kernel that a program may call (`enum bpf_func_id`, linux/bpf.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Helper {
    /// The value of a key of a map, or 0.
    MapLookup = 1,
    /// Gives a key of a map a value.
    MapUpdate = 2,
    /// Nanoseconds of CLOCK_MONOTONIC.
    KtimeGetNs = 5,
    /// The current task, the thread's id in the lower half.
    CurrentPidTgid = 14,
    /// The address of the current task.
    CurrentTask = 35,
    /// Copies kernel memory; gives zeros where there is none.
    ProbeReadKernel = 113,
    /// Room for a record, or 0.
    RingbufReserve = 131,
    /// Hands the record over.
    RingbufSubmit = 132,
}

/// A jump whose target is not known yet.
#[derive(Debug)]
#[must_use = "a jump needs a target"]
pub struct Jump(usize);

/// A program in the making. Jumps go forward, to its end; a loop has a bound that the verifier can see.
#[derive(Debug, Default)]
pub struct Assembler {
    out: Vec<Instruction>,
    to_end: Vec<usize>,
}

impl Assembler {
    fn push(&mut self, code: u8, to: Reg, from: Reg, offset: i16, immediate: i32) {
        let registers = if cfg!(target_endian = "little") { to.0 | from.0 << 4 } else { to.0 << 4 | from.0 };
        self.out.push(Instruction { code, registers, offset, immediate });
    }

    /// `to = from`.
    pub fn copy(&mut self, to: Reg, from: Reg) {
        self.push(0xbf, to, from, 0, 0);
    }

    /// `to = value`.
    pub fn set(&mut self, to: Reg, value: i32) {
        self.push(0xb7, to, R0, 0, value);
    }

    /// `to += value`.
    pub fn add(&mut self, to: Reg, value: i32) {
        self.push(0x07, to, R0, 0, value);
    }

    /// `to += from`.
    pub fn add_register(&mut self, to: Reg, from: Reg) {
        self.push(0x0f, to, from, 0, 0);
    }

    /// `to <<= bits`.
    pub fn shift_left(&mut self, to: Reg, bits: i32) {
        self.push(0x67, to, R0, 0, bits);
    }

    /// `to >>= bits`.
    pub fn shift_right(&mut self, to: Reg, bits: i32) {
        self.push(0x77, to, R0, 0, bits);
    }

    /// `to &= value`, its sign extended.
    pub fn and(&mut self, to: Reg, value: i32) {
        self.push(0x57, to, R0, 0, value);
    }

    /// `to = *(u64 *)(from + offset)`.
    pub fn load(&mut self, to: Reg, from: Reg, offset: i16) {
        self.push(0x79, to, from, offset, 0);
    }

    /// `*(u64 *)(to + offset) = from`.
    pub fn store(&mut self, to: Reg, offset: i16, from: Reg) {
        self.push(0x7b, to, from, offset, 0);
    }

    /// `*(u32 *)(to + offset) = from`, its lower half.
    pub fn store_half(&mut self, to: Reg, offset: i16, from: Reg) {
        self.push(0x63, to, from, offset, 0);
    }

    /// `*(u64 *)(to + offset) = value`.
    pub fn store_value(&mut self, to: Reg, offset: i16, value: i32) {
        self.push(0x7a, to, R0, offset, value);
    }

    /// `*(u64 *)(to + offset) += from`, by all processors at once.
    pub fn add_atomically(&mut self, to: Reg, offset: i16, from: Reg) {
        self.push(0xdb, to, from, offset, 0);
    }

    /// `to` is the map.
    pub fn map(&mut self, to: Reg, map: &OwnedFd) {
        self.wide(to, 1, map);
    }

    /// `to` is the address of the only value of an array.
    pub fn only_value(&mut self, to: Reg, map: &OwnedFd) {
        self.wide(to, 2, map);
    }

    fn wide(&mut self, to: Reg, kind: u8, map: &OwnedFd) {
        self.push(0x18, to, Reg(kind), 0, map.as_raw_fd());
        self.push(0, R0, R0, 0, 0);
    }

    /// Calls a function of the kernel.
    pub fn call(&mut self, helper: Helper) {
        self.push(0x85, R0, R0, 0, helper as i32);
    }

    /// Goes over the next `n` instructions unless the register is 0.
    pub fn skip_unless_zero(&mut self, n: i16, register: Reg) {
        self.push(0x55, register, R0, n, 0);
    }

    /// Jumps, where the register is 0, to the place that [`Assembler::land`] names.
    pub fn jump_if_zero(&mut self, register: Reg) -> Jump {
        self.push(0x15, register, R0, 0, 0);
        Jump(self.out.len() - 1)
    }

    /// Jumps, where the registers differ, to the place that [`Assembler::land`] names.
    pub fn jump_if_unequal(&mut self, a: Reg, b: Reg) -> Jump {
        self.push(0x5d, a, b, 0, 0);
        Jump(self.out.len() - 1)
    }

    /// Jumps to the place that [`Assembler::land`] names.
    pub fn jump(&mut self) -> Jump {
        self.push(0x05, R0, R0, 0, 0);
        Jump(self.out.len() - 1)
    }

    /// The target of a jump is the next instruction.
    pub fn land(&mut self, Jump(from): Jump) {
        self.out[from].offset = i16::try_from(self.out.len() - from - 1).unwrap_or(i16::MAX);
    }

    /// Ends the program where the register is 0.
    pub fn end_if_zero(&mut self, register: Reg) {
        self.to_end.push(self.out.len());
        self.push(0x15, register, R0, 0, 0);
    }

    /// Ends the program where the registers are equal.
    pub fn end_if_equal(&mut self, a: Reg, b: Reg) {
        self.to_end.push(self.out.len());
        self.push(0x1d, a, b, 0, 0);
    }

    /// Ends the program unless `register` is below `bound`.
    pub fn end_unless_below(&mut self, register: Reg, bound: Reg) {
        self.to_end.push(self.out.len());
        self.push(0x3d, register, bound, 0, 0);
    }

    /// Where the next instruction will stand, for [`Assembler::repeat_while_below`].
    #[must_use]
    pub fn here(&self) -> usize {
        self.out.len()
    }

    /// Goes back to `begin` while `register` is below `bound`.
    pub fn repeat_while_below(&mut self, begin: usize, register: Reg, bound: i32) {
        let back = i16::try_from(self.out.len() + 1 - begin).unwrap_or(i16::MAX);
        self.push(0xa5, register, R0, -back, bound);
    }

    /// Ends the program.
    pub fn end(&mut self) {
        self.to_end.push(self.out.len());
        self.push(0x05, R0, R0, 0, 0);
    }

    /// `*(to + offset) = *from`, `length` bytes of kernel memory at the address in `from`, moved by `by`.
    pub fn read_kernel(&mut self, to: Reg, offset: i32, length: i32, from: Reg, by: i32) {
        self.copy(R3, from);
        self.add(R3, by);
        self.copy(R1, to);
        self.add(R1, offset);
        self.set(R2, length);
        self.call(Helper::ProbeReadKernel);
    }

    /// `to` is room for a record of so many bytes in the ring; where there is none, one more is counted as lost and the program ends.
    pub fn reserve(&mut self, to: Reg, ring: &OwnedFd, bytes: i32, lost: &OwnedFd) {
        self.map(R1, ring);
        self.set(R2, bytes);
        self.set(R3, 0);
        self.call(Helper::RingbufReserve);
        self.skip_unless_zero(5, R0);
        self.only_value(R1, lost);
        self.set(R2, 1);
        self.add_atomically(R1, 0, R2);
        self.end();
        self.copy(to, R0);
    }

    /// Hands the record over.
    pub fn submit(&mut self, record: Reg) {
        self.copy(R1, record);
        self.set(R2, 0);
        self.call(Helper::RingbufSubmit);
    }

    /// The whole program, with its end.
    #[must_use]
    pub fn finish(mut self) -> Vec<Instruction> {
        let end = self.out.len();
        for at in std::mem::take(&mut self.to_end) {
            self.out[at].offset = i16::try_from(end - at - 1).unwrap_or(i16::MAX);
        }
        self.set(R0, 0);
        self.push(0x95, R0, R0, 0, 0);
        self.out
    }
}

/// Fields of one structure that are read at once: where the first begins, and how many bytes to the end of the last.
#[derive(Debug)]
pub struct Block {
    begin: i32,
    length: i32,
    /// Where it is put on the program's stack.
    at: i32,
}

impl Block {
    /// The words at these offsets, put so far from the end of the stack.
    pub fn new(at: i32, words: &[i32]) -> Block {
        let begin = words.iter().copied().min().unwrap_or(0);
        let end = words.iter().copied().max().unwrap_or(0) + 8;
        Block { begin, length: end - begin, at }
    }

    /// Reads it from the structure whose address is in a register.
    pub fn read(&self, p: &mut Assembler, structure: Reg) {
        p.read_kernel(FRAME, self.at, self.length, structure, self.begin);
    }

    /// `to` is the word that is at `offset` in the structure.
    pub fn word(&self, p: &mut Assembler, to: Reg, offset: i32) {
        p.load(to, FRAME, i16::try_from(self.at + offset - self.begin).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_to_the_end_land_on_the_two_instructions_that_return_0() {
        let mut program = Assembler::default();
        program.end_if_zero(R1);
        program.copy(R6, R1);
        program.end();
        let made = program.finish();
        assert_eq!((made[0].code, made[0].offset), (0x15, 2));
        assert_eq!((made[2].code, made[2].offset), (0x05, 0));
        assert_eq!(made[3..].iter().map(|i| i.code).collect::<Vec<_>>(), [0xb7, 0x95]);
    }

    #[test]
    fn a_jump_lands_on_the_instruction_that_follows_its_target() {
        let mut program = Assembler::default();
        let jump = program.jump_if_zero(R1);
        program.set(R6, 1);
        program.set(R6, 2);
        program.land(jump);
        let made = program.finish();
        assert_eq!((made[0].code, made[0].offset), (0x15, 2));
    }

    #[test]
    fn a_loop_goes_back_to_the_instruction_it_began_with() {
        let mut program = Assembler::default();
        program.set(R7, 0);
        let begin = program.here();
        program.end_unless_below(R7, R1);
        program.add(R7, 1);
        program.repeat_while_below(begin, R7, 8);
        let made = program.finish();
        // From behind instruction 3 to instruction 1, and from behind 1 to the end at 4.
        assert_eq!((made[3].code, made[3].offset, made[3].immediate), (0xa5, -3, 8));
        assert_eq!((made[1].code, made[1].offset), (0x3d, 2));
    }
}
