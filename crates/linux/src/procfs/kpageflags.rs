//! Reads `/proc/kpageflags` into runs of frames with the same use.
//!
//! Free blocks: kernels since 4.6 set `KPF_BUDDY` on every page of a free block (seen on 6.18: as many
//! pages have it as `nr_free_pages` says). Older kernels set it on a block's first page only; the block's
//! order is then unknown, and its other pages become [`FrameUse::Other`].
//!
//! Frames without memory have `KPF_NOPAGE` or, on newer kernels, the word 0. Memory whose `struct page`
//! is not set up yet (`CONFIG_DEFERRED_STRUCT_PAGE_INIT`), pages on per-CPU lists and much of the
//! kernel's own memory have the word 0, too. Which is which is decided by number: the pages that
//! `zoneinfo` counts as spanned and not present, or as present and neither managed nor reserved, are
//! taken from the longest stretches of 0, from their ends, and become [`FrameUse::Absent`]; every other 0
//! is [`FrameUse::Other`].

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use freehold::Pfn;
use freehold_trace::{FrameUse, Run, ZoneSnapshot};

use super::frame_words::{WORD_BYTES, no_kpageflags, words};
use super::kpf;
use super::read::refuse_special;
use crate::error::Error;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// Shorter stretches of 0 are not taken for missing memory, which comes and is set up in whole
/// pageblocks.
///
/// Units: pages.
const SHORTEST_GAP: u64 = 512;

/// Reads `proc/kpageflags` below `root` within the spans of `zones`.
///
/// # Errors
///
/// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
pub fn read_kpageflags(root: &Path, zones: &[ZoneSnapshot]) -> Result<Vec<Run>, Error> {
    let path = root.join("proc/kpageflags");
    let runs = refuse_special(&path).and_then(|()| fold_kpageflags_file(&path, zones));
    runs.map_err(|error| no_kpageflags(error, path))
}

/// Reads a copy of `/proc/kpageflags`.
pub(crate) fn fold_kpageflags_file(path: &Path, zones: &[ZoneSnapshot]) -> Result<Vec<Run>, Error> {
    let mut file = File::open(path).map_err(|e| Error::io("read", path, e))?;
    fold_kpageflags(&mut file, zones).map_err(|e| Error::io("read", path, e))
}

/// Folds the contents of `/proc/kpageflags` within the spans of `zones` into runs in ascending order.
///
/// If the contents end before a zone does, the rest of the zone is absent.
pub fn fold_kpageflags(contents: &mut (impl Read + Seek), zones: &[ZoneSnapshot]) -> io::Result<Vec<Run>> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut runs = Runs::default();
    for span in spans(zones) {
        contents.seek(SeekFrom::Start(span.start * WORD_BYTES as u64))?;
        let mut folder = Folder::default();
        let mut pfn = span.start;
        while pfn < span.end {
            let wanted = ((span.end - pfn) * WORD_BYTES as u64).min(CHUNK_BYTES as u64) as usize;
            let filled = read_full(contents, &mut chunk[..wanted])?;
            for flags in words(&chunk[..filled]) {
                folder.take(pfn, flags);
                pfn += 1;
            }
            if filled < wanted {
                folder.stop(pfn, span.end);
                pfn = span.end;
            }
        }
        let gaps = span.gaps(&folder);
        folder.runs.finish(gaps, &mut runs);
    }
    Ok(runs.done())
}

/// Reads until `buffer` is full or the contents end.
fn read_full(contents: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match contents.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// A zone, or zones whose spans overlap, as the zones of nodes may interleave.
struct Span {
    start: u64,
    end: u64,
    present: u64,
    managed: u64,
}

impl Span {
    /// Returns the pages that are missing or not set up, without those whose flags say so.
    fn gaps(&self, folder: &Folder) -> u64 {
        let holes = (self.end - self.start).saturating_sub(self.present).saturating_sub(folder.nopage);
        let unmanaged = self.present.saturating_sub(self.managed);
        holes + unmanaged.saturating_sub(folder.reserved).saturating_sub(folder.offline)
    }
}

fn spans(zones: &[ZoneSnapshot]) -> Vec<Span> {
    let mut sorted: Vec<_> = zones.iter().filter(|z| z.spanned > 0).collect();
    sorted.sort_by_key(|z| z.start_pfn);
    let mut spans: Vec<Span> = Vec::new();
    for zone in sorted {
        let end = zone.start_pfn.saturating_add(zone.spanned);
        match spans.last_mut() {
            Some(last) if zone.start_pfn < last.end => {
                last.end = last.end.max(end);
                last.present = last.present.saturating_add(zone.present);
                last.managed = last.managed.saturating_add(zone.managed);
            }
            _ => {
                spans.push(Span { start: zone.start_pfn, end, present: zone.present, managed: zone.managed });
            }
        }
    }
    spans
}

/// What one frame's flags show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sight {
    /// No flag is set.
    Blank,
    /// The flags show this use.
    Use(FrameUse),
}

/// Folds flags into runs, frame by frame.
#[derive(Default)]
struct Folder {
    runs: SightRuns,
    /// The flags of the frame before, and what they show.
    last: Option<(u64, Sight)>,
    /// The use of the current compound page's head, for its tail pages.
    head: Option<FrameUse>,
    reserved: u64,
    nopage: u64,
    offline: u64,
}

impl Folder {
    fn take(&mut self, pfn: u64, flags: u64) {
        let sight = match self.last {
            Some((last, sight)) if last == flags && flags & kpf::COMPOUND_HEAD == 0 => sight,
            _ => self.classify(flags),
        };
        self.last = Some((flags, sight));
        self.reserved += u64::from(flags & kpf::RESERVED != 0);
        self.nopage += u64::from(flags & kpf::NOPAGE != 0);
        self.offline += u64::from(flags & kpf::OFFLINE != 0);
        self.runs.extend(pfn, 1, sight);
    }

    /// Adds the frames from `pfn` to `end`, for which the contents have no words.
    fn stop(&mut self, pfn: u64, end: u64) {
        self.nopage += end - pfn;
        self.runs.extend(pfn, end - pfn, Sight::Use(FrameUse::Absent));
    }

    fn classify(&mut self, flags: u64) -> Sight {
        if flags == 0 {
            self.head = None;
            return Sight::Blank;
        }
        // On tail pages kernels show different sets of the head's flags.
        if flags & (kpf::COMPOUND_TAIL | kpf::BUDDY | kpf::NOPAGE) == kpf::COMPOUND_TAIL {
            return Sight::Use(self.head.unwrap_or_else(|| frame_use(flags)));
        }
        let used_for = frame_use(flags);
        self.head = (flags & kpf::COMPOUND_HEAD != 0).then_some(used_for);
        Sight::Use(used_for)
    }
}

/// Returns the use that a frame's flags show; the first match decides.
fn frame_use(flags: u64) -> FrameUse {
    let uses = [
        (kpf::NOPAGE, FrameUse::Absent),
        (kpf::BUDDY, FrameUse::Free),
        (kpf::RESERVED, FrameUse::Absent),
        (kpf::OFFLINE, FrameUse::Offline),
        (kpf::HUGE, FrameUse::Hugetlb),
        (kpf::PGTABLE, FrameUse::PageTable),
        (kpf::SLAB, FrameUse::Slab),
        (kpf::UNEVICTABLE, FrameUse::Unevictable),
        // New anonymous pages wait in per-CPU batches for the LRU.
        (kpf::LRU | kpf::ANON, FrameUse::Movable),
    ];
    uses.iter().find(|(bits, _)| flags & bits != 0).map_or(FrameUse::Other, |&(_, used_for)| used_for)
}

/// The runs of one span; runs without flags are not decided yet.
#[derive(Default)]
struct SightRuns {
    runs: Vec<(u64, u64, Sight)>,
}

impl SightRuns {
    fn extend(&mut self, pfn: u64, pages: u64, sight: Sight) {
        if pages == 0 {
            return;
        }
        match self.runs.last_mut() {
            Some((start, length, last)) if *last == sight && *start + *length == pfn => *length += pages,
            _ => self.runs.push((pfn, pages, sight)),
        }
    }

    /// Decides the runs without flags: `gaps` pages are absent, the others in use.
    fn finish(&self, mut gaps: u64, into: &mut Runs) {
        let mut blank: Vec<usize> = (0..self.runs.len())
            .filter(|&i| self.runs[i].2 == Sight::Blank && self.runs[i].1 >= SHORTEST_GAP)
            .collect();
        blank.sort_by_key(|&i| std::cmp::Reverse(self.runs[i].1));
        let mut absent_tail = vec![0; self.runs.len()];
        for i in blank {
            if gaps < SHORTEST_GAP {
                break;
            }
            absent_tail[i] = self.runs[i].1.min(gaps);
            gaps -= absent_tail[i];
        }
        for (&(start, pages, sight), absent) in self.runs.iter().zip(absent_tail) {
            match sight {
                Sight::Use(used_for) => into.extend(start, pages, used_for),
                Sight::Blank => {
                    into.extend(start, pages - absent, FrameUse::Other);
                    into.extend(start + pages - absent, absent, FrameUse::Absent);
                }
            }
        }
    }
}

/// The finished runs.
#[derive(Default)]
struct Runs(Vec<Run>);

impl Runs {
    fn extend(&mut self, pfn: u64, pages: u64, used_for: FrameUse) {
        if pages == 0 {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.used_for == used_for && last.start.0 + last.pages == pfn => {
                last.pages += pages;
            }
            _ => self.0.push(Run { start: Pfn(pfn), pages, used_for }),
        }
    }

    fn done(self) -> Vec<Run> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn zone(start_pfn: u64, spanned: u64, present: u64, managed: u64) -> ZoneSnapshot {
        ZoneSnapshot { start_pfn, spanned, present, managed, ..ZoneSnapshot::default() }
    }

    fn fold(flags: &[u64], zones: &[ZoneSnapshot]) -> Vec<(u64, u64, FrameUse)> {
        let bytes: Vec<u8> = flags.iter().flat_map(|f| f.to_le_bytes()).collect();
        let runs = fold_kpageflags(&mut Cursor::new(bytes), zones).unwrap();
        runs.iter().map(|r| (r.start.0, r.pages, r.used_for)).collect()
    }

    #[test]
    fn flags_become_uses() {
        let flags = [
            kpf::NOPAGE,
            kpf::BUDDY,
            kpf::BUDDY,
            kpf::RESERVED,
            kpf::SLAB | kpf::COMPOUND_HEAD,
            kpf::COMPOUND_TAIL,
            kpf::LRU | kpf::UNEVICTABLE,
            kpf::LRU | 4,
            kpf::ANON,
            0,
        ];
        let expected = [
            (0, 1, FrameUse::Absent),
            (1, 2, FrameUse::Free),
            (3, 1, FrameUse::Absent),
            (4, 2, FrameUse::Slab),
            (6, 1, FrameUse::Unevictable),
            (7, 2, FrameUse::Movable),
            (9, 1, FrameUse::Other),
        ];
        assert_eq!(fold(&flags, &[zone(0, 10, 9, 8)]), expected);
    }

    #[test]
    fn memory_that_is_not_set_up_is_absent() {
        let mut flags = vec![kpf::BUDDY; 1024];
        flags.resize(1024 + 4096 + 30, 0);
        let zones = [zone(0, 5150, 5150, 1054)];
        let expected =
            [(0, 1024, FrameUse::Free), (1024, 30, FrameUse::Other), (1054, 4096, FrameUse::Absent)];
        assert_eq!(fold(&flags, &zones), expected);
    }

    #[test]
    fn only_the_spans_are_read_and_a_short_file_is_absent() {
        let flags = [kpf::LRU, kpf::LRU, kpf::BUDDY, kpf::BUDDY];
        let zones = [zone(3, 4, 1, 1), zone(1, 1, 1, 1)];
        let expected = [(1, 1, FrameUse::Movable), (3, 1, FrameUse::Free), (4, 3, FrameUse::Absent)];
        assert_eq!(fold(&flags, &zones), expected);
    }

    #[test]
    fn interleaved_zones_are_read_once() {
        let flags = [kpf::BUDDY; 8];
        let zones = [zone(0, 8, 4, 4), zone(2, 4, 4, 4)];
        assert_eq!(fold(&flags, &zones), [(0, 8, FrameUse::Free)]);
    }
}
