use super::problem::BvhProblem;
use crate::FormatError;

/// Cuts BVH text into tokens and knows where each one stands.
///
/// Tokens are separated by white space; braces are tokens of their own; a line that starts with `#` or `//`
/// is a comment.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    file: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: usize,
    line_start: usize,
    /// Where the last value of the motion block begins.
    value_start: usize,
}

/// A piece of the text.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub text: &'a [u8],
    pub line: usize,
    pub column: usize,
}

impl Token<'_> {
    /// Whether the token is this keyword in any case.
    pub fn is(&self, keyword: &str) -> bool {
        self.text.eq_ignore_ascii_case(keyword.as_bytes())
    }
}

impl<'a> Scanner<'a> {
    pub fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        Self { file, bytes, at: 0, line: 1, line_start: 0, value_start: 0 }
    }

    /// Moves to the next byte that is neither white space nor in a comment; false at the end.
    fn skip_space(&mut self) -> bool {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b'\r' if self.bytes.get(self.at + 1) != Some(&b'\n') => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b if b.is_ascii_whitespace() || b == 0x0b => self.at += 1,
                b'#' | b'/' if self.starts_comment() => self.skip_line(),
                _ => return true,
            }
        }
        false
    }

    fn starts_comment(&self) -> bool {
        let first_on_line = self.bytes[self.line_start..self.at].iter().all(|b| is_space(*b));
        first_on_line && (self.bytes[self.at] == b'#' || self.bytes.get(self.at + 1) == Some(&b'/'))
    }

    fn skip_line(&mut self) {
        while self.bytes.get(self.at).is_some_and(|b| !matches!(b, b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> Token<'a> {
        let (start, line, column) = (self.at, self.line, self.at - self.line_start + 1);
        while self.bytes.get(self.at).is_some_and(|&b| keep(b)) {
            self.at += 1;
        }
        Token { text: &self.bytes[start..self.at], line, column }
    }

    /// The next token of the header: a word or a brace.
    pub fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space().then(|| self.word_or(|b| matches!(b, b'{' | b'}')))
    }

    /// The next token of the motion header: a word or a colon.
    pub fn next_or_colon(&mut self) -> Option<Token<'a>> {
        self.skip_space().then(|| self.word_or(|b| b == b':'))
    }

    /// The next value of the motion block, anything up to white space, as [`Self::number`] reads it.
    ///
    /// # Errors
    /// Those of [`Self::number`].
    pub fn next_number(&mut self) -> Result<Option<f64>, FormatError> {
        // Most numbers stand behind a single space.
        let behind_space = self.at + usize::from(self.bytes.get(self.at) == Some(&b' '));
        if let Some(value) = self.decimal_at(behind_space) {
            return Ok(Some(value));
        }
        if !self.skip_space() {
            return Ok(None);
        }
        if let Some(value) = self.decimal_at(self.at) {
            return Ok(Some(value));
        }
        self.value_start = self.at;
        let token = self.take_while(|b| !is_space(b));
        Ok(Some(self.number(token)?))
    }

    /// Reads the [`decimal`] that begins there, if there is one.
    fn decimal_at(&mut self, start: usize) -> Option<f64> {
        let (value, length) = decimal(self.bytes.get(start..)?)?;
        self.value_start = start;
        self.at = start + length;
        Some(value)
    }

    /// The line of the value that [`Self::next_number`] read last.
    pub fn value_line(&self) -> usize {
        self.line
    }

    /// The value that [`Self::next_number`] read last.
    pub fn value_token(&self) -> Token<'a> {
        let text = &self.bytes[self.value_start..self.at];
        Token { text, line: self.line, column: self.value_start - self.line_start + 1 }
    }

    fn word_or(&mut self, single: impl Fn(u8) -> bool) -> Token<'a> {
        if single(self.bytes[self.at]) {
            let token = Token {
                text: &self.bytes[self.at..=self.at],
                line: self.line,
                column: self.at - self.line_start + 1,
            };
            self.at += 1;
            token
        } else {
            self.take_while(|b| !is_space(b) && !single(b))
        }
    }

    /// The rest of the line up to an opening brace, trimmed: a name, which may hold spaces and colons.
    pub fn rest_as_name(&mut self) -> Token<'a> {
        while self.bytes.get(self.at).is_some_and(|b| matches!(b, b' ' | b'\t')) {
            self.at += 1;
        }
        let token = self.take_while(|b| !matches!(b, b'\n' | b'\r' | b'{'));
        Token { text: token.text.trim_ascii_end(), ..token }
    }

    /// The next header token, which must be there.
    pub fn expect(&mut self, expected: &'static str) -> Result<Token<'a>, FormatError> {
        self.next().ok_or_else(|| self.ended(expected))
    }

    /// The next token of the motion header, which must be there.
    pub fn expect_or_colon(&mut self, expected: &'static str) -> Result<Token<'a>, FormatError> {
        self.next_or_colon().ok_or_else(|| self.ended(expected))
    }

    /// The error of a text that ends here.
    pub fn ended(&self, expected: &'static str) -> FormatError {
        let here = Token { text: b"", line: self.line, column: self.at - self.line_start + 1 };
        self.error(here, BvhProblem::Ended { expected })
    }

    /// The error of a token.
    pub fn error(&self, token: Token<'_>, problem: BvhProblem) -> FormatError {
        const SHOWN: usize = 60;
        let shown = &token.text[..token.text.len().min(SHOWN)];
        FormatError::Bvh {
            file: self.file.to_owned(),
            line: token.line,
            column: token.column,
            token: String::from_utf8_lossy(shown).into_owned(),
            problem,
        }
    }

    /// The finite number, within the range of `f32`, that a token spells.
    pub fn number(&self, token: Token<'_>) -> Result<f64, FormatError> {
        let value: f64 =
            fast_float2::parse(token.text).map_err(|_| self.error(token, BvhProblem::NotANumber))?;
        if value.abs() <= f64::from(f32::MAX) {
            Ok(value)
        } else {
            Err(self.error(token, BvhProblem::NotFinite))
        }
    }

    /// Length of the text, bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Most digits of [`decimal`]: every number of so many is an `f64`, and so is the power of ten that divides it.
const DIGITS: usize = 15;
const POWERS_OF_TEN: [f64; DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The value and length of the number that `text` begins with, as exporters write most: a minus or none, at most [`DIGITS`] digits, a
/// point among them or none, then white space or the end. It is the nearest `f64`, as the quotient of two exact numbers is (Clinger
/// 1990); `None` for any other text, which is read with care.
fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let mut at = usize::from(negative);
    let (mut digits, mut mantissa, mut point) = (0, 0_u64, None);
    while let Some(&byte) = text.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        } else if byte == b'.' && point.is_none() {
            point = Some(digits);
        } else if is_space(byte) {
            break;
        } else {
            return None;
        }
        at += 1;
    }
    if !(1..=DIGITS).contains(&digits) {
        return None;
    }
    let value = mantissa as f64 / POWERS_OF_TEN[digits - point.unwrap_or(digits)];
    Some((if negative { -value } else { value }, at))
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_plain_decimal_is_read_to_the_bits_of_the_general_parser_or_left_to_it() {
        let left =
            ["", "-", ".", "-.", "+1", "1e3", "1,5", "0x1", "1.2.3", "nan", "1234567890123456", "--1", "1-"];
        for text in left {
            assert_eq!(decimal(text.as_bytes()), None, "{text:?}");
        }
        for text in ["-0.000000", "0", "-7", "5.", ".5", "-.25", "123456789.012345", "999999999999999"] {
            let (value, length) = decimal(text.as_bytes()).expect(text);
            let general: f64 = fast_float2::parse(text).expect(text);
            assert_eq!((value.to_bits(), length), (general.to_bits(), text.len()), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_number_is_read_to_the_same_bits_and_ends_where_its_token_does(
            text in "-?[0-9]{0,9}[.]?[0-9]{0,9}([eE][-+]?[0-9]{1,2})?",
            after in "[ \t\r\n]{0,2}",
        ) {
            if let Some((value, length)) = decimal(format!("{text}{after}").as_bytes()) {
                let general: f64 = fast_float2::parse(&text).expect("what is read is a number");
                prop_assert_eq!((value.to_bits(), length), (general.to_bits(), text.len()));
            }
        }
    }
}
