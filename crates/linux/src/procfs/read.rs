//! What the parsers of `/proc` share: reading a file whole, and numbers with a place.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, ParseError};

/// The largest text file read whole; the largest real one is a zoneinfo of some MB.
const MAX_TEXT_BYTES: u64 = 256 << 20;

/// What to do when a file of the kernel's does not parse.
pub(super) const REPORT: &str = "Check that the file is a whole copy of the kernel's; if it is, report it, as this kernel's format is new";

/// Reads a text file whole.
pub(super) fn read_text(path: &Path) -> Result<String, Error> {
    let file = fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    String::from_utf8(bytes)
        .map_err(|_| ParseError::new(0, "text", "bytes that are not UTF-8").in_file(path, REPORT))
}

/// The number in `token`.
pub(super) fn number(line: u64, what: &str, token: Option<&str>) -> Result<u64, ParseError> {
    let token = token.unwrap_or("");
    token.parse().map_err(|_| ParseError::new(line, format!("{what} (a number)"), token))
}

/// The node and the zone in `Node 0, zone      DMA`, and what follows the zone's name.
pub(super) fn node_and_zone(line: u64, text: &str) -> Result<(u32, &str, &str), ParseError> {
    let wrong = || ParseError::new(line, "`Node N, zone NAME`", text);
    let rest = text.strip_prefix("Node").ok_or_else(wrong)?;
    let (node, rest) = rest.split_once(',').ok_or_else(wrong)?;
    let node = node.trim().parse().map_err(|_| wrong())?;
    let rest = rest.trim_start().strip_prefix("zone").ok_or_else(wrong)?.trim_start();
    let end = rest.find([' ', ',', '\t']).unwrap_or(rest.len());
    if end == 0 {
        return Err(wrong());
    }
    Ok((node, &rest[..end], &rest[end..]))
}
