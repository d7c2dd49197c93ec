//! The kernel's list of slab caches that cannot be reclaimed, of which it has printed the largest since 4.15.

use crate::text::digits;

/// The list, as far as it was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct SlabList {
    is_open: bool,
    /// The cache with the most memory, and that. Units: KiB.
    largest: Option<(String, u64)>,
}

impl SlabList {
    /// Takes the heading, or a row such as `kmalloc-64   12480512KB   12480640KB`. Returns true if a line is either.
    pub(super) fn take(&mut self, text: &str) -> bool {
        if text.starts_with("Unreclaimable slab info") {
            self.is_open = true;
            return true;
        }
        if !self.is_open {
            return false;
        }
        let mut words = text.split_whitespace();
        let (Some(name), Some(used), Some(total), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return false;
        };
        let kib = |word| digits(word).filter(|&(_, unit)| unit == "KB").map(|(kib, _)| kib);
        let Some((_, total)) = kib(used).zip(kib(total)) else { return name == "Name" && used == "Used" };
        if self.largest.as_ref().is_none_or(|(_, largest)| total > *largest) {
            self.largest = Some((name.chars().take(64).collect(), total));
        }
        true
    }

    /// Returns the cache with the most memory, and that. Units: KiB.
    pub(crate) fn largest(&self) -> Option<(&str, u64)> {
        self.largest.as_ref().map(|(name, kib)| (name.as_str(), *kib))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_cache_is_kept() {
        let mut list = SlabList::default();
        assert!(!list.take("kmalloc-64          12KB   13KB"));
        for line in [
            "Unreclaimable slab info:",
            "Name                      Used          Total",
            "kmalloc-2k                44KB         64KB",
            "kmalloc-64             12480KB      12640KB",
            "dentry                  1280KB       2040KB",
        ] {
            assert!(list.take(line), "{line}");
        }
        assert!(!list.take("Tasks state (memory values in pages):"));
        assert_eq!(list.largest(), Some(("kmalloc-64", 12640)));
    }
}
