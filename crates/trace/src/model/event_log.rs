//! The events of a trace in memory, twelve bytes each.

use std::hash::BuildHasher;

use freehold::Pfn;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::event::{Event, EventKind};

/// The most events of a chunk.
const CHUNK: usize = 1 << 16;

/// The frame of an event without a frame, or with its frame in its shape.
const OF_SHAPE: u32 = u32::MAX;

/// Events in memory: 12 bytes for each, and a table of shapes.
///
/// Most events of a trace differ from an earlier event only in time and frame. The rest of an event is its *shape*,
/// which is stored once. An event is the number of a shape, a time within its chunk, and a frame. Any event can be
/// stored. Events of one machine in the order of time need the least memory.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    chunks: Vec<Chunk>,
    len: usize,
    /// The shapes: events with time 0, and with frame 0 if their frame fits in 32 bits.
    shapes: Vec<Event>,
    /// The index of each of `shapes`.
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    last: Option<Event>,
}

#[derive(Clone, Debug)]
struct Chunk {
    base_ns: u64,
    /// The index of the chunk's first event.
    first: usize,
    events: Vec<Packed>,
}

#[derive(Clone, Copy, Debug)]
struct Packed {
    /// Nanoseconds since the chunk's base.
    since_ns: u32,
    frame: u32,
    shape: u32,
}

impl EventLog {
    /// Adds an event at the end.
    ///
    /// # Panics
    /// If there are 2^32 different shapes.
    pub fn push(&mut self, event: &Event) {
        let (shape, frame) = taken_apart(event);
        let shape = self.number(&shape);
        let open = self.chunks.last_mut().filter(|chunk| chunk.events.len() < CHUNK);
        let open = open.and_then(|chunk| {
            let since_ns = event.time_ns.checked_sub(chunk.base_ns)?;
            Some((chunk, u32::try_from(since_ns).ok()?))
        });
        if let Some((chunk, since_ns)) = open {
            chunk.events.push(Packed { since_ns, frame, shape });
        } else {
            let events = vec![Packed { since_ns: 0, frame, shape }];
            self.chunks.push(Chunk { base_ns: event.time_ns, first: self.len, events });
        }
        self.len += 1;
        self.last = Some(*event);
    }

    /// Returns the index of a shape. Adds the shape if it is new.
    fn number(&mut self, shape: &Event) -> u32 {
        let Self { shapes, numbers, hasher, .. } = self;
        let hash = hasher.hash_one(shape);
        if let Some(&number) = numbers.find(hash, |&number| shapes[number as usize] == *shape) {
            return number;
        }
        let number = u32::try_from(shapes.len()).expect("fewer than 2^32 shapes");
        shapes.push(*shape);
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(shapes[number as usize]));
        number
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no events.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the first event.
    pub fn first(&self) -> Option<Event> {
        self.iter().next()
    }

    /// Returns the last event.
    pub fn last(&self) -> Option<Event> {
        self.last
    }

    /// Returns an event by its index.
    pub fn get(&self, number: usize) -> Option<Event> {
        let behind = self.chunks.partition_point(|chunk| chunk.first <= number);
        let chunk = &self.chunks[behind.checked_sub(1)?];
        chunk.events.get(number - chunk.first).map(|packed| self.event(chunk, packed))
    }

    /// Returns an iterator over all events, from either end.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Event> + '_ {
        self.chunks
            .iter()
            .flat_map(move |chunk| chunk.events.iter().map(move |packed| self.event(chunk, packed)))
    }

    /// Calls `take` with each event in order. It is faster than [`Self::iter`].
    #[inline]
    pub fn for_each(&self, take: impl FnMut(Event)) {
        self.for_each_while(|_| true, take);
    }

    /// Calls `take` with each event in order. After each chunk of events, calls `goes_on` with the number of events in
    /// the chunk, and stops if it returns false.
    #[inline]
    pub fn for_each_while(&self, mut goes_on: impl FnMut(usize) -> bool, mut take: impl FnMut(Event)) {
        for chunk in &self.chunks {
            for packed in &chunk.events {
                take(self.event(chunk, packed));
            }
            if !goes_on(chunk.events.len()) {
                return;
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "an event in memory takes longer to read than one in registers")]
    fn event(&self, chunk: &Chunk, packed: &Packed) -> Event {
        let shape = &self.shapes[packed.shape as usize];
        let time_ns = chunk.base_ns + u64::from(packed.since_ns);
        let frame = Pfn(packed.frame.into());
        let kind = match shape.kind {
            _ if packed.frame == OF_SHAPE => shape.kind,
            EventKind::Alloc { pfn: Some(_), order, migratetype, gfp } => {
                EventKind::Alloc { pfn: Some(frame), order, migratetype, gfp }
            }
            EventKind::Free { order, .. } => EventKind::Free { pfn: frame, order },
            mut other => {
                if let Some(pfn) = other.pfn_mut() {
                    *pfn = frame;
                }
                other
            }
        };
        Event { time_ns, cpu: shape.cpu, pid: shape.pid, kind }
    }
}

/// Splits an event into its shape and its frame.
fn taken_apart(event: &Event) -> (Event, u32) {
    let mut shape = Event { time_ns: 0, ..*event };
    let mut frame = OF_SHAPE;
    if let Some(pfn) = shape.kind.pfn_mut()
        && let Some(fits) = u32::try_from(pfn.0).ok().filter(|&fits| fits != OF_SHAPE)
    {
        frame = fits;
        *pfn = Pfn(0);
    }
    (shape, frame)
}

impl Extend<Event> for EventLog {
    fn extend<I: IntoIterator<Item = Event>>(&mut self, events: I) {
        events.into_iter().for_each(|event| self.push(&event));
    }
}

impl FromIterator<Event> for EventLog {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Self {
        let mut log = Self::default();
        log.extend(events);
        log
    }
}

impl From<&[Event]> for EventLog {
    fn from(events: &[Event]) -> Self {
        events.iter().copied().collect()
    }
}

impl PartialEq for EventLog {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use freehold::{GfpFlags, Migratetype, Order};

    use super::*;

    fn event(time_ns: u64, kind: EventKind) -> Event {
        Event { time_ns, cpu: 1, pid: 7, kind }
    }

    fn free(time_ns: u64, pfn: u64) -> Event {
        event(time_ns, EventKind::Free { pfn: Pfn(pfn), order: Order::ZERO })
    }

    #[test]
    fn stored_events_are_unchanged() {
        let refused = EventKind::Alloc {
            pfn: None,
            order: Order::MAX_PAGE_ORDER,
            migratetype: Migratetype::Movable,
            gfp: GfpFlags::KERNEL,
        };
        let events = [
            free(5, 1),
            free(5 + u64::from(u32::MAX), 2),
            // The first time is one nanosecond beyond the range of a chunk. An earlier time follows, then the latest.
            free(6 + u64::from(u32::MAX), 3),
            free(0, u64::from(u32::MAX) - 1),
            free(0, u64::from(u32::MAX)),
            free(1, u64::from(u32::MAX) + 1),
            free(u64::MAX, u64::MAX),
            event(9, refused),
            event(9, EventKind::CompactionBegin),
            event(10, EventKind::Lost { count: u64::MAX }),
        ];
        let log = EventLog::from(&events[..]);
        assert_eq!(log.iter().collect::<Vec<_>>(), events);
        assert!(log.iter().rev().eq(events.iter().rev().copied()));
        assert!((0..=events.len()).all(|number| log.get(number).as_ref() == events.get(number)));
        assert_eq!((log.first(), log.last()), (Some(events[0]), Some(events[9])));
        assert!(EventLog::default().get(0).is_none() && EventLog::default().is_empty());
    }

    #[test]
    fn equal_shapes_are_kept_once() {
        let events = (0..3 * CHUNK as u64 / 2).map(|number| free(number, number));
        let log: EventLog = events.clone().collect();
        assert_eq!((log.shapes.len(), log.chunks.len()), (1, 2));
        assert!(log.iter().eq(events));
        let (mut chunks, mut taken) = (Vec::new(), 0);
        log.for_each_while(
            |events| {
                chunks.push(events);
                false
            },
            |_| taken += 1,
        );
        assert_eq!((chunks, taken), (vec![CHUNK], CHUNK));
        assert_eq!(size_of::<Packed>(), 12);
    }
}
