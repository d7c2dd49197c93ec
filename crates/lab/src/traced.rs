//! Which replayed block stands for which traced one.

use freehold::{Order, Pfn};

use crate::Machine;

/// What the model knows about a traced frame, in one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry(u64);

/// What a traced frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Traced {
    /// Not in any block that the model holds.
    Unknown,
    /// First frame of a block that the replay holds at another place.
    Held(Order, Pfn),
    /// First frame of a block that the replay could not allocate.
    Skipped(Order),
    /// Inside a block of this order, but not its first frame.
    Inside(Order),
}

const KIND_BITS: u64 = 0x30;
const HELD: u64 = 0x10;
const SKIPPED: u64 = 0x20;
const INSIDE: u64 = 0x30;
const ORDER_BITS: u64 = 0xf;
const PFN_SHIFT: u32 = 8;

impl Entry {
    pub(crate) const UNKNOWN: Self = Self(0);

    pub(crate) fn held(order: Order, replayed: Pfn) -> Self {
        Self(replayed.0 << PFN_SHIFT | HELD | u64::from(order.get()))
    }

    pub(crate) fn skipped(order: Order) -> Self {
        Self(SKIPPED | u64::from(order.get()))
    }

    fn inside(order: Order) -> Self {
        Self(INSIDE | u64::from(order.get()))
    }

    pub(crate) fn get(self) -> Traced {
        let order = Order::new((self.0 & ORDER_BITS) as u8).unwrap_or(Order::ZERO);
        match self.0 & KIND_BITS {
            HELD => Traced::Held(order, Pfn(self.0 >> PFN_SHIFT)),
            SKIPPED => Traced::Skipped(order),
            INSIDE => Traced::Inside(order),
            _ => Traced::Unknown,
        }
    }
}

/// Which replayed block stands for which traced one: a flat table, one word a frame.
///
/// Every frame of a held or skipped block says so, its first one also where the block is;
/// blocks are aligned to their size and do not overlap.
pub(crate) struct TracedFrames {
    zones: Vec<TracedZone>,
    last: usize,
}

struct TracedZone {
    start: u64,
    node: u16,
    entries: Vec<Entry>,
}

/// A traced frame that has been found in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    zone: usize,
    index: usize,
}

impl TracedFrames {
    pub(crate) fn new(machine: &Machine) -> Self {
        let zones = machine.zones.iter().map(|zone| TracedZone {
            start: zone.start.0,
            node: zone.node,
            entries: vec![Entry::UNKNOWN; zone.spanned as usize],
        });
        Self { zones: zones.collect(), last: 0 }
    }

    pub(crate) fn hold_at_start(&mut self, pfn: Pfn, order: Order) {
        if let Some(at) = self.find(pfn, order) {
            self.set(at, order, Entry::held(order, pfn));
        }
    }

    /// Finds a block that is inside one zone.
    #[inline]
    pub(crate) fn find(&mut self, pfn: Pfn, order: Order) -> Option<At> {
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

    /// The node of a traced frame.
    pub(crate) fn node(&self, at: At) -> u16 {
        self.zones[at.zone].node
    }

    #[inline]
    pub(crate) fn get(&self, at: At) -> Traced {
        self.zones[at.zone].entries[at.index].get()
    }

    /// Whether no frame of a block is known.
    #[inline]
    pub(crate) fn is_unknown(&self, at: At, order: Order) -> bool {
        let pages = order.pages() as usize;
        self.zones[at.zone].entries[at.index..at.index + pages].iter().all(|&entry| entry == Entry::UNKNOWN)
    }

    /// Makes a block's first frame say `entry`, and the others that they are inside.
    #[inline]
    pub(crate) fn set(&mut self, at: At, order: Order, entry: Entry) {
        let frames = &mut self.zones[at.zone].entries[at.index..at.index + order.pages() as usize];
        frames[0] = entry;
        if frames.len() > 1 {
            frames[1..].fill(Entry::inside(order));
        }
    }

    /// Forgets a block.
    #[inline]
    pub(crate) fn clear(&mut self, at: At, order: Order) {
        self.zones[at.zone].entries[at.index..at.index + order.pages() as usize].fill(Entry::UNKNOWN);
    }

    /// The first frame of the block of `order` around a frame.
    pub(crate) fn head(&self, at: At, order: Order) -> At {
        let start = self.zones[at.zone].start;
        let head = (start + at.index as u64) & !(order.pages() - 1);
        At { zone: at.zone, index: (head.saturating_sub(start)) as usize }
    }

    /// The frame some pages behind.
    pub(crate) fn behind(at: At, pages: u64) -> At {
        At { zone: at.zone, index: at.index + pages as usize }
    }

    /// Makes a block of `from` many blocks of `to`.
    pub(crate) fn split(&mut self, head: At, from: Order, to: Order) {
        let whole = self.get(head);
        for number in 0..1_u64 << (from.get() - to.get()) {
            let offset = number << to.get();
            let entry = match whole {
                Traced::Held(_, replayed) => Entry::held(to, replayed.add(offset)),
                _ => Entry::skipped(to),
            };
            self.set(Self::behind(head, offset), to, entry);
        }
    }

    /// Blocks that the replay holds for the trace, and their pages.
    pub(crate) fn held(&self) -> (u64, u64) {
        let entries = self.zones.iter().flat_map(|zone| &zone.entries);
        entries.fold((0, 0), |(blocks, pages), entry| match entry.get() {
            Traced::Held(order, _) => (blocks + 1, pages + order.pages()),
            _ => (blocks, pages),
        })
    }
}
