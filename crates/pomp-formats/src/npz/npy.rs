//! The header of an npy array, read without trusting a number in it.

/// Longer headers are not numpy's.
const MAX_HEADER: usize = 1 << 16;

/// Type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Float32,
    Float64,
    Int32,
    Int64,
    Bool,
    /// Code points per element.
    Unicode(usize),
    /// Bytes per element.
    Bytes(usize),
}

impl Element {
    fn of_descr(descr: &str) -> Option<Self> {
        match descr {
            "<f4" => return Some(Self::Float32),
            "<f8" => return Some(Self::Float64),
            "<i4" => return Some(Self::Int32),
            "<i8" => return Some(Self::Int64),
            "|b1" => return Some(Self::Bool),
            _ => {}
        }
        let length = |digits: &str| digits.parse().ok().filter(|&n: &usize| n > 0 && n < MAX_HEADER);
        match descr.split_at_checked(2)? {
            ("<U", digits) => length(digits).map(Self::Unicode),
            ("|S", digits) => length(digits).map(Self::Bytes),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Float32 | Self::Int32 => 4,
            Self::Float64 | Self::Int64 => 8,
            Self::Bool => 1,
            Self::Unicode(points) => 4 * points,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// An array whose shape agrees with its bytes.
#[derive(Clone, Debug)]
pub(super) struct NpyArray {
    pub shape: Vec<usize>,
    element: Element,
    data: Vec<u8>,
}

impl NpyArray {
    /// Parses a whole npy file; the error says what is wrong.
    pub fn parse(mut file: Vec<u8>) -> Result<Self, String> {
        let cut = || "the array is cut".to_owned();
        if file.get(..6) != Some(b"\x93NUMPY") {
            return Err("it is not in npy format".to_owned());
        }
        let word = |at: usize| file.get(at).map(|&byte| usize::from(byte)).ok_or_else(cut);
        let (length, start) = match word(6)? {
            1 => (word(8)? | (word(9)? << 8), 10),
            2 | 3 => (word(8)? | (word(9)? << 8) | (word(10)? << 16) | (word(11)? << 24), 12),
            version => {
                return Err(format!("npy version {version} is not known, save it with a current numpy"));
            }
        };
        if length > MAX_HEADER {
            return Err(format!("its header claims {length} bytes"));
        }
        let header = file.get(start..start + length).ok_or_else(cut)?;
        let header = std::str::from_utf8(header).map_err(|_| "its header is not text".to_owned())?;
        let (element, shape) = parse_header(header)?;
        let data = file.split_off(start + length);
        let expected = shape.iter().try_fold(element.bytes(), |product, &size| product.checked_mul(size));
        if expected != Some(data.len()) {
            return Err(format!(
                "its shape {shape:?} does not fit its {} bytes; the file may be cut",
                data.len()
            ));
        }
        Ok(Self { shape, element, data })
    }

    /// The elements as 32-bit floats; a value that is not finite is named by its indices.
    pub fn floats(&self) -> Result<Vec<f32>, String> {
        let values: Vec<f32> = match self.element {
            Element::Float32 => self.chunks().map(f32::from_le_bytes).collect(),
            Element::Float64 => self.chunks().map(|bytes| f64::from_le_bytes(bytes) as f32).collect(),
            Element::Int32 => self.chunks().map(|bytes| i32::from_le_bytes(bytes) as f32).collect(),
            Element::Int64 => self.chunks().map(|bytes| i64::from_le_bytes(bytes) as f32).collect(),
            Element::Bool | Element::Unicode(_) | Element::Bytes(_) => {
                return Err("it must hold numbers (float32)".to_owned());
            }
        };
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(at) => Err(format!("{} at {:?}", values[at], self.indices(at))),
        }
    }

    /// Whether the elements are floats and every one is NaN.
    pub fn is_all_nan(&self) -> bool {
        !self.data.is_empty()
            && match self.element {
                Element::Float32 => self.chunks().all(|bytes| f32::from_le_bytes(bytes).is_nan()),
                Element::Float64 => self.chunks().all(|bytes| f64::from_le_bytes(bytes).is_nan()),
                _ => false,
            }
    }

    /// The elements as booleans.
    pub fn booleans(&self) -> Result<Vec<bool>, String> {
        if self.element != Element::Bool {
            return Err("it must hold booleans".to_owned());
        }
        match self.data.iter().position(|&byte| byte > 1) {
            None => Ok(self.data.iter().map(|&byte| byte == 1).collect()),
            Some(at) => Err(format!("a boolean that is {} at {:?}", self.data[at], self.indices(at))),
        }
    }

    /// The elements as text.
    pub fn texts(&self) -> Result<Vec<String>, String> {
        let bad = |at: usize| format!("text that is not Unicode at {:?}", self.indices(at));
        match self.element {
            Element::Unicode(points) => self
                .data
                .chunks_exact(4 * points)
                .enumerate()
                .map(|(at, bytes)| {
                    let (words, _) = bytes.as_chunks::<4>();
                    let text: Option<String> =
                        words.iter().map(|&word| char::from_u32(u32::from_le_bytes(word))).collect();
                    text.map(|text| text.trim_end_matches('\0').to_owned()).ok_or_else(|| bad(at))
                })
                .collect(),
            Element::Bytes(length) => self
                .data
                .chunks_exact(length)
                .enumerate()
                .map(|(at, bytes)| {
                    let text = std::str::from_utf8(bytes).map_err(|_| bad(at))?;
                    Ok(text.trim_end_matches('\0').to_owned())
                })
                .collect(),
            _ => Err("it must hold text".to_owned()),
        }
    }

    fn chunks<const N: usize>(&self) -> impl Iterator<Item = [u8; N]> {
        self.data.as_chunks::<N>().0.iter().copied()
    }

    /// Indices of a flat position.
    fn indices(&self, flat: usize) -> Vec<usize> {
        let mut rest = flat;
        let mut indices: Vec<usize> = self
            .shape
            .iter()
            .rev()
            .map(|&size| {
                let index = rest % size.max(1);
                rest /= size.max(1);
                index
            })
            .collect();
        indices.reverse();
        indices
    }
}

fn parse_header(header: &str) -> Result<(Element, Vec<usize>), String> {
    let field = |key: &str| {
        let quoted = format!("'{key}':");
        header
            .find(&quoted)
            .map(|at| header[at + quoted.len()..].trim_start())
            .ok_or_else(|| format!("its header lacks {key}"))
    };
    let descr = field("descr")?;
    let descr = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(descr, _)| descr);
    let descr = descr.ok_or_else(|| "its elements are records, which no array here has".to_owned())?;
    let element = Element::of_descr(descr)
        .ok_or_else(|| format!("its elements are {descr:?}; use float32, bool or text of fixed length"))?;
    if !field("fortran_order")?.starts_with("False") {
        return Err("it is in Fortran order; save numpy.ascontiguousarray of it".to_owned());
    }
    let shape = field("shape")?;
    let shape = shape.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(shape, _)| shape);
    let sizes: Option<Vec<usize>> = shape.and_then(|shape| {
        shape
            .split(',')
            .map(str::trim)
            .filter(|size| !size.is_empty())
            .map(|size| size.parse().ok())
            .collect()
    });
    sizes.map(|sizes| (element, sizes)).ok_or_else(|| "its header has no readable shape".to_owned())
}
