//! The size of a page that a user names.

use super::need::parse_block_size;

/// The sizes that Linux has, from 4 KiB to 256 KiB.
const SIZES: std::ops::RangeInclusive<u64> = (4 << 10)..=(256 << 10);

/// Parses the size of a page.
pub(super) fn parse_page_size(text: &str) -> Result<u64, String> {
    let bytes = parse_block_size(text).ok().filter(|bytes| SIZES.contains(bytes) && bytes.is_power_of_two());
    bytes.ok_or_else(|| {
        "the size of a page is a power of two from 4K to 256K, such as 4K, 16K or 64K".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_sizes_of_linux() {
        assert_eq!((parse_page_size("4k"), parse_page_size("64KiB")), (Ok(4096), Ok(65536)));
        for wrong in ["2K", "512K", "12K", "64", "big"] {
            assert!(parse_page_size(wrong).is_err(), "{wrong}");
        }
    }
}
