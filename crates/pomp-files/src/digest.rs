use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

/// A SHA-256 hash: what files, settings and data are recognised by. It is displayed as 64 hexadecimal digits, lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The hash of bytes in memory.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The hash of a file, which is read piece by piece.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut hasher = Hasher::default();
        io::copy(&mut File::open(path)?, &mut hasher)?;
        Ok(hasher.finish())
    }

    /// The first 16 of the hexadecimal digits: a name that is short enough to read.
    pub fn short(&self) -> String {
        HEXLOWER.encode(&self.0[..8])
    }

    /// The first eight bytes as a number, the first byte the highest: what work is shared out by.
    pub fn number(&self) -> u64 {
        self.0.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// A hash that is being computed, of bytes that are given or written to it one after the other.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.update(bytes);
    }

    /// The hash of all that was added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_of_the_standard_however_the_bytes_come() {
        // The example of FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let digest = Digest::of("abc");
        assert_eq!(digest.to_string(), expected);
        assert_eq!(digest.short(), expected[..16]);
        assert_eq!(digest.number(), 0xba78_16bf_8f01_cfea);
        let mut hasher = Hasher::default();
        hasher.update("a");
        io::Write::write_all(&mut hasher, b"bc").expect("memory takes it");
        assert_eq!(hasher.finish(), digest);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "abc").expect("it is ours");
        assert_eq!(Digest::of_file(file.path()).expect("it is there"), digest);
    }
}
