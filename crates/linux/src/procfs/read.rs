//! What the parsers of `/proc` share: whole files, rows, and numbers with their place in errors.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use freehold::MAX_ORDERS;
use freehold_trace::ByOrder;

use crate::error::{Error, ParseError};

/// The size of the largest text file that is read; a large zoneinfo has some MB.
const MAX_TEXT_BYTES: u64 = 256 << 20;

/// The frames in 64 bits of addresses, at 4 KiB each.
pub(super) const MAX_FRAMES: u64 = 1 << 52;

/// What the user can do if a file of the kernel's does not parse.
pub(super) const REPORT: &str = "Check that the file is a whole copy; if the kernel itself prints it so, report it with the kernel's version";

/// Fails if a file is a pipe, a device or a socket: opening a pipe without a writer would wait for ever,
/// and a device may never end.
pub(crate) fn refuse_special(path: &Path) -> Result<(), Error> {
    let kind = fs::metadata(path).map_err(|e| Error::io("read", path, e))?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    let what = io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, a device or a socket");
    Err(Error::io("read", path, what))
}

/// Reads a whole text file of a machine's root.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    refuse_special(path)?;
    read_given_text(path)
}

/// Returns what `parse` makes of a file below `root`, or the default if the file is missing or access is
/// refused.
pub(super) fn optional<T: Default>(
    root: &Path,
    file: &str,
    parse: fn(&str) -> Result<T, ParseError>,
) -> Result<T, Error> {
    let path = root.join(file);
    match read_text(&path) {
        Ok(text) => parse(&text).map_err(|e| e.in_file(&path, REPORT)),
        Err(error) if error.is_closed_or_missing() => Ok(T::default()),
        Err(error) => Err(error),
    }
}

/// Reads a whole text file that the user named. It may be a pipe.
pub(super) fn read_given_text(path: &Path) -> Result<String, Error> {
    let file = fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    String::from_utf8(bytes)
        .map_err(|_| ParseError::new(0, "text", "bytes that are not UTF-8").in_file(path, REPORT))
}

/// Returns the rows of a text, numbered from 1.
///
/// Fails if the last row has no line break: the text is then cut off, and its last number may be too
/// small.
pub(super) fn rows(text: &str) -> Result<impl Iterator<Item = (u64, &str)>, ParseError> {
    if text.is_empty() || text.ends_with('\n') {
        return Ok((1..).zip(text.lines()));
    }
    let last = text.lines().last().unwrap_or("");
    Err(ParseError::new(text.lines().count() as u64, LINE_BREAK, last))
}

/// What a text must end with, and what to do if it does not.
pub(super) const LINE_BREAK: &str =
    "a line break at the end (the text may be cut; add one if its last line is whole)";

/// Returns the rows of a text that a person may have copied, numbered from 1 and without the `>` of quoted mail.
///
/// A last row without a line break counts if `is_whole` says that nothing of it can be missing. Otherwise it is an error, as in
/// [`rows`].
pub(super) fn copied_rows(
    text: &str,
    is_whole: fn(&str) -> bool,
) -> Result<impl Iterator<Item = (u64, &str)>, ParseError> {
    let last = text.lines().last().unwrap_or("");
    if !text.is_empty() && !text.ends_with('\n') && !is_whole(last) {
        return Err(ParseError::new(text.lines().count() as u64, LINE_BREAK, last));
    }
    Ok((1..).zip(text.lines().map(unquoted)))
}

/// Returns true if a row of counts is whole: the kernel prints a blank after each count.
pub(super) fn ends_with_blank(row: &str) -> bool {
    row.ends_with(' ')
}

/// Returns a row without the marks that a mail program puts before quoted lines.
fn unquoted(row: &str) -> &str {
    let mut rest = row;
    while let Some(inner) = rest.strip_prefix('>') {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    rest
}

/// Parses the number in `token`.
pub(super) fn number(line: u64, what: &str, token: Option<&str>) -> Result<u64, ParseError> {
    let token = token.unwrap_or("");
    token.parse().map_err(|_| ParseError::new(line, format!("{what} (a number)"), token))
}

/// Returns the number of free blocks of each order in `words`.
///
/// `number_of` parses one word. More pages than [`MAX_FRAMES`] are an error, so that sums fit in 64 bits.
pub(super) fn free_by_order<T: Copy + Default>(
    line: u64,
    words: &str,
    number_of: impl Fn(&str) -> Result<(T, u64), ParseError>,
) -> Result<ByOrder<T>, ParseError> {
    let mut counts = [T::default(); MAX_ORDERS];
    let mut orders = 0;
    for word in words.split_ascii_whitespace() {
        let Some(count) = counts.get_mut(orders) else {
            return Err(ParseError::new(line, format!("at most {MAX_ORDERS} orders"), words));
        };
        let blocks;
        (*count, blocks) = number_of(word)?;
        if blocks > MAX_FRAMES >> orders {
            return Err(ParseError::new(line, "free blocks within the address space", word));
        }
        orders += 1;
    }
    ByOrder::from_values(&counts[..orders])
        .ok_or_else(|| ParseError::new(line, "free blocks by order", words))
}

/// Fails if a row has fewer or more orders than the rows before it.
pub(super) fn same_orders<T>(
    known: &mut Option<usize>,
    counts: &ByOrder<T>,
    line: u64,
    row: &str,
) -> Result<(), ParseError> {
    let expected = *known.get_or_insert(counts.len());
    if counts.len() == expected {
        return Ok(());
    }
    Err(ParseError::new(line, format!("{expected} orders, as in the rows before"), row))
}

/// Parses `Node 0, zone      DMA`; returns the node, the zone and the rest.
pub(super) fn node_and_zone(line: u64, text: &str) -> Result<(u32, &str, &str), ParseError> {
    let wrong = || ParseError::new(line, "`Node N, zone NAME`", text);
    let rest = text.strip_prefix("Node").ok_or_else(wrong)?;
    let (node, rest) = rest.split_once(',').ok_or_else(wrong)?;
    let node = node.trim().parse().map_err(|_| wrong())?;
    let rest = rest.trim_start().strip_prefix("zone").ok_or_else(wrong)?.trim_start();
    let end = rest.find([' ', ',', '\t']).unwrap_or(rest.len());
    // The name is printed to terminals and must be plain ASCII.
    if end == 0 || !rest[..end].bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong());
    }
    Ok((node, &rest[..end], &rest[end..]))
}

/// Returns the error for a row that occurs twice.
pub(super) fn twice(line: u64, row: &str) -> ParseError {
    ParseError::new(line, "each zone's row once", row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_its_end_is_an_error() {
        assert_eq!(rows("a\nb\n").unwrap().collect::<Vec<_>>(), [(1, "a"), (2, "b")]);
        assert_eq!(rows("").unwrap().count(), 0);
        let error = rows("pgfree 1234\npgalloc 12").map(Iterator::count).unwrap_err();
        assert_eq!((error.line, error.found.as_str()), (2, "pgalloc 12"));
    }

    #[test]
    fn a_copied_last_row_counts_if_it_is_whole() {
        let read = |text| copied_rows(text, ends_with_blank).map(Iterator::collect::<Vec<_>>);
        assert_eq!(read("a 1 \nb 2 ").unwrap(), [(1, "a 1 "), (2, "b 2 ")]);
        assert_eq!(read("> > a 1\n>\n>b\n").unwrap(), [(1, "a 1"), (2, ""), (3, "b")]);
        assert!(read("a 1 \nb 2").unwrap_err().expected.contains("add one"));
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn a_name_that_would_steer_a_terminal_is_refused_and_quoted_without_doing_so() {
        assert_eq!(node_and_zone(1, "Node 0, zone DMA32 7").unwrap(), (0, "DMA32", " 7"));
        let error = node_and_zone(1, "Node 0, zone DMA\u{1b}]0;x\u{7} 7").unwrap_err();
        assert_eq!(error.found, "Node 0, zone DMA\u{fffd}]0;x\u{fffd} 7");
    }

    #[test]
    fn more_pages_than_addresses_are_an_error() {
        let parse = |words: &str| free_by_order(7, words, |word| number(7, "n", Some(word)).map(|n| (n, n)));
        assert_eq!(parse("1 2").unwrap()[..], [1, 2]);
        assert!(parse(&format!("{MAX_FRAMES}")).is_ok() && parse(&format!("0 {MAX_FRAMES}")).is_err());
        assert_eq!(parse(&"1 ".repeat(19)).unwrap().len(), 19);
        assert!(parse(&"1 ".repeat(20)).unwrap_err().expected.contains("at most 19 orders"));
        assert!(parse(" ").is_err());
    }
}
