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
        Self { file, bytes, at: 0, line: 1, line_start: 0 }
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

    /// The next value of the motion block: anything up to white space.
    pub fn next_value(&mut self) -> Option<Token<'a>> {
        self.skip_space().then(|| self.take_while(|b| !is_space(b)))
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

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}
