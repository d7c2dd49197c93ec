//! The replayed block of each traced block.

use freehold::{GfpFlags, Order, Pfn};
use freehold_trace::FrameUse;

use crate::counts::CountsByOrder;
use crate::start::{RecordedMachine, Start};

/// The operations that are possible on the pages of a block in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::replay) enum Pages {
    /// The pages cannot be moved.
    Pinned,
    /// The pages can be moved.
    Movable,
    /// The pages can be moved and reclaimed.
    Cache,
}

impl Pages {
    /// Derives the kind of pages from the flags of a request. Requests for page cache have `__GFP_NORETRY`
    /// (readahead) or `__GFP_WRITE`. Huge pages also have `__GFP_NORETRY`, but together with `__GFP_NOMEMALLOC`.
    pub(in crate::replay) fn of(gfp: GfpFlags) -> Self {
        let cache = gfp.intersects(GfpFlags::NORETRY | GfpFlags::WRITE)
            && !gfp.intersects(GfpFlags::ZERO | GfpFlags::NOMEMALLOC);
        match gfp.contains(GfpFlags::MOVABLE) {
            false => Self::Pinned,
            true if cache => Self::Cache,
            true => Self::Movable,
        }
    }

    const fn bits(self) -> u64 {
        match self {
            Self::Pinned => 0,
            Self::Movable => MOVABLE,
            Self::Cache => CACHE,
        }
    }
}

/// The state of a traced frame in the ledger, packed into one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u64);

/// The state of a traced frame in the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Traced {
    /// The frame is not in a block in use.
    Unknown,
    /// The frame is the first of a block of this order; the replayed block starts at the given frame.
    InUse(Order, Pfn),
    /// The frame is the first of a block that the replay could not allocate.
    Skipped(Order),
    /// The frame is inside a block of this order, and not its first.
    Inside(Order),
}

const ORDER_BITS: u64 = 0x1f;
const KIND_BITS: u64 = 0x60;
const IN_USE: u64 = 0x20;
const SKIPPED: u64 = 0x40;
const INSIDE: u64 = 0x60;
const MOVABLE: u64 = 0x80;
const CACHE: u64 = 0x100;
const PFN_SHIFT: u32 = 9;

impl Entry {
    pub(super) const UNKNOWN: Self = Self(0);

    pub(super) fn in_use(order: Order, replayed: Pfn, pages: Pages) -> Self {
        Self(replayed.0 << PFN_SHIFT | pages.bits() | IN_USE | u64::from(order.get()))
    }

    pub(super) fn pages(self) -> Pages {
        match self.0 & (MOVABLE | CACHE) {
            0 => Pages::Pinned,
            CACHE => Pages::Cache,
            _ => Pages::Movable,
        }
    }

    pub(super) fn skipped(order: Order) -> Self {
        Self(SKIPPED | u64::from(order.get()))
    }

    fn inside(order: Order) -> Self {
        Self(INSIDE | u64::from(order.get()))
    }

    pub(super) fn get(self) -> Traced {
        let order = Order::new((self.0 & ORDER_BITS) as u8).unwrap_or(Order::ZERO);
        match self.0 & KIND_BITS {
            IN_USE => Traced::InUse(order, Pfn(self.0 >> PFN_SHIFT)),
            SKIPPED => Traced::Skipped(order),
            INSIDE => Traced::Inside(order),
            _ => Traced::Unknown,
        }
    }
}

/// The replayed block of each traced block: a flat table with one word for each frame.
///
/// The first frame of a block has the replayed block; the other frames are marked as inside. Blocks are aligned to
/// their size and do not overlap.
pub(super) struct TracedFrames {
    zones: Vec<TracedZone>,
    last: usize,
}

struct TracedZone {
    start: u64,
    /// The place of the zone's first frame.
    base: usize,
    node: u16,
    /// The words of entries. Parts that stay zero ([`Entry::UNKNOWN`]) need no physical memory.
    entries: Vec<u64>,
}

/// A place in the table: the traced frame is in a zone.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct At {
    zone: usize,
    index: usize,
}

impl TracedFrames {
    fn new(machine: &RecordedMachine) -> Self {
        let mut base = 0;
        let zones = machine.zones.iter().map(|zone| {
            let entries = vec![Entry::UNKNOWN.0; zone.spanned as usize];
            let traced = TracedZone { start: zone.start.0, base, node: zone.node, entries };
            base += zone.spanned as usize;
            traced
        });
        Self { zones: zones.collect(), last: 0 }
    }

    /// Returns the table at the start: each block in use that events free later is its own replayed block. Calls
    /// `cached` with the place of each block of page cache, by address.
    pub(super) fn at_start(machine: &RecordedMachine, start: &Start, mut cached: impl FnMut(usize)) -> Self {
        let mut traced = Self::new(machine);
        for (pfn, order, used_for) in start.in_use(machine) {
            let pages = match used_for {
                FrameUse::Movable => Pages::Cache,
                FrameUse::Unevictable => Pages::Movable,
                _ => Pages::Pinned,
            };
            if let Some(at) = traced.find(pfn, order) {
                traced.set(at, order, Entry::in_use(order, pfn, pages));
                if pages == Pages::Cache {
                    cached(traced.place(at));
                }
            }
        }
        traced
    }

    /// Returns the number of frames of all zones.
    pub(super) fn places(&self) -> usize {
        self.zones.last().map_or(0, |zone| zone.base + zone.entries.len())
    }

    /// Returns the number of a frame, counted over all zones.
    #[inline]
    pub(super) fn place(&self, at: At) -> usize {
        self.zones[at.zone].base + at.index
    }

    /// Returns the number of a traced or replayed frame; `None` if it is in no zone. Both have the same zones.
    pub(super) fn place_of(&mut self, pfn: Pfn) -> Option<usize> {
        self.find(pfn, Order::ZERO).map(|at| self.place(at))
    }

    /// Returns the number of a frame as [`Self::place_of`] does; fast if it is in the zone of `place`.
    pub(super) fn place_near(&self, pfn: Pfn, place: usize) -> Option<usize> {
        let near = &self.zones[self.at_place(place).zone];
        let inside = |zone: &TracedZone| {
            let index = pfn.0.checked_sub(zone.start)? as usize;
            (index < zone.entries.len()).then_some(zone.base + index)
        };
        inside(near).or_else(|| self.zones.iter().find_map(inside))
    }

    pub(super) fn at_place(&self, place: usize) -> At {
        let zone = self.zones.partition_point(|zone| zone.base <= place).saturating_sub(1);
        At { zone, index: place - self.zones[zone].base }
    }

    pub(super) fn entry(&self, at: At) -> Entry {
        Entry(self.zones[at.zone].entries[at.index])
    }

    /// Returns every block in use: the number of its traced frame, the replayed block, and the kind of its pages.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, Pfn, Pages)> + '_ {
        self.zones.iter().flat_map(|zone| {
            zone.entries.iter().map(|word| Entry(*word)).enumerate().filter_map(|(index, entry)| match entry
                .get()
            {
                Traced::InUse(_, replayed) => Some((zone.base + index, replayed, entry.pages())),
                _ => None,
            })
        })
    }

    /// Finds a block that is inside one zone.
    #[inline]
    pub(super) fn find(&mut self, pfn: Pfn, order: Order) -> Option<At> {
        let inside = |zone: &TracedZone| {
            let index = pfn.0.checked_sub(zone.start)? as usize;
            (index.checked_add(order.pages() as usize)? <= zone.entries.len()).then_some(index)
        };
        if let Some(index) = inside(&self.zones[self.last]) {
            return Some(At { zone: self.last, index });
        }
        let (zone, index) = self.zones.iter().enumerate().find_map(|(n, zone)| Some((n, inside(zone)?)))?;
        self.last = zone;
        Some(At { zone, index })
    }

    /// Returns the node of a traced frame.
    pub(super) fn node(&self, at: At) -> u16 {
        self.zones[at.zone].node
    }

    #[inline]
    pub(super) fn get(&self, at: At) -> Traced {
        self.entry(at).get()
    }

    /// Returns true if no frame of a block is in a block in use.
    #[inline]
    pub(super) fn is_unknown(&self, at: At, order: Order) -> bool {
        let pages = order.pages() as usize;
        self.zones[at.zone].entries[at.index..at.index + pages].iter().all(|&word| word == Entry::UNKNOWN.0)
    }

    /// Sets the entry of a block's first frame, and marks the others as inside.
    #[inline]
    pub(super) fn set(&mut self, at: At, order: Order, entry: Entry) {
        let frames = &mut self.zones[at.zone].entries[at.index..at.index + order.pages() as usize];
        frames[0] = entry.0;
        if frames.len() > 1 {
            frames[1..].fill(Entry::inside(order).0);
        }
    }

    /// Removes a block from the table.
    #[inline]
    pub(super) fn clear(&mut self, at: At, order: Order) {
        self.zones[at.zone].entries[at.index..at.index + order.pages() as usize].fill(Entry::UNKNOWN.0);
    }

    /// Returns the first frame of the block of `order` around a frame.
    pub(super) fn head(&self, at: At, order: Order) -> At {
        let start = self.zones[at.zone].start;
        let head = (start + at.index as u64) & !(order.pages() - 1);
        At { zone: at.zone, index: (head.saturating_sub(start)) as usize }
    }

    /// Returns the frame `pages` pages after another frame.
    pub(super) fn behind(at: At, pages: u64) -> At {
        At { zone: at.zone, index: at.index + pages as usize }
    }

    /// Splits a block of order `from` into blocks of order `to`.
    pub(super) fn split(&mut self, head: At, from: Order, to: Order) {
        let (whole, pages) = (self.get(head), self.entry(head).pages());
        for number in 0..1_u64 << (from.get() - to.get()) {
            let offset = number << to.get();
            let entry = match whole {
                Traced::InUse(_, replayed) => Entry::in_use(to, replayed.add(offset), pages),
                _ => Entry::skipped(to),
            };
            self.set(Self::behind(head, offset), to, entry);
        }
    }

    /// Returns the number of blocks in use, by order.
    pub(super) fn in_use(&self) -> CountsByOrder {
        let mut in_use = CountsByOrder::default();
        for word in self.zones.iter().flat_map(|zone| &zone.entries) {
            if let Traced::InUse(order, _) = Entry(*word).get() {
                *in_use.widened(order) += 1;
            }
        }
        in_use
    }
}
