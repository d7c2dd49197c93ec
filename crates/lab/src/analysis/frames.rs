//! The allocated frames, with the request and time of each allocation: flat tables with one entry for each frame.

use freehold::{Order, Pfn};

use crate::start::RecordedMachine;

/// An allocated block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct BlockInUse {
    /// The time of its allocation.
    pub(super) time_ns: u64,
    /// The kind of its request, as an index into [`Requests::kinds`](super::requests::Requests).
    pub(super) request: u16,
    /// The CPU on which it was allocated.
    pub(super) cpu: u16,
    /// Its current order: freeing a part of a block leaves smaller blocks.
    pub(super) order: u8,
    /// True for the first frame of an allocated block.
    is_first: bool,
}

impl BlockInUse {
    pub(super) fn new(time_ns: u64, request: u16, cpu: u16, order: Order) -> Self {
        Self { time_ns, request, cpu, order: order.get(), is_first: true }
    }

    pub(super) fn pages(&self) -> u64 {
        1 << self.order
    }
}

/// The state of 64 frames, one bit for each.
#[derive(Clone, Copy, Default)]
struct Bits {
    /// Set for frames in an allocated block.
    in_use: u64,
    /// Set for frames that an event named.
    touched: u64,
}

/// The place of a zone's frames in the tables.
#[derive(Clone, Copy, Default)]
struct Span {
    start: u64,
    end: u64,
    /// The place of a frame is its number plus this offset (wrapping).
    offset: u64,
}

/// The frames of a machine, zone after zone. A place has the alignment of its frame number.
pub(super) struct Frames {
    spans: Vec<Span>,
    last: Span,
    first_of: Vec<BlockInUse>,
    bits: Vec<Bits>,
}

impl Frames {
    pub(super) fn new(machine: &RecordedMachine) -> Self {
        let largest = machine.max_order.pages();
        let mut spans = Vec::new();
        let mut places = 0;
        for zone in &machine.zones {
            let (start, end) = (zone.start.0, zone.start.0 + zone.spanned);
            let aligned = start & !(largest - 1);
            spans.push(Span { start, end, offset: u64::wrapping_sub(places, aligned) });
            places += (end - aligned).next_multiple_of(largest);
        }
        let last = spans.first().copied().unwrap_or_default();
        let (first_of, bits) =
            (vec![BlockInUse::default(); places as usize], vec![Bits::default(); places as usize / 64]);
        Self { spans, last, first_of, bits }
    }

    /// Returns the number of places in the tables.
    pub(super) fn places(&self) -> usize {
        self.first_of.len()
    }

    /// Returns the place of a block; `None` unless it is aligned and inside one zone.
    #[inline]
    pub(super) fn place(&mut self, pfn: Pfn, order: Order) -> Option<usize> {
        let end = pfn.0.checked_add(order.pages())?;
        if pfn.0 < self.last.start || end > self.last.end {
            self.last = *self.spans.iter().find(|span| span.start <= pfn.0 && end <= span.end)?;
        }
        pfn.is_aligned(order).then(|| pfn.0.wrapping_add(self.last.offset) as usize)
    }

    /// Returns the places of a run of frames, zone by zone.
    pub(super) fn places_of(
        &self,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.spans.iter().filter_map(move |span| {
            let (from, to) = (start.max(span.start), end.min(span.end));
            let place = |pfn: u64| pfn.wrapping_add(span.offset) as usize;
            (from < to).then(|| place(from)..place(to))
        })
    }

    /// Returns true if the block has a frame that no event has named so far.
    #[inline]
    pub(super) fn is_news(&self, place: usize, order: Order) -> bool {
        let (words, mask) = bits_of(place, order.get());
        self.bits[words].iter().any(|bits| bits.touched & mask != mask)
    }

    /// Marks a block as allocated. Calls `displaced` for each block that occupied its frames until now, because its
    /// free event is missing, with the number of pages that this block loses.
    #[inline]
    pub(super) fn hold(&mut self, place: usize, block: BlockInUse, displaced: impl FnMut(BlockInUse, u64)) {
        let (words, mask) = bits_of(place, block.order);
        if self.bits[words.clone()].iter().any(|bits| bits.in_use & mask != 0) {
            self.carve(place, block.order, displaced);
        }
        for bits in &mut self.bits[words] {
            bits.in_use |= mask;
            bits.touched |= mask;
        }
        self.first_of[place] = block;
    }

    /// Frees a block. Calls `freed` for each allocated block that it overlaps, with the number of that block's
    /// pages that it frees. Skips frames that are not allocated.
    #[inline]
    pub(super) fn free(&mut self, place: usize, order: Order, mut freed: impl FnMut(BlockInUse, u64)) {
        let (words, mask) = bits_of(place, order.get());
        for bits in &mut self.bits[words.clone()] {
            bits.touched |= mask;
        }
        let in_use = self.first_of[place];
        if in_use.is_first && in_use.order == order.get() {
            for bits in &mut self.bits[words] {
                bits.in_use &= !mask;
            }
            self.first_of[place].is_first = false;
            freed(in_use, in_use.pages());
        } else if self.bits[words].iter().any(|bits| bits.in_use & mask != 0) {
            self.carve(place, order.get(), freed);
        }
    }

    /// Removes an aligned range from the allocated blocks. Removes blocks inside the range whole, and splits a
    /// block around it into buddies, one of which is the range.
    #[cold]
    fn carve(&mut self, place: usize, order: u8, mut taken: impl FnMut(BlockInUse, u64)) {
        let end = place + (1 << order);
        let mut at = place;
        while at < end {
            if !self.is_in_use(at) {
                at += 1;
                continue;
            }
            let first = self.first_of_block(at);
            let mut in_use = self.first_of[first];
            if in_use.order > order {
                self.split(first, place, order);
                in_use.order = order;
            }
            let pages = in_use.pages();
            self.first_of[at].is_first = false;
            let (words, mask) = bits_of(at, in_use.order);
            for bits in &mut self.bits[words] {
                bits.in_use &= !mask;
            }
            taken(in_use, pages);
            at += pages as usize;
        }
    }

    /// Splits the block that starts at `first` until a block of `order` starts at `place`.
    fn split(&mut self, first: usize, place: usize, order: u8) {
        let mut at = first;
        let mut half = self.first_of[first];
        while half.order > order {
            half.order -= 1;
            let buddy = at + (1 << half.order);
            self.first_of[at] = half;
            self.first_of[buddy] = half;
            if place >= buddy {
                at = buddy;
            }
        }
    }

    /// Returns the first place of the allocated block around an allocated frame.
    fn first_of_block(&self, place: usize) -> usize {
        let starts = Order::ZERO.up_to(Order::MAX).map(|order| place & !(order.pages() as usize - 1));
        let mut around = starts.filter(|&start| {
            let in_use = self.first_of[start];
            in_use.is_first && place < start + in_use.pages() as usize
        });
        around.next().unwrap_or(place)
    }

    pub(super) fn is_in_use(&self, place: usize) -> bool {
        self.bits[place / 64].in_use >> (place % 64) & 1 != 0
    }

    /// Returns true if an event named the frame.
    pub(super) fn is_touched(&self, place: usize) -> bool {
        self.bits[place / 64].touched >> (place % 64) & 1 != 0
    }

    /// Returns every allocated block, by place.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (usize, BlockInUse)> + '_ {
        self.bits.iter().enumerate().filter(|(_, bits)| bits.in_use != 0).flat_map(|(word, bits)| {
            let places =
                (0..64).filter(move |bit| bits.in_use >> bit & 1 != 0).map(move |bit| word * 64 + bit);
            places
                .filter_map(|place| Some((place, self.first_of[place])).filter(|(_, in_use)| in_use.is_first))
        })
    }
}

/// Returns the words with the bits of an aligned block, and the mask for each word.
#[inline]
fn bits_of(place: usize, order: u8) -> (std::ops::Range<usize>, u64) {
    let (word, pages) = (place / 64, 1_usize << order);
    let mask = (u64::MAX >> (64 - pages.min(64))) << (place % 64);
    (word..word + pages.div_ceil(64), mask)
}

#[cfg(test)]
mod tests {
    use freehold_trace::{Snapshot, ZoneSnapshot};

    use super::*;

    fn order(value: u8) -> Order {
        Order::new(value).expect("an order")
    }

    fn frames() -> Frames {
        let zone = |name: &str, start_pfn, spanned| ZoneSnapshot {
            name: name.into(),
            start_pfn,
            spanned,
            ..ZoneSnapshot::default()
        };
        let zones = vec![zone("DMA", 1, 4095), zone("Normal", 0x10_0040, 2048)];
        let start = Snapshot { zones, ..Snapshot::default() };
        Frames::new(&RecordedMachine::new(&start, &freehold_trace::EventLog::default()).expect("a machine"))
    }

    #[test]
    fn places_keep_the_alignment_of_frames() {
        let mut frames = frames();
        assert_eq!(frames.places(), 4096 + 3072);
        assert_eq!(frames.place(Pfn(0), order(0)), None, "before the first zone");
        assert_eq!(frames.place(Pfn(1024), order(10)), Some(1024));
        assert_eq!(frames.place(Pfn(0x10_0040), order(6)), Some(4096 + 64));
        assert_eq!(frames.place(Pfn(0x10_0041), order(1)), None, "misaligned");
        assert_eq!(frames.place(Pfn(0x10_0800), order(7)), None, "across the end of the zone");
        assert_eq!(frames.place(Pfn(u64::MAX), order(0)), None);
        let places: Vec<_> = frames.places_of(0, u64::MAX).collect();
        assert_eq!(places, [1..4096, 4160..4096 + 64 + 2048]);
    }

    #[test]
    fn freeing_a_part_of_a_block_leaves_its_buddies() {
        let mut frames = frames();
        let block = BlockInUse::new(7, 3, 1, order(10));
        assert!(frames.is_news(1024, order(10)));
        frames.hold(1024, block, |_, _| panic!("a free block is displaced"));
        assert!(!frames.is_news(1024, order(10)) && frames.is_news(0, order(0)));
        let mut freed = Vec::new();
        frames
            .free(1024 + 512, order(1), |in_use, pages| freed.push((in_use.time_ns, in_use.request, pages)));
        assert_eq!(freed, [(7, 3, 2)]);
        let sizes: Vec<_> = frames.in_use().map(|(place, in_use)| (place - 1024, in_use.order)).collect();
        assert_eq!(
            sizes,
            [(0, 9), (514, 1), (516, 2), (520, 3), (528, 4), (544, 5), (576, 6), (640, 7), (768, 8)]
        );
        let mut pages = 0;
        frames.free(1024, order(10), |_, freed| pages += freed);
        assert_eq!((pages, frames.in_use().count()), (1022, 0));
        frames.free(1024, order(10), |_, _| panic!("freed twice"));
    }

    #[test]
    fn allocating_an_allocated_block_displaces_it() {
        let mut frames = frames();
        frames.hold(64, BlockInUse::new(1, 0, 0, order(6)), |_, _| {});
        let mut gone = Vec::new();
        frames
            .hold(66, BlockInUse::new(2, 1, 0, order(0)), |in_use, pages| gone.push((in_use.request, pages)));
        assert_eq!(gone, [(0, 1)]);
        gone.clear();
        frames
            .hold(0, BlockInUse::new(3, 2, 0, order(7)), |in_use, pages| gone.push((in_use.request, pages)));
        gone.sort_unstable();
        assert_eq!(gone, [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 1)]);
        assert!(frames.is_in_use(127) && frames.is_touched(0) && !frames.is_touched(128));
        assert_eq!(
            frames.in_use().map(|(place, in_use)| (place, in_use.request)).collect::<Vec<_>>(),
            [(0, 2)]
        );
    }
}
