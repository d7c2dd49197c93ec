//! The slots that a script has in use, if every request succeeds.

/// The number of slots of a room. A room is the unit in which slots are added.
const ROOM: u32 = 2048;

/// The length of the longest run of slots.
pub(super) const LONGEST_RUN: u32 = ROOM;

/// The count that marks a room whose slots are used one by one.
const SINGLES: u32 = u32::MAX;

const ORDER: u8 = 0x0f;
const IS_RUN: u8 = 0x20;
const IN_ROOM: u8 = 0x40;
const MARKED: u8 = 0x80;

/// Single slots and runs of slots, with the block in each.
///
/// Every allocation is assumed to succeed. A block that may be split takes a run of one slot for each of its pages.
/// Runs are cut from rooms, and a room is reused when all of it is free. Therefore single slots and runs take constant
/// time.
#[derive(Default)]
pub(super) struct Slots {
    /// For each slot 0 if it is free, otherwise the order plus one, and the flag bits above.
    states: Vec<u8>,
    /// Free slots for single blocks.
    singles: Vec<u32>,
    /// Used slots of each room.
    rooms: Vec<u32>,
    empty_rooms: Vec<u32>,
    /// The room from which runs are cut, and its first slot that is not cut yet.
    current: Option<(u32, u32)>,
    most_rooms: usize,
    pages_in_use: u64,
}

impl Slots {
    pub(super) fn new(zone_pages: u64) -> Self {
        Self { most_rooms: (zone_pages.div_ceil(u64::from(ROOM)) * 2 + 8) as usize, ..Self::default() }
    }

    /// Returns the number of slots that the script needs.
    pub(super) fn len(&self) -> u64 {
        self.states.len() as u64
    }

    /// Returns the number of pages of all blocks in use.
    pub(super) fn pages_in_use(&self) -> u64 {
        self.pages_in_use
    }

    /// Returns the order of the block in a slot.
    pub(super) fn order(&self, slot: u32) -> Option<u8> {
        (self.states[slot as usize] & ORDER).checked_sub(1)
    }

    /// Returns true if the block has a run of slots with room for its pages.
    pub(super) fn can_split(&self, slot: u32) -> bool {
        self.states[slot as usize] & IS_RUN != 0 && self.order(slot).is_some()
    }

    pub(super) fn is_marked(&self, slot: u32) -> bool {
        self.states[slot as usize] & MARKED != 0
    }

    pub(super) fn mark(&mut self, slot: u32, marked: bool) {
        let state = &mut self.states[slot as usize];
        *state = if marked { *state | MARKED } else { *state & !MARKED };
    }

    /// Puts a block into a single slot.
    pub(super) fn take(&mut self, order: u8) -> Option<u32> {
        if self.singles.is_empty() {
            let room = self.new_room(SINGLES)?;
            self.singles.extend((room * ROOM..(room + 1) * ROOM).rev());
        }
        let slot = self.singles.pop()?;
        self.fill(slot, order, 0);
        Some(slot)
    }

    /// Puts a block into the first slot of a run with a slot for each of its pages.
    pub(super) fn take_for_split(&mut self, order: u8) -> Option<u32> {
        let slot = self.run(1 << order)?;
        self.fill(slot, order, IN_ROOM | IS_RUN);
        Some(slot)
    }

    /// Puts single pages into a run of slots.
    pub(super) fn take_pages(&mut self, pages: u32) -> Option<u32> {
        let first = self.run(pages)?;
        for slot in first..first + pages {
            self.fill(slot, 0, IN_ROOM);
        }
        Some(first)
    }

    /// Splits a block; [`Self::can_split`] must be true for its slot.
    pub(super) fn split(&mut self, slot: u32) -> std::ops::Range<u32> {
        let pages = 1 << self.order(slot).unwrap_or_default();
        self.pages_in_use -= u64::from(pages);
        for page in slot..slot + pages {
            self.fill(page, 0, IN_ROOM);
        }
        slot..slot + pages
    }

    /// Frees a slot.
    pub(super) fn release(&mut self, slot: u32) {
        let state = std::mem::take(&mut self.states[slot as usize]);
        let Some(order) = (state & ORDER).checked_sub(1) else { return };
        self.pages_in_use -= 1 << order;
        if state & IN_ROOM == 0 {
            self.singles.push(slot);
            return;
        }
        let room = slot / ROOM;
        let left = &mut self.rooms[room as usize];
        *left -= if state & IS_RUN == 0 { 1 } else { 1 << order };
        if *left > 0 {
            return;
        }
        match &mut self.current {
            Some((current, cut)) if *current == room => *cut = room * ROOM,
            _ => self.empty_rooms.push(room),
        }
    }

    fn fill(&mut self, slot: u32, order: u8, bits: u8) {
        self.states[slot as usize] = (order + 1) | bits;
        self.pages_in_use += 1 << order;
    }

    /// Cuts a run of slots, which then count as used.
    fn run(&mut self, length: u32) -> Option<u32> {
        let fits = |(room, cut): &(u32, u32)| cut + length <= (room + 1) * ROOM;
        let (room, cut) = self.current.filter(fits).or_else(|| self.next_room())?;
        self.current = Some((room, cut + length));
        self.rooms[room as usize] += length;
        Some(cut)
    }

    /// Returns a free room from which runs are cut. The current room has too few slots left.
    fn next_room(&mut self) -> Option<(u32, u32)> {
        let room = self.empty_rooms.pop().or_else(|| self.new_room(0))?;
        // If all its slots are free, no later release adds it to the free rooms.
        let left = self.current.take().filter(|&(left, _)| self.rooms[left as usize] == 0);
        self.empty_rooms.extend(left.map(|(left, _)| left));
        Some((room, room * ROOM))
    }

    fn new_room(&mut self, used: u32) -> Option<u32> {
        if self.rooms.len() >= self.most_rooms {
            return None;
        }
        self.rooms.push(used);
        self.states.resize(self.rooms.len() * ROOM as usize, 0);
        Some(self.rooms.len() as u32 - 1)
    }
}
