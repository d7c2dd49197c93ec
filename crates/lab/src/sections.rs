//! Frame numbers without large memory holes, so that the memory of a replay depends on present pages, not on the span.

use freehold::{Order, Pfn};
use freehold_trace::{
    Ending, Event, ExactCompaction, ExactPart, ExactState, ExactZone, FrameUse, PageblockRun, Run, Snapshot,
    ZoneSnapshot,
};

/// The smallest order of a section: 128 MiB with pages of 4 KiB.
const LEAST_ORDER: u8 = 15;

/// Machines that span fewer pages than this keep their frame numbers.
const LEAST_SPAN: u64 = 1 << 22;

/// The largest number of present pages in a search: 64 TiB with pages of 4 KiB, far more than a replay accepts.
const MOST_PRESENT: u64 = 1 << 34;

/// The largest number of words in the bitmap of sections: enough for 512 TiB with pages of 4 KiB.
const MOST_WORDS: usize = 1 << 16;

/// A search for the sections of a machine that have memory.
#[derive(Clone, Debug)]
pub struct SectionSearch {
    order: u8,
    /// One bit for each section, from frame 0 on.
    present: Vec<u64>,
    spanned: u64,
}

/// The sections of a machine that have memory, or that an event touches.
///
/// Other sections are left out, so that later sections get lower frame numbers. A frame keeps its place in its section,
/// and sections keep their order. Blocks and pageblocks therefore keep their alignment.
#[derive(Clone, Debug)]
pub struct PresentSections {
    order: u8,
    /// Runs of sections in ascending order: the first section, their number, and the new number of the first.
    runs: Vec<(u64, u64, u64)>,
    /// The pages that the zones span, with and without the sections that were left out.
    spanned: (u64, u64),
}

impl SectionSearch {
    /// Returns a search in the machine of a start snapshot. Returns `None` if less than half of the span can be left
    /// out, or if the zones span few pages.
    pub fn new(start: &Snapshot) -> Option<Self> {
        let spanned = start.zones.iter().fold(0_u64, |sum, zone| sum.saturating_add(zone.spanned));
        let end = start.zones.iter().map(end_of).max().filter(|&end| end <= 1 << 52)?;
        let present: u64 = if start.occupancy.is_empty() {
            start.zones.iter().fold(0, |sum, zone| sum.saturating_add(zone.present))
        } else {
            start
                .occupancy
                .iter()
                .filter(|run| has_memory(run))
                .fold(0, |sum, run| sum.saturating_add(run.pages))
        };
        if spanned < LEAST_SPAN || present > spanned / 2 || present > MOST_PRESENT {
            return None;
        }
        let largest = start.largest_order().unwrap_or(Order::MAX).get();
        let order = LEAST_ORDER.max(largest).max(start.pagetypeinfo.pageblock_order);
        let words = usize::try_from((end >> order) / 64 + 1).ok().filter(|&words| words <= MOST_WORDS)?;
        let mut search = Self { order, present: vec![0; words], spanned };
        for zone in start.zones.iter().filter(|zone| zone.spanned > 0) {
            // Both ends of a zone stay.
            search.add(zone.start_pfn, 1);
            search.add(end_of(zone) - 1, 1);
        }
        for run in start.occupancy.iter().filter(|run| has_memory(run)) {
            search.add(run.start.0, run.pages);
        }
        start.exact.taken().into_iter().for_each(|exact| search.add_exact(exact));
        if start.occupancy.is_empty() {
            start.zones.iter().for_each(|zone| search.add_unseen(zone));
        }
        Some(search)
    }

    fn add(&mut self, start: u64, pages: u64) {
        let (Some(last), true) = (start.checked_add(pages.saturating_sub(1)), pages > 0) else { return };
        for section in start >> self.order..=last >> self.order {
            // Frames outside all zones are refused later.
            let Some(word) = self.present.get_mut((section / 64) as usize) else { return };
            *word |= 1 << (section % 64);
        }
    }

    fn add_exact(&mut self, exact: &ExactState) {
        for zone in &exact.zones {
            for list in zone.lists.iter().chain(zone.cpus.iter().flat_map(|cpu| &cpu.lists)) {
                list.pfns.iter().for_each(|&pfn| self.add(pfn, 1 << list.order.min(Order::MAX.get())));
            }
        }
    }

    /// Adds the lowest frames of a zone if the snapshot does not record which frames have memory.
    fn add_unseen(&mut self, zone: &ZoneSnapshot) {
        self.add(zone.start_pfn, zone.present.min(zone.spanned));
    }

    /// Adds the sections that events touch.
    pub fn events(&mut self, events: &[Event]) {
        for event in events {
            if let Some((pfn, order)) = event.kind.block() {
                self.add(pfn.0, order.pages());
            }
        }
    }

    /// Returns the sections that were found.
    pub fn finish(self) -> PresentSections {
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        let mut next = None;
        for (word, &bits) in self.present.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            for section in (0..64).filter(|bit| bits >> bit & 1 != 0).map(|bit| word as u64 * 64 + bit) {
                // Frames below the first section stay in every table.
                let number = next.unwrap_or(section);
                match runs.last_mut() {
                    Some((first, count, _)) if *first + *count == section => *count += 1,
                    _ => runs.push((section, 1, number)),
                }
                next = Some(number + 1);
            }
        }
        PresentSections { order: self.order, runs, spanned: (self.spanned, 0) }
    }
}

impl PresentSections {
    /// Returns the pages that the zones span in the trace, and after renumbering. Valid after a call of
    /// [`Self::start`].
    pub fn spanned(&self) -> (u64, u64) {
        self.spanned
    }

    /// Returns the new number of a frame. A frame in a section that was left out gets the number of the next
    /// section's first frame.
    pub fn renumbered(&self, pfn: Pfn) -> Pfn {
        let section = pfn.0 >> self.order;
        let at = self.runs.partition_point(|run| run.0 + run.1 <= section);
        match self.runs.get(at) {
            Some(&(first, _, number)) if first <= section => Pfn(pfn.0 - ((first - number) << self.order)),
            Some(&(_, _, number)) => Pfn(number << self.order),
            None => Pfn(self.runs.last().map_or(pfn.0, |&(_, count, number)| (number + count) << self.order)),
        }
    }

    /// Returns the recorded number of a renumbered frame.
    pub fn recorded(&self, pfn: Pfn) -> Pfn {
        let section = pfn.0 >> self.order;
        let at = self.runs.partition_point(|run| run.2 + run.1 <= section);
        self.runs.get(at).map_or(pfn, |&(first, _, number)| Pfn(pfn.0 + ((first - number) << self.order)))
    }

    /// Renumbers the block of an event.
    pub fn event(&self, mut event: Event) -> Event {
        if let Some(pfn) = event.kind.pfn_mut() {
            *pfn = self.renumbered(*pfn);
        }
        event
    }

    /// Renumbers the start snapshot.
    pub fn start(&mut self, start: &mut Snapshot) {
        self.snapshot(start);
        self.spanned.1 = start.zones.iter().fold(0, |sum, zone| sum.saturating_add(zone.spanned));
    }

    /// Renumbers the ending's snapshot.
    pub fn ending(&self, ending: &mut Ending) {
        if let Some(snapshot) = &mut ending.snapshot {
            self.snapshot(snapshot);
        }
    }

    fn snapshot(&self, snapshot: &mut Snapshot) {
        let pageblock_order = snapshot.pagetypeinfo.pageblock_order;
        if let ExactPart::Taken(exact) = &mut snapshot.exact {
            for zone in &mut exact.zones {
                let own = snapshot.zones.iter().find(|own| (own.node, &own.name) == (zone.node, &zone.name));
                if let Some(own) = own {
                    self.exact_zone(zone, own.start_pfn, pageblock_order);
                }
            }
        }
        for zone in snapshot.zones.iter_mut().filter(|zone| zone.spanned > 0) {
            let last = self.renumbered(Pfn(end_of(zone) - 1));
            zone.start_pfn = self.renumbered(Pfn(zone.start_pfn)).0;
            zone.spanned = last.0 + 1 - zone.start_pfn;
        }
        snapshot.occupancy = self.occupancy(&snapshot.occupancy);
    }

    fn occupancy(&self, runs: &[Run]) -> Vec<Run> {
        let pieces = runs.iter().flat_map(|run| {
            self.pieces(run.start.0, run.pages).map(|(from, pages)| Run {
                start: self.renumbered(Pfn(from)),
                pages,
                used_for: run.used_for,
            })
        });
        let mut renumbered: Vec<Run> = Vec::new();
        for piece in pieces {
            match renumbered.last_mut() {
                Some(last)
                    if last.used_for == piece.used_for && last.start.0 + last.pages == piece.start.0 =>
                {
                    last.pages += piece.pages;
                }
                _ => renumbered.push(piece),
            }
        }
        renumbered
    }

    /// Returns the parts of a frame range that lie in kept sections: the first frame and the number of pages.
    fn pieces(&self, start: u64, pages: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let end = start.saturating_add(pages);
        let first = self.runs.partition_point(|run| (run.0 + run.1) << self.order <= start);
        self.runs[first..].iter().map_while(move |run| {
            let from = start.max(run.0 << self.order);
            let to = end.min((run.0 + run.1) << self.order);
            (from < to).then(|| (from, to - from))
        })
    }

    fn exact_zone(&self, zone: &mut ExactZone, start_pfn: u64, pageblock_order: u8) {
        let lists = zone.lists.iter_mut().chain(zone.cpus.iter_mut().flat_map(|cpu| &mut cpu.lists));
        for pfn in lists.flat_map(|list| &mut list.pfns) {
            *pfn = self.renumbered(Pfn(*pfn)).0;
        }
        let mut at = start_pfn >> pageblock_order;
        let mut kept: Vec<PageblockRun> = Vec::new();
        for run in &zone.pageblocks {
            let pieces = self.pieces(at << pageblock_order, run.pageblocks << pageblock_order);
            let pageblocks = pieces.map(|(_, pages)| pages >> pageblock_order).sum();
            if pageblocks > 0 {
                kept.push(PageblockRun { pageblocks, ..*run });
            }
            at += run.pageblocks;
        }
        zone.pageblocks = kept;
        if let Some(ExactCompaction { free_pfn, migrate_pfn, .. }) = &mut zone.compaction {
            for pfn in std::iter::once(free_pfn).chain(migrate_pfn) {
                *pfn = self.renumbered(Pfn(*pfn)).0;
            }
        }
    }
}

fn end_of(zone: &ZoneSnapshot) -> u64 {
    zone.start_pfn.saturating_add(zone.spanned)
}

fn has_memory(run: &Run) -> bool {
    run.used_for != FrameUse::Absent
}
