//! Frames: the pageblocks of free blocks, and the slab caches of frames.

use std::collections::HashMap;

use freehold::Migratetype;
use freehold_trace::ZoneSnapshot;

use super::messages::{BATCH, CHUNK, Map, Message, ZoneEntry, word};
use super::own_page::OwnPage;
use super::sensor::{BpfSensor, kind_of};
use crate::error::BpfError;
use crate::pageblocks::PinnedFrames;

/// The alignment of the table of all `struct page` on x86-64, also with KASLR.
const TABLE_ALIGN: u64 = 1 << 30;

/// Words of `struct name_question`: the cache and its name.
const NAME_WORDS: usize = 9;

/// What a page is by its type, where no flag tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageKind {
    /// Of zsmalloc, which keeps compressed pages.
    Zsmalloc,
    /// Of a kmalloc that is larger than slab caches serve.
    LargeKmalloc,
}

impl PageKind {
    /// Returns the kind by the number that the program `find_kinds` gives it.
    fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::Zsmalloc),
            2 => Some(Self::LargeKmalloc),
            _ => None,
        }
    }
}

/// A zone, and the addresses of the lowest and highest page that its free lists name.
type Edges = (ZoneSnapshot, (u64, u64));

impl BpfSensor {
    /// Returns the types on whose lists each pageblock has free blocks, as pairs of the pageblock's
    /// number (its first frame's number divided by the pages of a pageblock) and a type, in the order
    /// of the numbers.
    ///
    /// A pageblock without free blocks does not occur. A pageblock with free blocks on lists of two
    /// types, as before 6.10, occurs twice. All lists are walked to their ends. If a list changes
    /// under each of several walks, the blocks behind the change may be missing. A kernel without
    /// preemption runs nothing else on this CPU during a walk; a million blocks take a tenth of a
    /// second.
    ///
    /// # Errors
    /// If the sensor was opened without the order of a pageblock, or frame numbers cannot be
    /// determined.
    pub fn free_list_types(&mut self) -> Result<Vec<(u64, Migratetype)>, BpfError> {
        let order = self.pageblock_order.ok_or(BpfError::NoPageblockOrder)?;
        let page_table = self.page_table()?;
        let blank = vec![0; CHUNK];
        for chunk in 0..self.chunks {
            self.programs.put(Map::Pageblocks, chunk, &blank)?;
        }
        let given = [self.zones.len() as u64, page_table, order.into(), self.first_pageblock];
        let mut message = Message::new(&given, 7);
        self.programs.run("mark", &mut message)?;
        let outside = message.word(5);
        if outside != 0 {
            return Err(BpfError::OutsideZones { blocks: outside });
        }
        let mut found = Vec::new();
        for chunk in 0..self.chunks {
            let bits = self.programs.get(Map::Pageblocks, chunk)?;
            let first = self.first_pageblock + u64::from(chunk) * CHUNK as u64;
            for (pageblock, bits) in (first..).zip(&bits).filter(|(_, bits)| **bits != 0) {
                let numbers = (0..8).filter(|number| bits >> number & 1 != 0);
                found.extend(numbers.filter_map(|n| Some((pageblock, kind_of(&self.layout, n)?))));
            }
        }
        Ok(found)
    }

    /// Returns the name of the slab cache of each of the frames `pfns`, or `None` for a frame that is
    /// not a slab's.
    ///
    /// # Errors
    /// If frame numbers cannot be determined, or the layout of this kernel's slabs is unknown.
    pub fn slab_names(&mut self, pfns: &[u64]) -> Result<Vec<Option<String>>, BpfError> {
        let page_table = self.page_table()?;
        let mut names = HashMap::new();
        let mut found = Vec::with_capacity(pfns.len());
        for batch in pfns.chunks(BATCH) {
            let numbers: Vec<_> =
                batch.iter().map(|pfn| if self.has_frame(*pfn) { *pfn } else { u64::MAX }).collect();
            self.programs.put(Map::Frames, 0, Message::new(&numbers, BATCH).bytes())?;
            let mut message = Message::new(&[batch.len() as u64, page_table], 2);
            if self.programs.run("find_caches", &mut message)? != 0 {
                return Err(BpfError::NoSlabs);
            }
            let caches = self.programs.get(Map::Frames, 0)?;
            for cache in (0..batch.len()).map(|index| word(&caches, index)) {
                if cache != 0 && !names.contains_key(&cache) {
                    names.insert(cache, self.cache_name(cache)?);
                }
                found.push(names.get(&cache).cloned().flatten());
            }
        }
        Ok(found)
    }

    /// Returns what the types of pages tell of each of the frames `pfns` that no flag does; `None` where they tell nothing, as on
    /// kernels before 6.12.
    ///
    /// # Errors
    /// If frame numbers cannot be determined.
    pub fn page_kinds(&mut self, pfns: &[u64]) -> Result<Vec<Option<PageKind>>, BpfError> {
        Ok(self.of_frames("find_kinds", pfns)?.into_iter().map(PageKind::from_number).collect())
    }

    /// Returns of each of the frames `pfns` if its page has a pin of `pin_user_pages`.
    ///
    /// # Errors
    /// If frame numbers cannot be determined.
    pub fn user_pins(&mut self, pfns: &[u64]) -> Result<Vec<bool>, BpfError> {
        Ok(self.of_frames("find_user_pins", pfns)?.into_iter().map(|pins| pins != 0).collect())
    }

    /// Returns what a program that cannot fail puts in the place of each of the frames `pfns`.
    fn of_frames(&mut self, program: &'static str, pfns: &[u64]) -> Result<Vec<u64>, BpfError> {
        let page_table = self.page_table()?;
        let mut found = Vec::with_capacity(pfns.len());
        for batch in pfns.chunks(BATCH) {
            let numbers: Vec<_> =
                batch.iter().map(|pfn| if self.has_frame(*pfn) { *pfn } else { u64::MAX }).collect();
            self.programs.put(Map::Frames, 0, Message::new(&numbers, BATCH).bytes())?;
            self.programs.run(program, &mut Message::new(&[batch.len() as u64, page_table], 2))?;
            let answers = self.programs.get(Map::Frames, 0)?;
            found.extend((0..batch.len()).map(|index| word(&answers, index)));
        }
        Ok(found)
    }

    /// Returns which of `count` frames from `from` on are pinned. A reference counts that two readings find: most last a
    /// moment only.
    ///
    /// Where the kernel does not tell how often a page of several frames is mapped, before 6.10, of those only pins by
    /// `pin_user_pages` are known.
    ///
    /// # Errors
    /// If frame numbers cannot be determined, or the layout of this kernel's pages is unknown.
    pub fn pinned_frames(&mut self, from: u64, count: u64) -> Result<PinnedFrames, BpfError> {
        let page_table = self.page_table()?;
        let read = || -> Result<Option<PinnedFrames>, BpfError> {
            let mut words = Vec::new();
            let mut any = false;
            for part in (0..count).step_by(BATCH * 64) {
                let here = (count - part).min(BATCH as u64 * 64);
                let mut message = Message::new(&[from + part, here, page_table], 4);
                if self.programs.run("find_pins", &mut message)? != 0 {
                    return Err(BpfError::Layout { detail: "pages have no `_refcount`".to_owned() });
                }
                let in_part = here.div_ceil(64) as usize;
                if message.word(3) == 0 {
                    words.resize(words.len() + in_part, 0);
                    continue;
                }
                any = true;
                let bits = self.programs.get(Map::Frames, 0)?;
                words.extend((0..in_part).map(|index| word(&bits, index)));
            }
            Ok(any.then(|| PinnedFrames::new(from, words)))
        };
        let Some(mut pinned) = read()? else { return Ok(PinnedFrames::default()) };
        match read()? {
            Some(again) => pinned.retain(&again),
            None => pinned = PinnedFrames::default(),
        }
        Ok(pinned)
    }

    /// Returns the frames of the tasks' kernel stacks, sorted: of the first two thousand tasks or so; none where stacks are not
    /// mapped (`CONFIG_VMAP_STACK`).
    ///
    /// # Errors
    /// If frame numbers cannot be determined.
    pub fn kernel_stacks(&mut self) -> Result<Vec<u64>, BpfError> {
        let page_table = self.page_table()?;
        let mut message = Message::new(&[0], 1);
        if self.programs.run("find_stacks", &mut message)? != 0 {
            return Ok(Vec::new());
        }
        let pages = self.programs.get(Map::Frames, 0)?;
        let frame = |index| Some(word(&pages, index).checked_sub(page_table)? / self.layout.page_bytes);
        let count = usize::try_from(message.word(0)).unwrap_or(BATCH).min(BATCH);
        let mut frames: Vec<_> = (0..count).filter_map(frame).filter(|&pfn| self.has_frame(pfn)).collect();
        frames.sort_unstable();
        frames.dedup();
        Ok(frames)
    }

    fn cache_name(&self, cache: u64) -> Result<Option<String>, BpfError> {
        let mut message = Message::new(&[cache], NAME_WORDS);
        let gone = self.programs.run("name_cache", &mut message)? != 0;
        let name = message.text(1);
        // A page that was reused meanwhile may lead to memory that only looks like a cache.
        let plain = !name.is_empty() && name.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        Ok((!gone && plain).then_some(name))
    }

    /// Returns true if a frame is in a populated zone.
    fn has_frame(&self, pfn: u64) -> bool {
        self.zones.iter().any(|zone| pfn >= zone.start_pfn && pfn - zone.start_pfn < zone.spanned)
    }

    /// Returns the start of the table of all `struct page`, which is determined once.
    pub(crate) fn page_table(&mut self) -> Result<u64, BpfError> {
        if let Some(known) = self.page_table {
            return Ok(known);
        }
        let seen = self.edges()?;
        let known = match self.table_by_own_page()? {
            Some(table) => Some(table),
            None => self.variable("vmemmap_base", "vmemmap")?,
        };
        if known.is_none() && !cfg!(target_arch = "x86_64") {
            let detail =
                "its alignment is known on x86-64 only, and /proc/self/pagemap shows no frames".to_owned();
            return Err(BpfError::NoPageTable { detail });
        }
        let table = table_start(&seen, self.layout.page_bytes, known)?;
        self.page_table = Some(table);
        Ok(table)
    }

    /// Returns each zone that has free blocks, with its lowest and highest page that a list names.
    fn edges(&self) -> Result<Vec<Edges>, BpfError> {
        self.programs.run("edges", &mut Message::new(&[self.zones.len() as u64], 1))?;
        let mut seen = Vec::new();
        for (key, zone) in (0..).zip(&self.zones) {
            if let Some(pages) = ZoneEntry::new(self.programs.get(Map::Zones, key)?).pages() {
                seen.push((zone.clone(), pages));
            }
        }
        Ok(seen)
    }

    /// Returns the start of the table of all `struct page`, as the zones' free blocks and as a page of this process
    /// show it. Each is `None` if its way does not find the start.
    pub fn page_table_by_each_way(&self) -> Result<[Option<u64>; 2], BpfError> {
        let by_zones = table_start(&self.edges()?, self.layout.page_bytes, None).ok();
        Ok([by_zones, self.table_by_own_page()?])
    }

    /// Returns the start of the table by a page of this process, or `None` if this process may not know its
    /// frame number or the kernel keeps the page otherwise than expected.
    fn table_by_own_page(&self) -> Result<Option<u64>, BpfError> {
        let Ok(own) = OwnPage::new() else { return Ok(None) };
        let pfn = own.pfn();
        let mut message = Message::new(&[own.descriptor()], 2);
        let found = self.programs.run("own_page", &mut message)? == 0;
        // A page that was moved meanwhile tells nothing.
        let pfn = pfn.filter(|_| found && own.pfn() == pfn);
        Ok(pfn.and_then(|pfn| message.word(1).checked_sub(pfn * self.layout.page_bytes)))
    }
}

/// Returns the only start of the table that puts every page of `seen` into its zone. `known` is the
/// start by another way, which is compared with the zones.
fn table_start(seen: &[Edges], page_bytes: u64, known: Option<u64>) -> Result<u64, BpfError> {
    let unknown = |detail: String| BpfError::NoPageTable { detail };
    let (mut lowest, mut highest) = (0, u64::MAX);
    for (zone, (low, high)) in seen {
        let last = zone.start_pfn + zone.spanned - 1;
        lowest = lowest.max(high.saturating_sub(last * page_bytes));
        highest = highest.min(low.saturating_sub(zone.start_pfn * page_bytes));
    }
    if seen.is_empty() {
        return Err(unknown("no zone has free blocks".to_owned()));
    }
    if let Some(known) = known {
        if (lowest..=highest).contains(&known) {
            return Ok(known);
        }
        return Err(unknown("what the kernel tells of it does not fit its zones".to_owned()));
    }
    let first = lowest.next_multiple_of(TABLE_ALIGN);
    if first > highest {
        return Err(unknown("free blocks of different zones lie too far apart".to_owned()));
    }
    if highest - first >= TABLE_ALIGN {
        return Err(unknown("several places would fit".to_owned()));
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u64 = 0xffff_ea00_4000_0000;

    fn zone(start_pfn: u64, spanned: u64, free: [u64; 2]) -> (ZoneSnapshot, (u64, u64)) {
        let zone = ZoneSnapshot { start_pfn, spanned, ..ZoneSnapshot::default() };
        (zone, (TABLE + free[0] * 64, TABLE + free[1] * 64))
    }

    #[test]
    fn a_small_zone_tells_where_the_table_starts() {
        let small = zone(4096, 1 << 20, [5000, 6000]);
        assert_eq!(table_start(std::slice::from_ref(&small), 64, None), Ok(TABLE));
        let large = zone(1 << 20, 1 << 30, [1 << 25, 1 << 26]);
        assert!(table_start(std::slice::from_ref(&large), 64, None).is_err(), "several fit");
        assert_eq!(table_start(&[small.clone(), large.clone()], 64, None), Ok(TABLE));
        assert_eq!(table_start(&[large], 64, Some(TABLE)), Ok(TABLE));
        assert!(table_start(&[small], 64, Some(TABLE + (1 << 30))).is_err(), "the symbol is wrong");
        assert!(table_start(&[], 64, None).is_err());
    }
}
