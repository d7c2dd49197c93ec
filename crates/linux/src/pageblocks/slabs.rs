//! Reads the slabs of single pageblocks.

use std::path::Path;

use crate::error::Error;
use crate::procfs::{FrameWords, WORD_BYTES, kpf, words};

/// A slab, or the part of a slab in one pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slab {
    /// Its first frame in the pageblock.
    pub pfn: u64,
    /// Its pages in the pageblock.
    pub pages: u64,
}

/// Reads the slabs of the pageblocks that start at `start_pfns`, each of `pages` pages, from
/// `kpageflags`.
///
/// # Errors
/// If the file cannot be read.
pub fn read_slabs(root: &Path, start_pfns: &[u64], pages: u64) -> Result<Vec<Vec<Slab>>, Error> {
    let file = FrameWords::kpageflags(root)?;
    let mut bytes = vec![0; pages as usize * WORD_BYTES];
    let read = |start: u64, bytes: &mut [u8]| {
        let filled = file.read(start, bytes).map_err(|e| file.failed(e))?;
        Ok(slabs(words(&bytes[..filled]), start))
    };
    start_pfns.iter().map(|&start| read(start, &mut bytes)).collect()
}

fn slabs(flags: impl Iterator<Item = u64>, start_pfn: u64) -> Vec<Slab> {
    let mut slabs: Vec<Slab> = Vec::new();
    let mut inside = false;
    for (pfn, flags) in (start_pfn..).zip(flags) {
        let tail = flags & kpf::COMPOUND_TAIL != 0;
        if let (true, true, Some(slab)) = (tail, inside, slabs.last_mut()) {
            slab.pages += 1;
            continue;
        }
        inside = flags & (kpf::SLAB | kpf::BUDDY) == kpf::SLAB;
        if inside {
            slabs.push(Slab { pfn, pages: 1 });
        }
    }
    slabs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_recognised() {
        let (head, tail) = (kpf::SLAB | kpf::COMPOUND_HEAD, kpf::COMPOUND_TAIL);
        let words = [
            tail | kpf::SLAB,
            head,
            tail,
            tail,
            kpf::SLAB,
            kpf::LRU,
            kpf::LRU | kpf::COMPOUND_HEAD,
            tail,
            head,
        ];
        let found: Vec<_> = slabs(words.into_iter(), 512).iter().map(|s| (s.pfn - 512, s.pages)).collect();
        assert_eq!(found, [(0, 1), (1, 3), (4, 1), (8, 1)]);
    }
}
