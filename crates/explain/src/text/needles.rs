//! Words of which each line that matters outside of a report has one.

use memchr::memmem::Finder;

/// The words: of the first lines of reports, of lines that reports without a first line start with, and of kernel releases.
const WORDS: [&str; 23] = [
    "oom-kill",
    "page allocation",
    "vmalloc",
    "vmap allocation",
    "alloc failed, req-size",
    "PFNs busy",
    "allocation failed, size=",
    "is busy, retrying",
    ": allocating ",
    "to allocate memory on ",
    "mm/page_alloc.c:",
    "mm/util.c:",
    "mm/slab_common.c:",
    "mm/slub.c:",
    "emory: Kill",
    "emory allocations",
    "em-Info",
    "em-info",
    " free:",
    "Show Memory",
    "ainted",
    "Linux version",
    "oding: quoted-printable",
];

/// Finds the first of the words in blocks of text, and searches each byte once for each word.
pub(super) struct Needles {
    finders: Vec<Finder<'static>>,
    /// Where each word comes next in the block, or `None` if that is not known.
    next: Vec<Option<usize>>,
}

impl Needles {
    pub(super) fn new() -> Self {
        let finders = WORDS.iter().map(Finder::new).collect();
        Self { finders, next: vec![None; WORDS.len()] }
    }

    /// Forgets positions: the block has changed.
    pub(super) fn forget(&mut self) {
        self.next.fill(None);
    }

    /// Returns where the first word at or behind `from` is.
    pub(super) fn find(&mut self, block: &[u8], from: usize) -> Option<usize> {
        for (finder, next) in self.finders.iter().zip(&mut self.next) {
            if next.is_none_or(|at| at < from) {
                *next = Some(finder.find(&block[from..]).map_or(usize::MAX, |at| from + at));
            }
        }
        self.next.iter().flatten().copied().min().filter(|&at| at != usize::MAX)
    }
}

/// The longest word. Units: bytes.
pub(super) const LONGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_order() {
        let mut needles = Needles::new();
        let block = b"x Mem-Info:\nb Tainted: G\na invoked oom-killer: a\nMem-Info:\n";
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = needles.find(block, from) {
            found.push(at);
            from = at + 1;
        }
        assert_eq!(found, [3, 15, 35, 50]);
        assert!(WORDS.iter().all(|word| word.len() <= LONGEST));
    }
}
