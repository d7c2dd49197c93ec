//! Sizes of blocks: an amount of bytes as an order, and in words.

use std::fmt;

use freehold_trace::ZoneSnapshot;
use thiserror::Error;

/// The largest order that a request may have: frame numbers have 52 bits at most.
const MOST_ORDER: u8 = 40;

/// An amount of bytes that is no size of a block on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Error, Debug)]
pub enum SizeError {
    /// It is no power of two times the size of a page.
    #[error(
        "{} is no power of two times this machine's page size of {}; the nearest {}",
        SizeText(*.bytes),
        SizeText(*.page_bytes),
        nearest(*.bytes, *.page_bytes)
    )]
    Between {
        /// The requested amount.
        bytes: u64,
        /// The size of a page.
        page_bytes: u64,
    },
    /// It exceeds every zone of the machine.
    #[error(
        "{} fits into no zone of this machine; the largest aligned block that does has {}",
        SizeText(*.bytes),
        SizeText(*.most)
    )]
    Large {
        /// The requested amount.
        bytes: u64,
        /// The largest size of an aligned block that fits into a zone.
        most: u64,
    },
}

/// Returns the pages of the largest aligned block that fits into one of the zones.
pub fn largest_range(zones: &[ZoneSnapshot]) -> u64 {
    let of_zone = |zone: &ZoneSnapshot| {
        let end = zone.start_pfn.saturating_add(zone.spanned);
        let fits = |order: &u8| {
            let pages = 1_u64 << order;
            zone.start_pfn
                .checked_next_multiple_of(pages)
                .is_some_and(|start| start.saturating_add(pages) <= end)
        };
        (0..=MOST_ORDER).rev().find(fits).map_or(0, |order| 1 << order)
    };
    zones.iter().map(of_zone).max().unwrap_or(0)
}

/// Returns the order of a block of `bytes` bytes on a machine whose largest aligned block has `largest` pages.
///
/// # Errors
/// [`SizeError`] if no block has that size.
pub fn order_of_size(bytes: u64, page_bytes: u64, largest: u64) -> Result<u8, SizeError> {
    let most = page_bytes << largest.checked_ilog2().unwrap_or(0).min(MOST_ORDER.into());
    if bytes > most {
        return Err(SizeError::Large { bytes, most });
    }
    if bytes < page_bytes || !bytes.is_power_of_two() {
        return Err(SizeError::Between { bytes, page_bytes });
    }
    Ok((bytes / page_bytes).ilog2() as u8)
}

/// Parses an amount of memory such as `24G`, `24 GiB`, `512 KB` or `4096b`. All units are powers of two, as in Linux's names for
/// huge pages. Returns `None` for 0, for a number without a unit, and for more than 64 bits hold.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let unit = unit.trim();
    let units = [("k", 10), ("m", 20), ("g", 30), ("t", 40)];
    let shift = units.iter().find_map(|(letter, shift)| {
        let rest = unit.strip_prefix(letter)?;
        ["", "b", "ib"].contains(&rest).then_some(*shift)
    });
    let shift: u32 = if unit == "b" { 0 } else { shift? };
    number.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}

fn nearest(bytes: u64, page_bytes: u64) -> String {
    let above = bytes.max(1).checked_next_power_of_two().unwrap_or(u64::MAX).max(page_bytes);
    let below = above / 2;
    if below < page_bytes {
        format!("size is {}", SizeText(above))
    } else {
        format!("sizes are {} and {}", SizeText(below), SizeText(above))
    }
}

/// Bytes in words: `2 MiB`, or `1025 bytes` where no larger unit is whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeText(pub u64);

impl fmt::Display for SizeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        match units.iter().find(|(shift, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift) {
            Some((shift, unit)) => write!(f, "{} {unit}", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

impl SizeText {
    /// Returns the size as options and labels have it: `64K`, `2M`, `1G`; bytes alone where no such unit is whole.
    pub fn short(self) -> String {
        let units = [(40, "T"), (30, "G"), (20, "M"), (10, "K")];
        match units.iter().find(|(shift, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift) {
            Some((shift, unit)) => format!("{}{unit}", self.0 >> shift),
            None => self.0.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_orders_by_the_page_size() {
        let order = |bytes, page| order_of_size(bytes, page, 6 << 18);
        assert_eq!(order(4096, 4096), Ok(0));
        assert_eq!(order(2 << 20, 4096), Ok(9));
        assert_eq!(order(2 << 20, 16384), Ok(7));
        assert_eq!(order(512 << 20, 65536), Ok(13));
        assert_eq!(order(1 << 30, 4096), Ok(18));
    }

    #[test]
    fn a_block_lies_in_one_zone() {
        let zone = |start_pfn, spanned| ZoneSnapshot { start_pfn, spanned, ..ZoneSnapshot::default() };
        let gib = 1 << 18;
        let zones = [zone(1, 4095), zone(4096, 4 * gib - 4096), zone(4 * gib, 20 * gib)];
        assert_eq!(largest_range(&zones), 8 * gib, "16 would begin at 16 and end at 32");
        assert_eq!(largest_range(&[zone(gib + 1, 3 * gib - 1)]), 2 * gib, "aligned in it");
        assert_eq!(largest_range(&[]), 0);
    }

    #[test]
    fn short_sizes_are_those_of_options() {
        let short = [64 << 10, 2 << 20, 1 << 30, 1025].map(|bytes| SizeText(bytes).short());
        assert_eq!(short, ["64K", "2M", "1G", "1025"]);
    }

    #[test]
    fn what_is_no_size_names_the_nearest() {
        let said = |bytes, page_bytes| order_of_size(bytes, page_bytes, 6 << 18).unwrap_err().to_string();
        assert!(said(3 << 20, 4096).ends_with(
            "3 MiB is no power of two times this machine's page size of \
                                              4 KiB; the nearest sizes are 2 MiB and 4 MiB"
        ));
        assert!(said(0, 4096).ends_with(
            "0 bytes is no power of two times this machine's page size of 4 KiB; \
                                        the nearest size is 4 KiB"
        ));
        assert!(said(4096, 16384).ends_with("is 16 KiB"));
        assert!(
            said(8 << 30, 4096).contains("8 GiB fits into no zone")
                && said(8 << 30, 4096).ends_with("has 4 GiB")
        );
        assert!(order_of_size(u64::MAX, 4096, u64::MAX).is_err());
    }
}
