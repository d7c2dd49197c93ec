//! Evaluates constant C expressions, as in `print fmt` lines.

/// The greatest depth of parentheses.
const MAX_DEPTH: u32 = 200;

/// Evaluates a constant C expression of integers, `( ) ~ - + | & ^ << >> * `, casts and `BIT(n)`.
///
/// `names` returns the values of identifiers. Returns `None` for any other syntax.
pub(super) fn evaluate(text: &str, names: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
    let mut parser = Parser { rest: text.as_bytes(), names, depth: 0 };
    let value = parser.binary(0)?;
    parser.skip_blanks();
    parser.rest.is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a [u8],
    names: &'a dyn Fn(&str) -> Option<u64>,
    depth: u32,
}

/// Binary operators with their precedence in C, loosest first.
const OPERATORS: [(&[u8], u8); 8] =
    [(b"<<", 4), (b">>", 4), (b"|", 1), (b"^", 2), (b"&", 3), (b"+", 5), (b"-", 5), (b"*", 6)];

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn eat(&mut self, token: &[u8]) -> bool {
        self.skip_blanks();
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest;
        true
    }

    /// Parses operators of precedence `least` or higher, by precedence climbing.
    fn binary(&mut self, least: u8) -> Option<u64> {
        let mut left = self.unary()?;
        loop {
            self.skip_blanks();
            let Some(&(token, strength)) = OPERATORS.iter().find(|(token, _)| self.rest.starts_with(token))
            else {
                return Some(left);
            };
            if strength < least {
                return Some(left);
            }
            self.rest = &self.rest[token.len()..];
            let right = self.binary(strength + 1)?;
            left = match token {
                b"<<" => left.checked_shl(u32::try_from(right).ok()?)?,
                b">>" => left.checked_shr(u32::try_from(right).ok()?)?,
                b"|" => left | right,
                b"^" => left ^ right,
                b"&" => left & right,
                b"+" => left.wrapping_add(right),
                b"-" => left.wrapping_sub(right),
                _ => left.wrapping_mul(right),
            };
        }
    }

    fn unary(&mut self) -> Option<u64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = if self.eat(b"~") {
            !self.unary()?
        } else if self.eat(b"-") {
            self.unary()?.wrapping_neg()
        } else if self.eat(b"+") {
            self.unary()?
        } else if self.eat(b"(") {
            if self.eat_cast() { self.unary()? } else { self.parenthesis()? }
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Some(value)
    }

    fn parenthesis(&mut self) -> Option<u64> {
        let value = self.binary(0)?;
        self.eat(b")").then_some(value)
    }

    /// Skips the rest of `(gfp_t)` or `( unsigned long)` after its opening, if an operand follows.
    /// Returns true if it did.
    fn eat_cast(&mut self) -> bool {
        let Some(end) = self.rest.iter().position(|&b| b == b')') else { return false };
        let (inside, after) = (&self.rest[..end], self.rest[end + 1..].trim_ascii_start());
        let words = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b' ' | b'*');
        let name = inside.trim_ascii();
        let is_type = name.iter().all(words) && name.first().is_some_and(|b| !b.is_ascii_digit());
        let operand_follows =
            after.first().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'(' | b'_' | b'~'));
        if is_type && operand_follows {
            self.rest = after;
        }
        is_type && operand_follows
    }

    fn atom(&mut self) -> Option<u64> {
        self.skip_blanks();
        let end = self
            .rest
            .iter()
            .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let word = std::str::from_utf8(word).ok()?;
        if matches!(word, "BIT" | "BIT_ULL") && self.eat(b"(") {
            let bit = self.parenthesis()?;
            return 1_u64.checked_shl(u32::try_from(bit).ok()?);
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) { integer(word) } else { (self.names)(word) }
    }
}

/// Parses `10`, `0x400u`, `1UL`, `017`.
fn integer(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8).ok()
    } else {
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<u64> {
        evaluate(text, &|name| (name == "___GFP_IO_BIT").then_some(6))
    }

    #[test]
    fn expressions_have_their_values() {
        assert_eq!(value("( unsigned long)(( gfp_t)((((1UL))) << (18)))"), Some(1 << 18));
        assert_eq!(value("(unsigned long)(((gfp_t)(0x400u|0x800u)) & ~(( gfp_t)0x800u))"), Some(0x400));
        assert_eq!(value("(( gfp_t)(((((1UL))) << (___GFP_IO_BIT))))"), Some(64));
        assert_eq!(value("BIT(3) | 1 << 2 + 1"), Some(8));
        assert_eq!(value("(__force unsigned long)1"), Some(1));
        assert_eq!(value("(2)"), Some(2));
        assert_eq!(value("-1"), Some(u64::MAX));
        assert_eq!(value("1 ^ 3 * 010"), Some(25));
    }

    #[test]
    fn what_is_no_constant_has_none() {
        for text in ["", "(", "1 +", "(gfp_t)", "REC->x", "UNKNOWN", "1 << 64", "1 ? 2 : 3", "9x"] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(value(&"(".repeat(100_000)), None);
        assert_eq!(value(&"~".repeat(100_000)), None);
    }
}
