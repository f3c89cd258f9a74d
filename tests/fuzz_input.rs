//! Inputs of the fuzz targets (`crates/*/tests/fuzz.rs`): arbitrary bytes, and valid examples with changes.
//!
//! `BOLERO_RANDOM_ITERATIONS` sets how many inputs a target runs; bolero prints the seed of an input that fails.

use bolero::TypeGenerator;

/// Inputs of a target in `cargo test`.
pub const ITERATIONS: usize = 2000;

/// Numbers at which readers overflow, run out of range or round.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "-0",
    "1",
    "2",
    "3",
    "255",
    "65536",
    "99999",
    "4294967295",
    "9999999999999",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "1e30",
    "3e38",
    "-3e38",
    "1e300",
    "1e-40",
    "nan",
];
/// The same as bytes of binary files.
const WORDS: [u64; 10] = [
    0,
    1,
    0x7f,
    0x7fc0_0000,
    0x7f80_0000,
    0xffff_ffff,
    0x7fff_ffff,
    1 << 63,
    0x7fff_ffff_ffff_fff0,
    u64::MAX,
];

/// What a target is given.
#[derive(Clone, Debug, TypeGenerator)]
pub struct FuzzInput {
    kind: u8,
    example: u16,
    #[generator(bolero::produce::<Vec<u8>>().with().len(0usize..400))]
    bytes: Vec<u8>,
    #[generator(bolero::produce::<Vec<Change>>().with().len(1usize..6))]
    changes: Vec<Change>,
}

/// One change of a valid example; places and lengths are taken modulo what is there.
#[derive(Clone, Debug, TypeGenerator)]
enum Change {
    Replace(u32, u8),
    Flip(u32, u8),
    Cut(u32),
    Delete(u32, u8),
    Repeat(u32, u32, u8),
    Overwrite(u32, u8, u8),
    Insert(u32, u8),
    Number(u32, u8),
    SmallNumber(u32, u8),
}

impl FuzzInput {
    /// Arbitrary bytes for one input in eight, otherwise one of the `examples` with one to five changes: for two in eight of
    /// its numbers alone, so that text stays what it is, for the others anywhere, some of which insert a word of the format's.
    pub fn bytes(&self, examples: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
        let kind = self.kind % 8;
        if kind == 0 {
            return self.bytes.clone();
        }
        let mut bytes = examples[self.choice(examples.len())].clone();
        for change in &self.changes {
            if kind < 3 {
                change.apply_to_number(&mut bytes);
            } else {
                change.apply(&mut bytes, words);
            }
        }
        bytes
    }

    /// A choice of the target's own, below `count`.
    pub fn choice(&self, count: usize) -> usize {
        usize::from(self.example) % count
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, words: &[&str]) {
        let length = bytes.len();
        if length == 0 {
            return;
        }
        let place = |at: u32| at as usize % length;
        let piece = |at: u32, count: u8| place(at)..(place(at) + usize::from(count)).min(length);
        match *self {
            Self::Replace(at, byte) => bytes[place(at)] = byte,
            Self::Flip(at, bit) => bytes[place(at)] ^= 1 << (bit % 8),
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Delete(at, count) => drop(bytes.drain(piece(at, count))),
            Self::Repeat(from, to, count) => {
                let copy = bytes[piece(from, count)].to_vec();
                bytes.splice(place(to)..place(to), copy);
            }
            Self::Overwrite(at, word, width) => {
                let word = WORDS[usize::from(word) % WORDS.len()].to_le_bytes();
                let range = piece(at, [1, 2, 4, 8][usize::from(width) % 4]);
                let count = range.len();
                bytes[range].copy_from_slice(&word[..count]);
            }
            Self::Insert(at, word) => {
                let word = words.get(usize::from(word) % words.len().max(1)).copied().unwrap_or(" ");
                bytes.splice(place(at)..place(at), word.bytes());
            }
            Self::Number(which, number) => {
                replace_number(bytes, which, NUMBERS[usize::from(number) % NUMBERS.len()]);
            }
            Self::SmallNumber(which, number) => replace_number(bytes, which, &(number % 32).to_string()),
        }
    }

    /// A number in place of another, whatever kind of change it is.
    fn apply_to_number(&self, bytes: &mut Vec<u8>) {
        let (which, number) = match *self {
            Self::Number(which, number) => (which, Some(number)),
            Self::Cut(which) => (which, None),
            Self::Replace(which, small)
            | Self::Flip(which, small)
            | Self::Delete(which, small)
            | Self::Repeat(which, _, small)
            | Self::Overwrite(which, small, _)
            | Self::Insert(which, small)
            | Self::SmallNumber(which, small) => {
                return replace_number(bytes, which, &(small % 32).to_string());
            }
        };
        replace_number(
            bytes,
            which,
            number.map_or("0", |number| NUMBERS[usize::from(number) % NUMBERS.len()]),
        );
    }
}

/// Writes `number` in place of the `which`-th run of digits, counted in a circle.
fn replace_number(bytes: &mut Vec<u8>, which: u32, number: &str) {
    let begins = |at: &usize| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[*at - 1].is_ascii_digit());
    let runs: Vec<usize> = (0..bytes.len()).filter(begins).collect();
    if let Some(&begin) = runs.get(which as usize % runs.len().max(1)) {
        let end = begin + bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        bytes.splice(begin..end, number.bytes());
    }
}

/// The result of `read`, which may hold at most `limit_mb` of memory at a time and take at most 20 s.
pub fn bounded<T>(limit_mb: u64, read: impl FnOnce() -> T) -> T {
    let (begun, mut result) = (std::time::Instant::now(), None);
    let memory = allocation_counter::measure(|| result = Some(read()));
    assert!(memory.bytes_max <= limit_mb << 20, "{} bytes are held at a time", memory.bytes_max);
    assert!(begun.elapsed().as_secs() < 20, "reading takes {:?}", begun.elapsed());
    result.expect("it was just read")
}
