//! How many blocks of which size a user needs.

use std::num::IntErrorKind;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use freehold_monitor::verdict::parse_bytes;

/// A number of blocks, such as `2M=500`. `2M` alone is one block, and `500` alone are blocks of the size of a huge
/// page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Need {
    /// The size of a block in bytes; `None` for that of the machine's huge pages.
    pub(crate) size: Option<u64>,
    /// The number of blocks.
    pub(crate) blocks: u64,
}

/// The numbers of blocks that a monitor watches.
#[derive(Args, Clone, Debug)]
pub(crate) struct Needs {
    /// The blocks that are needed, such as 2M=500; again for another size, or @FILE with a line for each.
    #[arg(long, value_name = "SIZE=BLOCKS")]
    pub(crate) need: Vec<NeedSource>,
}

/// A need, or a file of needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NeedSource {
    /// A need of the command line.
    Need(Need),
    /// A file with a need a line.
    File(PathBuf),
}

impl FromStr for NeedSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some("") => Err("a file after the @, such as @/etc/freehold/needs".to_owned()),
            Some(path) => Ok(Self::File(path.into())),
            None => text.parse().map(Self::Need),
        }
    }
}

impl Default for Need {
    fn default() -> Self {
        Self { size: None, blocks: 1 }
    }
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((size, blocks)) = text.split_once('=') {
            let size = parse_block_size(size)
                .map_err(|error| format!("write SIZE=BLOCKS, such as 2M=500: {error}"))?;
            return Ok(Self { size: Some(size), blocks: parse_blocks(blocks)? });
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Self { size: None, blocks: parse_blocks(text)? });
        }
        if text.starts_with('@') {
            return Err(
                "a file of needs is for serve, top, watch and snapshot; write SIZE=BLOCKS, such as 2M=500"
                    .to_owned(),
            );
        }
        let size =
            parse_block_size(text).map_err(|error| format!("write SIZE=BLOCKS, such as 2M=500: {error}"))?;
        Ok(Self { size: Some(size), blocks: 1 })
    }
}

/// Parses the size of a block. All units are powers of two, as in Linux's names for huge pages.
pub(super) fn parse_block_size(text: &str) -> Result<u64, String> {
    parse_bytes(text).ok_or_else(|| "a size above 0 with a unit, such as 64K, 2M, 32M or 1G".to_owned())
}

fn parse_blocks(text: &str) -> Result<u64, String> {
    let blocks: Result<u64, _> = text.parse();
    if blocks.as_ref().is_err_and(|error| *error.kind() == IntErrorKind::PosOverflow) {
        return Err("no machine has as many blocks".to_owned());
    }
    blocks.ok().filter(|&blocks| blocks > 0).ok_or("a number of blocks above 0, such as 2M=500".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_sizes_have_units_of_two() {
        for (text, bytes) in
            [("4096b", 4096), ("64k", 64 << 10), ("2M", 2 << 20), ("1 GiB", 1 << 30), ("2MB", 2 << 20)]
        {
            assert_eq!(parse_block_size(text), Ok(bytes));
        }
        for wrong in ["0", "2", "0M", "", "M", "-2M", "1.5G", "2X", "20000000T"] {
            assert!(parse_block_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_need_is_a_size_a_number_or_both() {
        for (text, size, blocks) in
            [("2M=500", Some(2 << 20), 500), ("1G", Some(1 << 30), 1), ("500", None, 500)]
        {
            assert_eq!(text.parse(), Ok(Need { size, blocks }));
        }
        for wrong in ["", "=", "2M=", "=500", "2M=0", "0", "2=5", "2M=-1", "2M=x", "-5"] {
            assert!(wrong.parse::<Need>().is_err(), "{wrong}");
        }
    }
}
