//! Reads `/proc/kpageflags` into pageblocks: all at once with several threads, or a part at a time.

use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use freehold_trace::ZoneSnapshot;

use super::fold::{RawBlock, fold};
use super::known::Known;
use super::map::{PageblockMap, Span, settle, spans};
use super::order::pageblock_order;
use super::unflagged::{Aside, PinnedFrames, Unflagged};
use crate::error::{Error, ParseError};
use crate::procfs::{FrameWords, WORD_BYTES, kpf, words};

/// Pages that each thread reads at a time: 256 KiB of words.
const CHUNK_PAGES: u64 = 1 << 15;

/// Reads `proc/kpageflags` below `root` into a record of every pageblock of `zones`, with `threads`
/// threads.
///
/// Memory blocks that the kernel does not have are not read, and of hugetlb pages one word for each pageblock where there are many.
///
/// Memory: 256 KiB a thread, 80 bytes a pageblock.
///
/// # Errors
///
/// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
pub fn read_pageblocks(
    root: &Path,
    zones: &[ZoneSnapshot],
    unflagged: Unflagged<'_>,
    threads: NonZero<usize>,
) -> Result<PageblockMap, Error> {
    let mut reader = PageblockReader::open(root, zones)?;
    let order = reader.pageblock_order;
    let (file, known) = (&reader.file, &reader.known);
    let in_chunk = chunk_blocks(order);
    let chunks = reader.spans.iter_mut().flat_map(|span| {
        let (start, end, base) = (span.start, span.end, span.base);
        span.blocks.chunks_mut(in_chunk).enumerate().map(move |(at, blocks)| {
            let base = base + ((at * in_chunk) as u64) * (1 << order);
            (Chunk { start, end, base }, blocks)
        })
    });
    let chunks = Mutex::new(chunks);
    let work = || -> io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((chunk, blocks)) = next else { return Ok(()) };
            chunk.read(file, known, order, unflagged, &mut buffer, blocks)?;
        }
    };
    let done = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads.get())
            // Where there is no room for another thread, fewer do the same.
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let own = work();
        let joined = helpers
            .into_iter()
            .map(|helper| helper.join().unwrap_or_else(|_| Err(io::Error::other("a reading thread died"))));
        joined.fold(own, io::Result::and)
    });
    done.map_err(|e| reader.file.failed(e))?;
    Ok(reader.map(zones))
}

/// Reads pageblocks a part at a time, so that each call is short.
#[derive(Debug)]
pub struct PageblockReader {
    root: PathBuf,
    file: FrameWords,
    /// What is known since the start of the round.
    known: Known,
    pageblock_order: u8,
    spans: Vec<Span>,
    /// The start of the next part: the index of a span, and of a pageblock in it.
    next: (usize, usize),
    buffer: Vec<u8>,
    rounds: u64,
}

impl PageblockReader {
    /// Opens `proc/kpageflags` below `root` for the spans of `zones` without reading yet.
    ///
    /// # Errors
    ///
    /// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused,
    /// [`Error::Malformed`] if the zones span more frames than the file has.
    pub fn open(root: &Path, zones: &[ZoneSnapshot]) -> Result<Self, Error> {
        let file = FrameWords::kpageflags(root)?;
        let pageblock_order = pageblock_order(root);
        fit(zones, file.frames()).map_err(|e| {
            let remedy = "Read both files on the same machine at the same time";
            e.in_file(&root.join("proc/zoneinfo"), remedy)
        })?;
        let known = Known::read(root, pageblock_order);
        let spans = spans(zones, pageblock_order);
        let root = root.to_owned();
        Ok(Self { root, file, known, pageblock_order, spans, next: (0, 0), buffer: Vec::new(), rounds: 0 })
    }

    /// Reads about the next `max_pages` pages and at least one chunk. After the last zone it starts
    /// again.
    ///
    /// Returns how many times all zones were read through, and how many pages this call read.
    pub fn advance(&mut self, max_pages: u64, unflagged: Unflagged<'_>) -> Result<(u64, u64), Error> {
        let in_chunk = chunk_blocks(self.pageblock_order);
        let mut read = 0;
        while read < max_pages.max(1) {
            let (span, block) = self.next;
            let Some(Span { start, end, base, blocks, .. }) = self.spans.get_mut(span) else {
                break;
            };
            let base = *base + ((block as u64) << self.pageblock_order);
            let upto = blocks.len().min(block + in_chunk);
            let part = &mut blocks[block..upto];
            let chunk = Chunk { start: *start, end: *end, base };
            chunk
                .read(&self.file, &self.known, self.pageblock_order, unflagged, &mut self.buffer, part)
                .map_err(|e| self.file.failed(e))?;
            read += (part.len() as u64) << self.pageblock_order;
            self.next = if upto == blocks.len() { (span + 1, 0) } else { (span, upto) };
        }
        if self.next.0 == self.spans.len() {
            self.next = (0, 0);
            self.rounds += 1;
            self.known = Known::read(&self.root, self.pageblock_order);
        }
        Ok((self.rounds, read))
    }

    /// Returns the zone and the pageblock in it that are read next.
    pub fn position(&self) -> (usize, usize) {
        self.next
    }

    /// Returns the last record of each pageblock. The numbers of `zones` decide which pageblocks
    /// without flags are memory.
    ///
    /// Pageblocks that were not read yet are absent.
    pub fn map(&self, zones: &[ZoneSnapshot]) -> PageblockMap {
        settle(&self.spans, zones, self.pageblock_order)
    }
}

/// The frames of holes that zones may span, however little memory they have.
const HOLES: u64 = 1 << 24;

/// The most frames that zones may span for each frame that is present.
const SPARSE: u64 = 64;

/// The end of frame numbers on every processor.
const LAST_FRAME: u64 = 1 << 48;

/// Fails if zones span more frames than a kpageflags of `frames` frames, as each pageblock takes a
/// record. If `frames` is 0 (unknown), the limit is computed from the present pages.
fn fit(zones: &[ZoneSnapshot], frames: u64) -> Result<(), ParseError> {
    let sum = |number: fn(&ZoneSnapshot) -> u64| zones.iter().map(number).fold(0, u64::saturating_add);
    let spanned = sum(|zone| zone.spanned);
    let most = match frames {
        0 => sum(|zone| zone.present).saturating_mul(SPARSE).saturating_add(HOLES),
        frames => frames.saturating_add(HOLES),
    };
    let end = zones.iter().map(|zone| zone.start_pfn.saturating_add(zone.spanned)).max().unwrap_or(0);
    if spanned <= most && end <= LAST_FRAME {
        return Ok(());
    }
    let expected =
        format!("zones that span at most {most} frames below {LAST_FRAME:#x}, as kpageflags tells");
    Err(ParseError::new(0, expected, &format!("{spanned} frames up to {end:#x}")))
}

fn chunk_blocks(pageblock_order: u8) -> usize {
    ((CHUNK_PAGES >> pageblock_order) as usize).max(1)
}

/// Neighbouring pageblocks that are read at once.
#[derive(Clone, Copy)]
struct Chunk {
    start: u64,
    end: u64,
    /// First frame of the first pageblock.
    base: u64,
}

impl Chunk {
    fn read(
        self,
        file: &FrameWords,
        known: &Known,
        pageblock_order: u8,
        unflagged: Unflagged<'_>,
        buffer: &mut Vec<u8>,
        mut blocks: &mut [RawBlock],
    ) -> io::Result<()> {
        let pages = 1_u64 << pageblock_order;
        let mut rest = self;
        while !blocks.is_empty() {
            let alike = rest.alike(file, known, pages, blocks.len())?;
            let (these, others) = std::mem::take(&mut blocks).split_at_mut(alike.blocks);
            match alike.record {
                Some(record) => these.fill(record),
                None => rest.read_words(file, pageblock_order, unflagged, buffer, these)?,
            }
            rest.base += alike.blocks as u64 * pages;
            blocks = others;
        }
        Ok(())
    }

    /// Returns how many of the `left` pageblocks, from the first on, are known alike, or are not known.
    fn alike(self, file: &FrameWords, known: &Known, pages: u64, left: usize) -> io::Result<Alike> {
        let mut found = Alike { blocks: 0, record: None };
        for base in (self.base..).step_by(pages as usize).take(left) {
            let record = self.known(file, known, base, pages)?;
            if found.blocks > 0 && record != found.record {
                break;
            }
            found = Alike { blocks: found.blocks + 1, record };
        }
        Ok(found)
    }

    /// Returns the record of the pageblock at `base`, if it is known.
    fn known(self, file: &FrameWords, known: &Known, base: u64, pages: u64) -> io::Result<Option<RawBlock>> {
        if base < self.start || base + pages > self.end {
            return Ok(None);
        }
        if known.is_missing(base, base + pages) {
            return Ok(Some(RawBlock::absent(pages)));
        }
        let Some(hugetlb) = known.hugetlb() else { return Ok(None) };
        let mut word = [0; WORD_BYTES];
        let filled = file.read(base, &mut word)?;
        let is_hugetlb = words(&word[..filled]).any(|flags| flags & (kpf::HUGE | kpf::BUDDY) == kpf::HUGE);
        Ok(is_hugetlb.then_some(hugetlb))
    }

    fn read_words(
        self,
        file: &FrameWords,
        pageblock_order: u8,
        unflagged: Unflagged<'_>,
        buffer: &mut Vec<u8>,
        blocks: &mut [RawBlock],
    ) -> io::Result<()> {
        let pages = 1_u64 << pageblock_order;
        let first = self.base.max(self.start);
        let last = (self.base + blocks.len() as u64 * pages).min(self.end);
        buffer.resize(last.saturating_sub(first) as usize * WORD_BYTES, 0);
        let filled = file.read(first, buffer)?;
        let words = |from: u64, to: u64| {
            let place = |pfn: u64| (pfn.saturating_sub(first) as usize * WORD_BYTES).min(filled);
            words(&buffer[place(from)..place(to).max(place(from))])
        };
        let pinned = pinned(first, last, words(first, last), unflagged);
        for (raw, base) in blocks.iter_mut().zip((self.base..).step_by(pages as usize)) {
            let from = base.max(self.start);
            let words = words(from, (base + pages).min(self.end));
            let aside = Aside { listed: unflagged.listed, pinned: &pinned, base };
            *raw = fold(words, from - base, pageblock_order, aside);
        }
        Ok(())
    }
}

/// Returns which of the frames from `first` to before `end` are pinned, if any of their `words` is of a page on the LRU.
fn pinned(first: u64, end: u64, words: impl Iterator<Item = u64>, unflagged: Unflagged<'_>) -> PinnedFrames {
    let mut on_lru = (first..).zip(words).filter(|(_, word)| word & kpf::LRU != 0).map(|(pfn, _)| pfn);
    // Some kernels show the flags of a compound page on its first frame only, so that the last word tells no end.
    on_lru.next().map_or_else(PinnedFrames::default, |from| (unflagged.pinned)(from, end - from))
}

/// Neighbouring pageblocks, at least one, that are known alike or of which nothing is known.
struct Alike {
    blocks: usize,
    record: Option<RawBlock>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_that_span_more_than_can_be_take_no_memory() {
        let zone = |start_pfn, spanned, present| ZoneSnapshot {
            start_pfn,
            spanned,
            present,
            ..ZoneSnapshot::default()
        };
        assert!(fit(&[zone(1, 4095, 4000), zone(4096, 1 << 20, 1 << 20)], 0).is_ok());
        assert!(fit(&[zone(0, 1 << 51, 1 << 20)], 0).is_err());
        assert!(fit(&[zone(0, 1 << 51, 1 << 51)], 1 << 20).is_err());
        assert!(fit(&[zone(u64::MAX - 5, 5, 5)], 0).is_err());
        assert!(fit(&[zone(0, u64::MAX, 1), zone(0, u64::MAX, 1)], 8).is_err());
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc/kpageflags"), [0; 64]).unwrap();
        let refused = PageblockReader::open(root.path(), &[zone(0, 1 << 51, 1 << 51)]).unwrap_err();
        assert!(refused.to_string().contains("proc/zoneinfo"), "{refused}");
    }
}
