//! Python pickles, protocol 2: as much of the format as dictionaries of numbers, lists and tensors need.
//!
//! The writers of pickles on crates.io (serde-pickle among them) serialise values; PyTorch's format needs what no value is:
//! globals that are called, and persistent ids, by which a tensor names the zip entry that holds its elements.

/// A pickle that is being written.
pub(super) struct Pickle {
    bytes: Vec<u8>,
}

impl Pickle {
    pub fn new() -> Self {
        Self { bytes: b"\x80\x02".to_vec() }
    }

    /// Ends the pickle: what was written last is what it holds.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(b'.');
        self.bytes
    }

    /// A dictionary; `entries` writes key and value in turn.
    pub fn dictionary(&mut self, entries: impl FnOnce(&mut Self)) {
        self.bytes.extend_from_slice(b"}(");
        entries(self);
        self.bytes.push(b'u');
    }

    /// A list of numbers.
    pub fn floats(&mut self, values: &[f32]) {
        self.list(|pickle| values.iter().for_each(|&value| pickle.float(f64::from(value))));
    }

    /// A list; `items` writes its items.
    pub fn list(&mut self, items: impl FnOnce(&mut Self)) {
        self.bytes.extend_from_slice(b"](");
        items(self);
        self.bytes.push(b'e');
    }

    /// A tuple; `items` writes its items.
    pub fn tuple(&mut self, items: impl FnOnce(&mut Self)) {
        self.bytes.push(b'(');
        items(self);
        self.bytes.push(b't');
    }

    pub fn text(&mut self, text: &str) {
        self.bytes.push(b'X');
        let length = u32::try_from(text.len()).expect("the texts of an export are short");
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub fn integer(&mut self, value: usize) {
        let value = i32::try_from(value).expect("the sizes of a recording fit 31 bits: it is in memory");
        self.bytes.push(b'J');
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub fn float(&mut self, value: f64) {
        self.bytes.push(b'G');
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub fn no(&mut self) {
        self.bytes.push(0x89);
    }

    /// A class or function of a module.
    pub fn global(&mut self, module: &str, name: &str) {
        self.bytes.push(b'c');
        self.bytes.extend_from_slice(format!("{module}\n{name}\n").as_bytes());
    }

    /// Makes the tuple that was written last into an object that is kept outside the pickle.
    pub fn persistent(&mut self) {
        self.bytes.push(b'Q');
    }

    /// Calls the function that was written before the last tuple with that tuple.
    pub fn call(&mut self) {
        self.bytes.push(b'R');
    }
}
