//! Numbers in as few bytes as they need.

/// Reads numbers from bytes, one after the other; `None` once there are none.
#[derive(Debug, Clone, Copy)]
pub struct Numbers<'a> {
    bytes: &'a [u8],
}

impl<'a> Numbers<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Numbers { bytes }
    }

    pub const fn left(&self) -> usize {
        self.bytes.len()
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    /// The next number of LEB128; more than 64 bits are none.
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A length, then so many bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (these, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(these)
    }

    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

/// Appends a number as LEB128.
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Appends a length and so many bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A distance as a number that is small where the distance is: 0, -1, 1, -2, ...
pub const fn zigzag(distance: i64) -> u64 {
    (distance << 1 ^ distance >> 63).cast_unsigned()
}

/// The distance again.
#[inline]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_written_and_65_bits_are_none() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut out = Vec::new();
            put(&mut out, value);
            let mut numbers = Numbers::new(&out);
            assert_eq!((numbers.number(), numbers.left()), (Some(value), 0));
            assert_eq!(Numbers::new(&out[..out.len() - 1]).number(), None);
        }
        assert_eq!(Numbers::new(&[0xff; 12]).number(), None);
        let two_to_the_64 = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2];
        assert_eq!(Numbers::new(&two_to_the_64).number(), None);
    }

    #[test]
    fn distances_of_both_signs_are_small_numbers() {
        assert_eq!([0, -1, 1, -2, 2].map(zigzag), [0, 1, 2, 3, 4]);
        for distance in [0, 1, -1, i64::MAX, i64::MIN, 1 << 40] {
            assert_eq!(unzigzag(zigzag(distance)), distance);
        }
    }
}
