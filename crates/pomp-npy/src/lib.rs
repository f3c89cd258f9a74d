//! Arrays in npy format, read by npyz behind guards: npyz trusts the numbers of a header. It allocates as many bytes as the
//! header claims to have, multiplies the sizes of a shape until they overflow, and takes time that doubles with every list
//! inside a list.
//!
//! ```
//! let mut file = b"\x93NUMPY\x01\x00\x36\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n".to_vec();
//! # file[8] = (file.len() - 10) as u8;
//! file.extend(1.5f32.to_le_bytes());
//! let array = pomp_npy::NpyArray::parse(&file)?;
//! assert_eq!((&array.shape[..], array.floats()?), (&[1][..], &[1.5][..]));
//! # Ok::<(), String>(())
//! ```
//!
//! It reads plain arrays of numbers, booleans and text alone, and no archives: npz files are taken apart by its callers.

use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};

/// Most bytes of a header; those of numpy's plain arrays have 118.
const MAX_HEADER: usize = 1 << 10;
/// Most digits of a shape: numbers that have so many together have a product below 2⁶⁴.
const MAX_DIGITS: usize = 19;

#[derive(Clone, Debug)]
enum Values {
    Numbers(Vec<f32>),
    Booleans(Vec<bool>),
    Texts(Vec<String>),
}

/// An array whose shape agrees with its bytes.
#[derive(Clone, Debug)]
pub struct NpyArray {
    /// Its sizes, the slowest first.
    pub shape: Vec<usize>,
    /// What its elements are, as numpy writes it, such as `<f4`.
    pub kind: String,
    values: Values,
}

impl NpyArray {
    /// Parses a whole npy file.
    ///
    /// # Errors
    /// What is wrong, as the end of a sentence about the array.
    pub fn parse(file: &[u8]) -> Result<Self, String> {
        let bytes = file.len() - guarded_header(file)?;
        let array = NpyFile::new(file).map_err(|refusal| format!("its header cannot be read: {refusal}"))?;
        let DType::Plain(kind) = array.dtype() else {
            return Err("its elements are records, which no array here has".to_owned());
        };
        if array.order() != Order::C {
            return Err("it is in Fortran order; save numpy.ascontiguousarray of it".to_owned());
        }
        let unknown = || format!("its elements are {kind}; use float32, bool or text of fixed length");
        let size = kind.num_bytes().filter(|&size| size > 0).ok_or_else(unknown)?;
        let shape: Vec<usize> = array
            .shape()
            .iter()
            .map(|&size| usize::try_from(size).map_err(|_| format!("one of its sizes is {size}")))
            .collect::<Result<_, _>>()?;
        if shape.iter().try_fold(size, |product, &size| product.checked_mul(size)) != Some(bytes) {
            return Err(format!("its shape {shape:?} does not fit its {bytes} bytes; the file may be cut"));
        }
        let values = match (kind.type_char(), size) {
            (TypeChar::Float, 4) => Values::Numbers(read(array, &shape, |value: f32| value)?),
            (TypeChar::Float, 8) => Values::Numbers(read(array, &shape, |value: f64| value as f32)?),
            (TypeChar::Int, 4) => Values::Numbers(read(array, &shape, |value: i32| value as f32)?),
            (TypeChar::Int, 8) => Values::Numbers(read(array, &shape, |value: i64| value as f32)?),
            (TypeChar::Bool, _) => Values::Booleans(read(array, &shape, |value| value)?),
            (TypeChar::UnicodeStr | TypeChar::ByteStr, _) => {
                Values::Texts(read(array, &shape, |value| value)?)
            }
            _ => return Err(unknown()),
        };
        Ok(Self { shape, kind: kind.to_string(), values })
    }

    /// The elements as 32-bit floats; a value that is not finite is named by its indices.
    ///
    /// # Errors
    /// What the elements are not.
    pub fn floats(&self) -> Result<&[f32], String> {
        let values = self.numbers()?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(at) => Err(format!("{} at {:?}", values[at], indices(&self.shape, at))),
        }
    }

    /// The elements as 32-bit floats, finite or not.
    ///
    /// # Errors
    /// That they are no numbers.
    pub fn numbers(&self) -> Result<&[f32], String> {
        match &self.values {
            Values::Numbers(values) => Ok(values),
            _ => Err("it must hold numbers (float32)".to_owned()),
        }
    }

    /// Whether the elements are numbers and every one is NaN.
    pub fn is_all_nan(&self) -> bool {
        matches!(&self.values, Values::Numbers(values) if !values.is_empty() && values.iter().all(|value| value.is_nan()))
    }

    /// The elements as booleans.
    ///
    /// # Errors
    /// What the elements are not.
    pub fn booleans(&self) -> Result<&[bool], String> {
        match &self.values {
            Values::Booleans(values) => Ok(values),
            _ => Err("it must hold booleans".to_owned()),
        }
    }

    /// The elements as text.
    ///
    /// # Errors
    /// What the elements are not.
    pub fn texts(&self) -> Result<&[String], String> {
        match &self.values {
            Values::Texts(values) => Ok(values),
            _ => Err("it must hold text".to_owned()),
        }
    }
}

/// Where the header ends, when it is one that npyz may be given: short, a dictionary without lists, with one tuple of a
/// few digits.
fn guarded_header(file: &[u8]) -> Result<usize, String> {
    let cut = || "the array is cut".to_owned();
    if !file.starts_with(b"\x93NUMPY") {
        return Err("it is not in npy format".to_owned());
    }
    let (start, length) = match *file.get(6..12).ok_or_else(cut)? {
        [1, 0, a, b, ..] => (10, u32::from_le_bytes([a, b, 0, 0])),
        [2 | 3, 0, a, b, c, d] => (12, u32::from_le_bytes([a, b, c, d])),
        ref other => {
            return Err(format!(
                "npy version {}.{} is not known, save it with a current numpy",
                other[0], other[1]
            ));
        }
    };
    let length = length as usize;
    if length > MAX_HEADER {
        return Err(format!("its header claims {length} bytes"));
    }
    let header = file.get(start..start + length).ok_or_else(cut)?;
    if header.contains(&b'[') {
        return Err("its elements are records, which no array here has".to_owned());
    }
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" \n_',:{}()<>|=".contains(byte);
    let count = |wanted: u8| header.iter().filter(|&&byte| byte == wanted).count();
    let shape =
        header.split(|&byte| byte == b'(').nth(1).and_then(|rest| rest.split(|&byte| byte == b')').next());
    let Some(shape) = shape.filter(|_| header.iter().all(plain) && count(b'{') == 1 && count(b'(') == 1)
    else {
        return Err("its header is not that of a plain array".to_owned());
    };
    let digits = shape.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits > MAX_DIGITS || shape.iter().any(u8::is_ascii_alphabetic) {
        return Err(format!("its shape is ({})", String::from_utf8_lossy(shape)));
    }
    Ok(start + length)
}

/// All elements, converted; the shape agrees with the bytes, so their number is one that memory has room for.
fn read<T: Deserialize, U>(
    array: NpyFile<&[u8]>,
    shape: &[usize],
    convert: impl Fn(T) -> U,
) -> Result<Vec<U>, String> {
    let mut values = Vec::with_capacity(shape.iter().product());
    for (at, value) in array.data::<T>().map_err(|refusal| refusal.to_string())?.enumerate() {
        let value = value.map_err(|refusal| format!("{refusal} at {:?}", indices(shape, at)))?;
        values.push(convert(value));
    }
    Ok(values)
}

/// Indices of a flat position.
fn indices(shape: &[usize], flat: usize) -> Vec<usize> {
    let mut rest = flat;
    let mut indices: Vec<usize> = shape
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

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).expect("a test's header is short");
        [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], header.as_bytes(), data].concat()
    }

    #[test]
    fn numpys_plain_headers_pass_and_elements_are_read_as_they_are() {
        let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }   \n";
        let array = NpyArray::parse(&npy(header, &[3, 0, 0, 0, 255, 255, 255, 255])).expect("it is plain");
        assert_eq!((array.shape.as_slice(), array.floats()), (&[2, 1][..], Ok(&[3.0, -1.0][..])));
        let header = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }\n";
        assert_eq!(
            NpyArray::parse(&npy(header, b"ab\0")).expect("it is plain").texts(),
            Ok(&["ab".to_owned()][..])
        );
    }

    #[test]
    fn rejects_headers_that_would_make_the_parser_hang_overflow_or_allocate() {
        let lists = "[".repeat(60);
        for header in [
            format!("{{'descr': {lists}"),
            "(".repeat(900),
            "{".repeat(900),
            "-".repeat(900),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (0xffffffffffffffff, 0xffffffffffffffff), }"
                .to_owned(),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }".to_owned(),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999,), }".to_owned(),
            "{'descr': '|S0', 'fortran_order': False, 'shape': (9999999999999999,), }".to_owned(),
            "{'descr': '<U9999999999', 'fortran_order': False, 'shape': (1,), }".to_owned(),
            "{'descr': '\\x41', 'fortran_order': False, 'shape': (1,), }".to_owned(),
        ] {
            assert!(NpyArray::parse(&npy(&header, &[0; 8])).is_err(), "{header}");
        }
        let claims = [b"\x93NUMPY\x02\x00".to_vec(), u32::MAX.to_le_bytes().to_vec()].concat();
        assert!(NpyArray::parse(&claims).expect_err("no file has it").contains("4294967295 bytes"));
    }

    #[test]
    fn rejects_booleans_and_texts_that_are_none_with_their_place() {
        let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }\n";
        let error = NpyArray::parse(&npy(header, &[0, 1, 1, 2])).expect_err("2 is no boolean");
        assert!(error.ends_with("at [1, 1]"), "{error}");
        let header = "{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }\n";
        let error =
            NpyArray::parse(&npy(header, &[65, 0, 0, 0, 0, 0xd8, 0, 0])).expect_err("a half of a pair");
        assert!(error.ends_with("at [1]"), "{error}");
    }
}
