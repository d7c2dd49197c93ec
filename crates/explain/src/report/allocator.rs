//! The list of the code that has allocated most, as kernels since 6.14 with allocation profiling print it.

use serde::Serialize;

use crate::text::digits;

/// Code that allocates.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Allocator {
    /// How much it has allocated, as printed: `12.3 MiB`, or bytes.
    pub(crate) size: String,
    /// How many pieces these are.
    pub(crate) pieces: u64,
    /// The file, the module and the function: `fs/inode.c:82 [xfs] func:alloc`.
    pub(crate) code: String,
}

impl Allocator {
    /// Reads `12.3 MiB 3280 mm/execmem.c:44 func:execmem_vmalloc`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let number = words.next().filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let mut next = words.next()?;
        let size = if let "B" | "KiB" | "MiB" | "GiB" | "TiB" | "kB" | "MB" | "GB" = next {
            let size = format!("{number} {next}");
            next = words.next()?;
            size
        } else {
            human_bytes(number.parse().ok()?)
        };
        let (pieces, _) = digits(next)?;
        let code: Vec<&str> = words.collect();
        let code: String = code.join(" ").chars().take(90).collect();
        code.contains("func:").then_some(Self { size: size.chars().take(20).collect(), pieces, code })
    }
}

/// Returns bytes in the unit that suits a reader.
fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let line = Allocator::read("    12.3 MiB     3280 mm/execmem.c:44 func:execmem_vmalloc").unwrap();
        assert_eq!(
            (line.size.as_str(), line.pieces, line.code.as_str()),
            ("12.3 MiB", 3280, "mm/execmem.c:44 func:execmem_vmalloc")
        );
        let line = Allocator::read(" 3176243200   247900 mm/slub.c:2264 [xfs] func:alloc").unwrap();
        assert_eq!((line.size.as_str(), line.pieces), ("3.0 GiB", 247_900));
        for other in ["", "1 2", "a b func:c", "1 MiB x func:c", "1 2 mm/slub.c:1"] {
            assert_eq!(Allocator::read(other), None, "{other}");
        }
    }
}
