//! CRC32C (Castagnoli), eight bytes a step, with tables made by the compiler.

/// The polynomial 0x1EDC6F41, its bits reversed.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// `TABLES[k][b]`: the remainder of the byte `b` before `k` bytes of zeros.
static TABLES: [[u32; 256]; 8] = tables();

#[expect(clippy::cast_possible_truncation, reason = "an index of a table of 256")]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum of what was given before, and of these bytes after it; it begins with 0.
pub fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    let mut crc = !before;
    let mut eights = bytes.chunks_exact(8);
    for eight in &mut eights {
        let [a, b, c, d, e, f, g, h] = <[u8; 8]>::try_from(eight).unwrap_or_default();
        let [w, x, y, z] = (crc ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
        let of = |table: usize, byte: u8| TABLES[table][usize::from(byte)];
        crc = of(7, w) ^ of(6, x) ^ of(5, y) ^ of(4, z) ^ of(3, e) ^ of(2, f) ^ of(1, g) ^ of(0, h);
    }
    for byte in eights.remainder() {
        let [low, ..] = crc.to_le_bytes();
        crc = crc >> 8 ^ TABLES[0][usize::from(low ^ byte)];
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_of_rfc_3720() {
        assert_eq!(crc32c(0, b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(0, &[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(0, &[0xff; 32]), 0x62A8_AB43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(0, &ascending), 0x46DD_794E);
        assert_eq!(crc32c(crc32c(0, &ascending[..5]), &ascending[5..]), 0x46DD_794E);
    }
}
