//! Apache Thrift's compact protocol: as much of it as the metadata of a Parquet file needs.

/// Kind of a field or of the items of a list.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// A structure that is being written.
#[derive(Default)]
pub(super) struct Compact {
    bytes: Vec<u8>,
    /// Number of the last field written.
    last: u8,
}

impl Compact {
    pub fn i32(&mut self, field: u8, value: i32) {
        self.header(field, Kind::I32);
        self.zigzag(i64::from(value));
    }

    pub fn i64(&mut self, field: u8, value: usize) {
        self.header(field, Kind::I64);
        self.zigzag(i64::try_from(value).expect("sizes of what is in memory fit 63 bits"));
    }

    pub fn text(&mut self, field: u8, text: &str) {
        self.header(field, Kind::Binary);
        self.bare_text(text);
    }

    pub fn structure(&mut self, field: u8, structure: Self) {
        self.header(field, Kind::Struct);
        self.bytes.extend(structure.finish());
    }

    pub fn structures(&mut self, field: u8, items: Vec<Self>) {
        self.list(field, Kind::Struct, items.len());
        self.bytes.extend(items.into_iter().flat_map(Self::finish));
    }

    pub fn texts(&mut self, field: u8, items: &[&str]) {
        self.list(field, Kind::Binary, items.len());
        items.iter().for_each(|text| self.bare_text(text));
    }

    pub fn i32s(&mut self, field: u8, items: &[i32]) {
        self.list(field, Kind::I32, items.len());
        items.iter().for_each(|&item| self.zigzag(i64::from(item)));
    }

    /// Ends the structure.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn header(&mut self, field: u8, kind: Kind) {
        debug_assert!(field > self.last && field - self.last < 16, "fields are written in order");
        self.bytes.push((field - self.last) << 4 | kind as u8);
        self.last = field;
    }

    fn list(&mut self, field: u8, kind: Kind, length: usize) {
        self.header(field, Kind::List);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind as u8);
        } else {
            self.bytes.push(0xf0 | kind as u8);
            varint(&mut self.bytes, length as u64);
        }
    }

    fn bare_text(&mut self, text: &str) {
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn zigzag(&mut self, value: i64) {
        varint(&mut self.bytes, ((value << 1) ^ (value >> 63)) as u64);
    }
}

/// Seven bits per byte, the lowest first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_texts_and_lists_are_those_of_the_specification() {
        let mut bytes = Vec::new();
        varint(&mut bytes, 300);
        assert_eq!(bytes, [0xac, 0x02]);
        let mut structure = Compact::default();
        structure.i32(1, -1);
        structure.text(4, "ab");
        structure.i32s(5, &[1; 15]);
        let expected = [&[0x15, 0x01, 0x38, 2, b'a', b'b', 0x19, 0xf5, 15][..], &[2; 15], &[0]].concat();
        assert_eq!(structure.finish(), expected);
    }
}
