//! Tar archives in the format of POSIX.1-1988 ("ustar"): a header of 512 bytes per file, then its bytes, padded.

/// Size of a block, bytes.
const BLOCK: usize = 512;
/// Longest name that fits into a header.
pub(super) const LONGEST_NAME: usize = 100;

/// Appends a file; owner, time and mode are always the same, so that the same contents give the same bytes.
///
/// `name` has at most [`LONGEST_NAME`] bytes, `contents` fewer than 8 GB.
pub(super) fn append(archive: &mut Vec<u8>, name: &str, contents: &[u8]) {
    let mut header = [0u8; BLOCK];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{:011o}\0", contents.len()).as_bytes());
    put(136, b"00000000000\0");
    // The checksum is taken with blanks in its own place.
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    archive.extend_from_slice(&header);
    archive.extend_from_slice(contents);
    archive.resize(archive.len().next_multiple_of(BLOCK), 0);
}

/// Ends an archive.
pub(super) fn finish(archive: &mut Vec<u8>) {
    archive.resize(archive.len() + 2 * BLOCK, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_whole_blocks_whose_headers_add_up() {
        let mut archive = Vec::new();
        append(&mut archive, "a.json", b"{}");
        append(&mut archive, "a.npz", &[7; 513]);
        finish(&mut archive);
        assert_eq!(archive.len(), BLOCK * (1 + 1 + 1 + 2 + 2));
        for at in [0, 2 * BLOCK] {
            let header = &archive[at..at + BLOCK];
            let told = std::str::from_utf8(&header[148..154]).unwrap();
            let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum::<u32>()
                - header[148..156].iter().map(|&byte| u32::from(byte)).sum::<u32>()
                + 8 * 32;
            assert_eq!(u32::from_str_radix(told, 8).unwrap(), sum);
        }
    }
}
