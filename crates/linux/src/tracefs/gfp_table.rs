//! The running kernel's numbers of GFP flags.

use freehold::GfpFlags;

use super::cexpr::evaluate;
use super::format::FormatError;
use crate::procfs::release_numbers;

/// The first release whose flags are an enum. Some of its successors print flags as numbers (fixed in 6.13).
const FIRST_WITH_ENUM: (u32, u32) = (6, 10);

/// The names of the enum's bits, from the lowest.
const BIT_NAMES: [&str; 24] = [
    "DMA",
    "HIGHMEM",
    "DMA32",
    "MOVABLE",
    "RECLAIMABLE",
    "HIGH",
    "IO",
    "FS",
    "ZERO",
    "UNUSED",
    "DIRECT_RECLAIM",
    "KSWAPD_RECLAIM",
    "WRITE",
    "NOWARN",
    "RETRY_MAYFAIL",
    "NOFAIL",
    "NORETRY",
    "MEMALLOC",
    "COMP",
    "NOMEMALLOC",
    "HARDWALL",
    "THISNODE",
    "ACCOUNT",
    "ZEROTAGS",
];

/// Translates a kernel's flag bits into [`GfpFlags`].
#[derive(Clone, Debug)]
pub struct GfpTable {
    bits: [GfpFlags; 64],
}

impl GfpTable {
    /// Reads the names of the bits from the `print fmt` of `mm_page_alloc`.
    ///
    /// Only entries of a single bit are used; a bit without one becomes [`GfpFlags::UNKNOWN`].
    ///
    /// # Errors
    ///
    /// If there is no entry of a single bit.
    pub fn from_print_fmt(print_fmt: &str) -> Result<Self, FormatError> {
        let mut bits = [GfpFlags::UNKNOWN; 64];
        let mut named = 0;
        for (expression, name) in entries(print_fmt) {
            let Some(value) = evaluate(expression, &bit_by_name) else { continue };
            if !name.starts_with("__GFP_") || !value.is_power_of_two() {
                continue;
            }
            if let Some(flags) = GfpFlags::from_linux_name(name) {
                bits[value.trailing_zeros() as usize] = flags;
                named += 1;
            }
        }
        if named == 0 {
            return Err(FormatError("the print format of mm_page_alloc names no allocation flag".to_owned()));
        }
        Ok(Self { bits })
    }

    /// Returns the bits of a release, of Linux 6.10 and later; `None` for another, and if it is unknown.
    ///
    /// Bits that depend on the configuration become [`GfpFlags::UNKNOWN`].
    pub fn of_release(release: &str) -> Option<Self> {
        let numbers = release_numbers(release)?;
        if numbers < FIRST_WITH_ENUM {
            return None;
        }
        let mut bits = [GfpFlags::UNKNOWN; 64];
        for (bit, name) in bits.iter_mut().zip(BIT_NAMES) {
            *bit = GfpFlags::from_linux_name(&format!("__GFP_{name}")).unwrap_or(GfpFlags::UNKNOWN);
        }
        Some(Self { bits })
    }

    /// Translates the kernel's number into flags.
    pub fn translate(&self, raw: u64) -> GfpFlags {
        let mut left = raw;
        let mut flags = GfpFlags::empty();
        while left != 0 {
            flags |= self.bits[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        flags
    }
}

/// Returns the pairs of expression and name in `{expression, "NAME"}, …`.
fn entries(print_fmt: &str) -> impl Iterator<Item = (&str, &str)> {
    let list = print_fmt.split_once("__print_flags(").map_or("", |(_, rest)| rest);
    list.split('{').skip(1).filter_map(|entry| {
        let entry = entry.split_once('}')?.0;
        let (expression, name) = entry.rsplit_once(',')?;
        Some((expression, name.trim().trim_matches('"')))
    })
}

/// Returns the bit number of a flag in the kernel's enum (since 6.10), for kernels up to 6.12, which
/// print the enum's names in place of numbers. Bits behind `ZEROTAGS` depend on the configuration.
fn bit_by_name(name: &str) -> Option<u64> {
    let flag = name.strip_prefix("___GFP_")?.strip_suffix("_BIT")?;
    (0..).zip(BIT_NAMES).find(|(_, known)| *known == flag).map(|(bit, _)| bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FMT: &str = r#""gfp_flags=%s", (REC->gfp_flags) ? __print_flags(REC->gfp_flags, "|", {( unsigned long)((( gfp_t)(((((1UL))) << (10))|((((1UL))) << (11))))), "GFP_NOIO"}, {( unsigned long)(( gfp_t)(((((1UL))) << (10))|((((1UL))) << (11)))), "__GFP_RECLAIM"}, {( unsigned long)(( gfp_t)((((1UL))) << (6))), "__GFP_IO"}, {( unsigned long)(( gfp_t)((((1UL))) << (18))), "__GFP_COMP"}, {(unsigned long)(( gfp_t)((((1UL))) << (___GFP_HARDWALL_BIT))), "__GFP_HARDWALL"}, {(unsigned long)nonsense(), "__GFP_FS"}, { 0, ((void *)0) } ) : "none""#;

    #[test]
    fn bits_are_translated_by_name() {
        let table = GfpTable::from_print_fmt(FMT).unwrap();
        assert_eq!(table.translate(0), GfpFlags::empty());
        assert_eq!(table.translate(1 << 6 | 1 << 18), GfpFlags::IO | GfpFlags::COMP);
        assert_eq!(table.translate(1 << 20), GfpFlags::HARDWALL);
        assert_eq!(table.translate(1 << 7), GfpFlags::UNKNOWN);
        assert_eq!(table.translate(1 << 63), GfpFlags::UNKNOWN);
    }

    #[test]
    fn a_release_tells_the_bits_of_numbers() {
        let table = GfpTable::of_release("6.13.0").unwrap();
        let movable =
            ["GFP_HIGHUSER_MOVABLE", "__GFP_COMP"].map(|name| GfpFlags::from_linux_name(name).unwrap());
        assert_eq!(table.translate(0x14_0cca), movable[0] | movable[1]);
        assert_eq!(table.translate(1 << 40), GfpFlags::UNKNOWN);
        assert!(GfpTable::of_release("6.9.12").is_none() && GfpTable::of_release("").is_none());
    }

    #[test]
    fn a_format_without_names_is_an_error() {
        assert!(GfpTable::from_print_fmt("\"gfp_flags=%lx\", REC->gfp_flags").is_err());
    }
}
