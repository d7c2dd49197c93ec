//! Numbers behind names, as the kernel prints them.

use memchr::memchr2_iter;

/// Returns the text behind `key`, where `key` starts a word of its own. Matching ignores ASCII case.
pub(crate) fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let first = *key.as_bytes().first()?;
    let last = bytes.len().checked_sub(key.len())?;
    let is_inside_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts = |&at: &usize| {
        bytes[at..at + key.len()].eq_ignore_ascii_case(key.as_bytes())
            && (at == 0 || !is_inside_word(bytes[at - 1]))
    };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let at = memchr2_iter(lower, upper, &bytes[..=last]).find(starts)?;
    // A match of ASCII ends at the start of a character.
    text.get(at + key.len()..)
}

/// Returns the decimal number behind `key`, blanks between them skipped.
pub(crate) fn number(text: &str, key: &str) -> Option<u64> {
    digits(field(text, key)?.trim_start()).map(|(number, _)| number)
}

/// Returns the number of KiB behind `key`. A number without its unit counts as cut off, and as absent.
pub(crate) fn kib(text: &str, key: &str) -> Option<u64> {
    let (number, rest) = digits(field(text, key)?.trim_start())?;
    let unit = rest.as_bytes().get(..2)?;
    unit.eq_ignore_ascii_case(b"kb").then_some(number)
}

/// Returns the number that `text` starts with, and the text behind it.
pub(crate) fn digits(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_start_words() {
        let text = "DMA free:160kB free_pcp:0kB Free swap  = 12kB free_cma:7";
        assert_eq!((kib(text, "free:"), kib(text, "free_pcp:")), (Some(160), Some(0)));
        assert_eq!(
            (kib(text, "pcp:"), kib(text, "free_cma:"), number(text, "free_cma:")),
            (None, None, Some(7))
        );
        assert_eq!(kib(text, "Free swap  ="), Some(12));
        assert_eq!(number("", "free:"), None);
        assert_eq!(number("é free:3", "free:"), Some(3));
    }
}
