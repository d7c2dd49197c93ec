//! Which frames are held, by which request, since when: flat tables, one entry a frame.

use freehold::{Order, Pfn};

use crate::start::Machine;

/// A held block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Held {
    /// When it was allocated.
    pub(super) time_ns: u64,
    /// The kind of its request, as an index into [`Requests::kinds`](super::requests::Requests).
    pub(super) request: u16,
    /// The CPU on which it was allocated.
    pub(super) cpu: u16,
    /// Its current order: freeing a part of a block leaves smaller blocks.
    pub(super) order: u8,
    /// True for the first frame of a held block.
    is_first: bool,
}

impl Held {
    pub(super) fn new(time_ns: u64, request: u16, cpu: u16, order: Order) -> Self {
        Self { time_ns, request, cpu, order: order.get(), is_first: true }
    }

    pub(super) fn pages(&self) -> u64 {
        1 << self.order
    }
}

/// 64 frames, a bit each.
#[derive(Clone, Copy, Default)]
struct Bits {
    /// Bits of frames in a held block.
    held: u64,
    /// Bits of frames that some event named.
    touched: u64,
}

/// Where a zone's frames are in the tables.
#[derive(Clone, Copy, Default)]
struct Span {
    start: u64,
    end: u64,
    /// What is added to a frame number to get its place, wrapping.
    offset: u64,
}

/// The frames of a machine, zone behind zone. A place is as aligned as its frame number.
pub(super) struct Frames {
    spans: Vec<Span>,
    last: Span,
    first_of: Vec<Held>,
    bits: Vec<Bits>,
}

impl Frames {
    pub(super) fn new(machine: &Machine) -> Self {
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
            (vec![Held::default(); places as usize], vec![Bits::default(); places as usize / 64]);
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

    /// Returns true if some frame of a block was in no event so far.
    #[inline]
    pub(super) fn is_news(&self, place: usize, order: Order) -> bool {
        let (words, mask) = bits_of(place, order.get());
        self.bits[words].iter().any(|bits| bits.touched & mask != mask)
    }

    /// Marks a block as held. Calls `displaced` with each block that held its frames until now, whose free is
    /// missing, and the pages concerned.
    #[inline]
    pub(super) fn hold(&mut self, place: usize, block: Held, displaced: impl FnMut(Held, u64)) {
        let (words, mask) = bits_of(place, block.order);
        if self.bits[words.clone()].iter().any(|bits| bits.held & mask != 0) {
            self.carve(place, block.order, displaced);
        }
        for bits in &mut self.bits[words] {
            bits.held |= mask;
            bits.touched |= mask;
        }
        self.first_of[place] = block;
    }

    /// Frees a block. Calls `freed` with each held block that it overlaps and the number of that block's pages it
    /// frees; frames that nobody holds are skipped.
    #[inline]
    pub(super) fn free(&mut self, place: usize, order: Order, mut freed: impl FnMut(Held, u64)) {
        let (words, mask) = bits_of(place, order.get());
        for bits in &mut self.bits[words.clone()] {
            bits.touched |= mask;
        }
        let held = self.first_of[place];
        if held.is_first && held.order == order.get() {
            for bits in &mut self.bits[words] {
                bits.held &= !mask;
            }
            self.first_of[place].is_first = false;
            freed(held, held.pages());
        } else if self.bits[words].iter().any(|bits| bits.held & mask != 0) {
            self.carve(place, order.get(), freed);
        }
    }

    /// Removes an aligned range from the held blocks: blocks inside it are removed whole, a block around it is
    /// split into buddies of which the range is one.
    #[cold]
    fn carve(&mut self, place: usize, order: u8, mut taken: impl FnMut(Held, u64)) {
        let end = place + (1 << order);
        let mut at = place;
        while at < end {
            if !self.is_held(at) {
                at += 1;
                continue;
            }
            let first = self.first_of_block(at);
            let mut held = self.first_of[first];
            if held.order > order {
                self.split(first, place, order);
                held.order = order;
            }
            let pages = held.pages();
            self.first_of[at].is_first = false;
            let (words, mask) = bits_of(at, held.order);
            for bits in &mut self.bits[words] {
                bits.held &= !mask;
            }
            taken(held, pages);
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

    /// Returns the first place of the held block around a held frame.
    fn first_of_block(&self, place: usize) -> usize {
        let starts = Order::ZERO.up_to(Order::MAX).map(|order| place & !(order.pages() as usize - 1));
        let mut around = starts.filter(|&start| {
            let held = self.first_of[start];
            held.is_first && place < start + held.pages() as usize
        });
        around.next().unwrap_or(place)
    }

    pub(super) fn is_held(&self, place: usize) -> bool {
        self.bits[place / 64].held >> (place % 64) & 1 != 0
    }

    /// Returns true if an event named the frame.
    pub(super) fn is_touched(&self, place: usize) -> bool {
        self.bits[place / 64].touched >> (place % 64) & 1 != 0
    }

    /// Returns every held block, by place.
    pub(super) fn held(&self) -> impl Iterator<Item = (usize, Held)> + '_ {
        self.bits.iter().enumerate().filter(|(_, bits)| bits.held != 0).flat_map(|(word, bits)| {
            let places = (0..64).filter(move |bit| bits.held >> bit & 1 != 0).map(move |bit| word * 64 + bit);
            places.filter_map(|place| Some((place, self.first_of[place])).filter(|(_, held)| held.is_first))
        })
    }
}

/// Returns the words that hold the bits of an aligned block, and which bits of each.
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
        Frames::new(&Machine::new(&start, &freehold_trace::EventLog::default()).expect("a machine"))
    }

    #[test]
    fn places_keep_the_alignment_of_frames() {
        let mut frames = frames();
        assert_eq!(frames.places(), 4096 + 3072);
        assert_eq!(frames.place(Pfn(0), order(0)), None, "before the first zone");
        assert_eq!(frames.place(Pfn(1024), order(10)), Some(1024));
        assert_eq!(frames.place(Pfn(0x10_0040), order(6)), Some(4096 + 64));
        assert_eq!(frames.place(Pfn(0x10_0041), order(1)), None, "misaligned");
        assert_eq!(frames.place(Pfn(0x10_0800), order(7)), None, "over the end");
        assert_eq!(frames.place(Pfn(u64::MAX), order(0)), None);
        let places: Vec<_> = frames.places_of(0, u64::MAX).collect();
        assert_eq!(places, [1..4096, 4160..4096 + 64 + 2048]);
    }

    #[test]
    fn a_block_freed_in_parts_leaves_its_buddies() {
        let mut frames = frames();
        let block = Held::new(7, 3, 1, order(10));
        assert!(frames.is_news(1024, order(10)));
        frames.hold(1024, block, |_, _| panic!("nothing was there"));
        assert!(!frames.is_news(1024, order(10)) && frames.is_news(0, order(0)));
        let mut freed = Vec::new();
        frames.free(1024 + 512, order(1), |held, pages| freed.push((held.time_ns, held.request, pages)));
        assert_eq!(freed, [(7, 3, 2)]);
        let sizes: Vec<_> = frames.held().map(|(place, held)| (place - 1024, held.order)).collect();
        assert_eq!(
            sizes,
            [(0, 9), (514, 1), (516, 2), (520, 3), (528, 4), (544, 5), (576, 6), (640, 7), (768, 8)]
        );
        let mut pages = 0;
        frames.free(1024, order(10), |_, freed| pages += freed);
        assert_eq!((pages, frames.held().count()), (1022, 0));
        frames.free(1024, order(10), |_, _| panic!("freed twice"));
    }

    #[test]
    fn what_is_held_already_is_displaced() {
        let mut frames = frames();
        frames.hold(64, Held::new(1, 0, 0, order(6)), |_, _| {});
        let mut gone = Vec::new();
        frames.hold(66, Held::new(2, 1, 0, order(0)), |held, pages| gone.push((held.request, pages)));
        assert_eq!(gone, [(0, 1)]);
        gone.clear();
        frames.hold(0, Held::new(3, 2, 0, order(7)), |held, pages| gone.push((held.request, pages)));
        gone.sort_unstable();
        assert_eq!(gone, [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32), (1, 1)]);
        assert!(frames.is_held(127) && frames.is_touched(0) && !frames.is_touched(128));
        assert_eq!(frames.held().map(|(place, held)| (place, held.request)).collect::<Vec<_>>(), [(0, 2)]);
    }
}
