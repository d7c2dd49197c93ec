//! The state and the links of a page frame.

use super::sync::{AtomicU16, AtomicU32, Ordering};
use crate::types::{Migratetype, Order, Platform};

/// The state of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum FrameKind {
    /// No memory, or memory that this allocator does not manage.
    Absent = 0,
    /// A frame of a block other than its first.
    Tail = 1,
    /// In use since before the allocator started; never freed.
    Reserved = 2,
    /// The first frame of a block on a free list.
    Free = 3,
    /// The first frame of a block on a per-CPU list.
    PerCpu = 4,
    /// The first frame of a block that a caller owns.
    Allocated = 5,
    /// The first frame of a block that changes from one of the states above to another.
    InTransit = 6,
}

/// A frame's state as one word: its kind, the order of its block, and a type.
///
/// The meaning of the type depends on the kind:
///
/// - `Free`: the type of the block's free list.
/// - `Allocated`: the type that the owner requested.
/// - `PerCpu`: the type of the free list to which a drain moves the block; only the eras without hygiene use it. With
///   [`crate::Switches::claims_by_counts`] it is the type that the last owner requested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameWord(u32);

const KIND_BITS: u32 = 0x7;
const ORDER_SHIFT: u32 = 3;
const ORDER_BITS: u32 = 0x1f;
const TYPE_SHIFT: u32 = 8;
const TYPE_BITS: u32 = 0x7;
const MOVABLE: u32 = 1 << 12;
const RUN: u32 = 1 << 13;
const RUN_DOWN: u32 = 1 << 14;

impl FrameWord {
    pub(crate) const ABSENT: Self = Self(FrameKind::Absent as u32);
    pub(crate) const TAIL: Self = Self(FrameKind::Tail as u32);
    pub(crate) const RESERVED: Self = Self(FrameKind::Reserved as u32);

    pub(crate) const fn head(kind: FrameKind, order: Order, migratetype: Migratetype) -> Self {
        Self(kind as u32 | (order.get() as u32) << ORDER_SHIFT | (migratetype as u32) << TYPE_SHIFT)
    }

    /// Returns the word of an allocated block. With `movable`, its pages can be migrated.
    pub(crate) const fn allocated(order: Order, migratetype: Migratetype, movable: bool) -> Self {
        let word = Self::head(FrameKind::Allocated, order, migratetype);
        if movable { Self(word.0 | MOVABLE) } else { word }
    }

    /// Returns the word of a block for a request of type `wanted`. The block is movable if the request is.
    pub(crate) const fn requested(order: Order, wanted: Migratetype) -> Self {
        Self::allocated(order, wanted, matches!(wanted, Migratetype::Movable))
    }

    /// Returns the word in 16 bits, as the table keeps it. Calculations use 32 bits, which is faster.
    const fn narrow(self) -> u16 {
        self.0 as u16
    }

    pub(crate) const fn with_movable(self, movable: bool) -> Self {
        if movable { Self(self.0 | MOVABLE) } else { Self(self.0 & !MOVABLE) }
    }

    pub(crate) const fn kind(self) -> FrameKind {
        match self.0 & KIND_BITS {
            1 => FrameKind::Tail,
            2 => FrameKind::Reserved,
            3 => FrameKind::Free,
            4 => FrameKind::PerCpu,
            5 => FrameKind::Allocated,
            6 => FrameKind::InTransit,
            _ => FrameKind::Absent,
        }
    }

    /// Returns the order of the block that starts at the frame; 0 if none does.
    pub(crate) const fn order(self) -> Order {
        match Order::new((self.0 >> ORDER_SHIFT & ORDER_BITS) as u8) {
            Some(order) => order,
            None => Order::MAX,
        }
    }

    pub(crate) const fn migratetype(self) -> Migratetype {
        match Migratetype::new((self.0 >> TYPE_SHIFT & TYPE_BITS) as u8) {
            Some(migratetype) => migratetype,
            None => Migratetype::Isolate,
        }
    }

    pub(crate) const fn is_movable(self) -> bool {
        self.0 & MOVABLE != 0
    }

    /// Returns the word of a linked block on a per-CPU list. With `run` the block is the first of a run. With `down`
    /// the run goes towards lower addresses.
    pub(crate) const fn with_run(self, run: bool, down: bool) -> Self {
        let alone = self.0 & !(RUN | RUN_DOWN);
        Self(alone | if run { RUN } else { 0 } | if down { RUN_DOWN } else { 0 })
    }

    /// Returns two flags of a linked block on a per-CPU list: true if it is the first of a run, and true if the run
    /// goes towards lower addresses.
    pub(crate) const fn run(self) -> (bool, bool) {
        (self.0 & RUN != 0, self.0 & RUN_DOWN != 0)
    }

    /// Returns the number of the block's pages if the last request for it was movable, otherwise 0.
    pub(crate) const fn movable_pages(self) -> u32 {
        let movable = matches!(self.migratetype(), Migratetype::Movable | Migratetype::Cma);
        if movable { self.order().pages() as u32 } else { 0 }
    }

    /// Returns the word of the freed block on a per-CPU list, with the type that its last owner requested.
    pub(crate) const fn given_back(self) -> Self {
        Self(self.0 & !(KIND_BITS | MOVABLE) | FrameKind::PerCpu as u32)
    }

    /// Returns true if an allocated block of this order starts here.
    pub(crate) const fn is_owned_of(self, order: Order) -> bool {
        let owned = FrameKind::Allocated as u32 | (order.get() as u32) << ORDER_SHIFT;
        self.0 & (KIND_BITS | ORDER_BITS << ORDER_SHIFT) == owned
    }

    pub(crate) const fn is_free_of(self, order: Order) -> bool {
        let free = FrameKind::Free as u32 | (order.get() as u32) << ORDER_SHIFT;
        self.0 & (KIND_BITS | ORDER_BITS << ORDER_SHIFT) == free
    }
}

/// Whether two callers may free the same block at the same instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RacingFrees {
    /// They never do: the free is a store.
    None,
    /// They may: the free is a compare-and-swap, and one of the two frees succeeds.
    Possible,
}

impl RacingFrees {
    /// Returns the value for the embedder's [`Platform::DETECTS_RACING_FREES`].
    pub(crate) const fn of<P: Platform>() -> Self {
        if P::DETECTS_RACING_FREES { Self::Possible } else { Self::None }
    }
}

/// The state of one frame: 2 bytes.
///
/// Written by the holder of the lock of the list that the frame is on or, for an allocated
/// frame, by the one caller that frees it.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Frame(AtomicU16);

impl Frame {
    pub(crate) fn absent() -> Self {
        Self(AtomicU16::new(FrameWord::ABSENT.narrow()))
    }

    pub(crate) fn word(&self) -> FrameWord {
        FrameWord(self.0.load(Ordering::Relaxed).into())
    }

    pub(crate) fn set_word(&self, word: FrameWord) {
        self.0.store(word.narrow(), Ordering::Relaxed);
    }

    /// Gives the block that starts here to its new owner.
    pub(crate) fn hand_over(&self, word: FrameWord) {
        // Pairs with the acquire in `exchange_word`: the caller that takes the block back sees every write to its
        // links.
        self.0.store(word.narrow(), Ordering::Release);
    }

    /// Replaces the word of an allocated block that its owner frees. Returns false if another caller freed the block
    /// first.
    #[inline]
    pub(crate) fn replace_owned(&self, from: FrameWord, to: FrameWord, racing: RacingFrees) -> bool {
        match racing {
            RacingFrees::Possible => self.exchange_word(from, to),
            RacingFrees::None => {
                // The free of the only owner is ordered after the request that gave it the block.
                self.set_word(to);
                true
            }
        }
    }

    /// Replaces `from` by `to`. Returns false if another caller changed the word first.
    ///
    /// Of two callers that free the same block, one succeeds.
    pub(crate) fn exchange_word(&self, from: FrameWord, to: FrameWord) -> bool {
        // Pairs with the release in `hand_over`.
        self.0.compare_exchange(from.narrow(), to.narrow(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// The neighbours of one frame's block on a list: 8 bytes.
///
/// The holder of the list's lock reads and writes them. A page that moves between its owner and a per-CPU list does not
/// use them. Therefore they are in a separate table.
#[derive(Debug)]
#[repr(C, align(8))]
pub(crate) struct Links {
    next: AtomicU32,
    previous: AtomicU32,
}

impl Links {
    pub(crate) fn none() -> Self {
        Self { next: AtomicU32::new(NIL), previous: AtomicU32::new(NIL) }
    }

    pub(crate) fn next(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }

    pub(super) fn previous(&self) -> u32 {
        self.previous.load(Ordering::Relaxed)
    }

    pub(crate) fn set_next(&self, to: u32) {
        self.next.store(to, Ordering::Relaxed);
    }

    pub(super) fn set_previous(&self, to: u32) {
        self.previous.store(to, Ordering::Relaxed);
    }
}

/// The value of a link that refers to no frame.
pub(super) const NIL: u32 = u32::MAX;

/// A frame of one zone, counted from the zone's origin.
///
/// The origin is the zone's first frame rounded down to the largest block, and a section is at least as large as
/// such a block, so that buddies differ in one bit of the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FrameIndex(pub(crate) u32);

impl FrameIndex {
    pub(crate) const fn buddy(self, order: Order) -> Self {
        Self(self.0 ^ 1 << order.get())
    }

    pub(crate) const fn align_down(self, order: Order) -> Self {
        Self(self.0 & !((1 << order.get()) - 1))
    }

    pub(crate) const fn offset(self, pages: u32) -> Self {
        Self(self.0 + pages)
    }

    /// Returns true if the frame can start a block of `order`.
    pub(crate) const fn is_aligned(self, order: Order) -> bool {
        self.0 & ((1 << order.get()) - 1) == 0
    }
}
