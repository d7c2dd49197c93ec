//! One of a CPU's lists: the newest blocks on a stack, the older ones in runs.

use crate::table::{BlockList, FrameIndex, FrameTable, Place, Run};
use crate::types::Order;

/// Blocks of one order and type on one CPU, newest first.
///
/// A free and the next allocation touch only the stack and the block's own word. Below the stack the list consists of
/// runs of adjacent blocks. Only the first block of a run is linked; the links of the second hold the length of the
/// run. The words of all blocks mark them as on a per-CPU list.
/// Linux counterpart: one of `per_cpu_pages->lists`.
#[derive(Debug)]
pub(crate) struct PerCpuList<'m> {
    /// The stack lies in places `bottom..top`.
    top: u32,
    bottom: u32,
    newest: &'m mut [u32],
    older: BlockList,
}

/// A position between two blocks of a list.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// The number of blocks on the stack that are still to come.
    stacked: u32,
    run: Option<Run>,
    /// The number of blocks of the current run before the position.
    passed: u32,
}

impl<'m> PerCpuList<'m> {
    /// Returns an empty list with `newest` as its stack, which must have at least two places.
    pub(crate) fn new(newest: &'m mut [u32]) -> Self {
        Self { top: 0, bottom: 0, newest, older: BlockList::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.top == self.bottom && self.older.is_empty()
    }

    /// Returns true if the stack has room for one more block.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        (self.top as usize) < self.newest.len()
    }

    /// Puts a block on the stack, which must have room. The caller has marked the block's word as on a per-CPU list.
    #[inline]
    pub(super) fn push_stacked(&mut self, index: FrameIndex) {
        debug_assert!(self.has_room());
        self.newest[self.top as usize] = index.0;
        self.top += 1;
    }

    /// Takes the first block from the list if it is on the stack.
    #[inline]
    pub(super) fn pop_stacked(&mut self) -> Option<FrameIndex> {
        if self.top == self.bottom {
            return None;
        }
        self.top -= 1;
        Some(FrameIndex(self.newest[self.top as usize]))
    }

    /// Puts a block at the head. The caller has marked the block's word as on a per-CPU list.
    #[inline]
    pub(super) fn push_first(&mut self, frames: &FrameTable<'_>, index: FrameIndex) {
        if !self.has_room() {
            self.make_room(frames);
        }
        self.push_stacked(index);
    }

    /// Takes the first block from the list.
    #[inline]
    pub(super) fn pop_first(&mut self, frames: &FrameTable<'_>) -> Option<FrameIndex> {
        if self.top == self.bottom {
            self.fetch(frames);
        }
        self.pop_stacked()
    }

    /// Puts blocks at the tail. The caller has marked their words as on a per-CPU list.
    pub(super) fn append(&mut self, frames: &FrameTable<'_>, run: Run) {
        if self.is_empty() && run.blocks as usize <= self.half() {
            return self.put_on_empty_stack(run);
        }
        if let Some(last) = self.older.last().map(|last| run_at(frames, last))
            && last.is_continued_by(run)
        {
            return Self::set_length(frames, Run { blocks: last.blocks + run.blocks, ..last });
        }
        self.link(frames, run, Place::Tail);
    }

    /// Returns the order of the blocks, or `None` if the list is empty.
    pub(super) fn last_order(&self, frames: &FrameTable<'_>) -> Option<Order> {
        let stacked = self.newest.get(self.bottom as usize).filter(|_| self.bottom < self.top);
        let any = stacked.map(|&index| FrameIndex(index)).or(self.older.first());
        any.map(|index| frames.word(index).order())
    }

    /// Takes up to `most` adjacent blocks from the end of the list. Returns them from the last on.
    pub(super) fn take_last(&mut self, frames: &FrameTable<'_>, most: u32) -> Option<Run> {
        let Some(last) = self.older.last() else { return self.take_oldest_stacked(frames, most) };
        let run = run_at(frames, last);
        if run.blocks <= most {
            self.older.remove(frames, last);
            return Some(run.reversed());
        }
        let kept = run.blocks - most;
        Self::set_length(frames, run.head(kept));
        Some(run.rest(kept).reversed())
    }

    fn take_oldest_stacked(&mut self, frames: &FrameTable<'_>, most: u32) -> Option<Run> {
        let end = self.top.min(self.bottom.saturating_add(most));
        if end == self.bottom {
            return None;
        }
        let run = self.run_on_stack(frames, self.bottom as usize, end as usize);
        self.bottom += run.blocks;
        Some(run.reversed())
    }

    fn put_on_empty_stack(&mut self, run: Run) {
        for (place, index) in self.newest.iter_mut().zip(run.reversed().iter()) {
            *place = index.0;
        }
        (self.bottom, self.top) = (0, run.blocks);
    }

    fn half(&self) -> usize {
        self.newest.len() / 2
    }

    /// Returns the blocks from first to last.
    pub(crate) fn iter<'f>(&'f self, frames: &'f FrameTable<'_>) -> impl Iterator<Item = FrameIndex> + 'f {
        let mut cursor = self.cursor(frames);
        core::iter::from_fn(move || self.next(frames, &mut cursor))
    }

    /// Returns the position before the first block.
    pub(crate) fn cursor(&self, frames: &FrameTable<'_>) -> Cursor {
        Cursor {
            stacked: self.top - self.bottom,
            run: self.older.first().map(|first| run_at(frames, first)),
            passed: 0,
        }
    }

    /// Returns the block behind a position, and moves the position past that block.
    pub(crate) fn next(&self, frames: &FrameTable<'_>, cursor: &mut Cursor) -> Option<FrameIndex> {
        if cursor.stacked > 0 {
            cursor.stacked -= 1;
            return Some(FrameIndex(self.newest[(self.bottom + cursor.stacked) as usize]));
        }
        let mut run = cursor.run?;
        if cursor.passed == run.blocks {
            run = run_at(frames, frames.next(run.first)?);
            (cursor.run, cursor.passed) = (Some(run), 0);
        }
        cursor.passed += 1;
        Some(run.block(cursor.passed - 1))
    }

    /// Returns the linked blocks below the stack, for checks.
    pub(crate) fn links(&self) -> &BlockList {
        &self.older
    }

    /// Makes room on a stack whose last place is taken. If more than half of the places are taken, the oldest blocks
    /// become runs.
    fn make_room(&mut self, frames: &FrameTable<'_>) {
        let end = self.newest.len().min(self.bottom.max(self.half() as u32) as usize);
        let mut at = self.bottom as usize;
        while at < end {
            let run = self.run_on_stack(frames, at, end);
            at += run.blocks as usize;
            self.link(frames, run, Place::Head);
        }
        self.newest.copy_within(at..self.top as usize, 0);
        (self.bottom, self.top) = (0, self.top - at as u32);
    }

    /// Returns the run in places `start..end` of the stack, newest block first.
    fn run_on_stack(&self, frames: &FrameTable<'_>, start: usize, end: usize) -> Run {
        let place = |number: usize| self.newest[number];
        let order = frames.word(FrameIndex(place(start))).order();
        let step = 1_u32 << order.get();
        let second = if start + 1 < end { place(start + 1) } else { place(start) };
        // The run starts with the newest block: if the stack grew towards higher addresses, the run goes down.
        let down = second == place(start).wrapping_add(step);
        let step = if down { step } else { step.wrapping_neg() };
        let mut last = start;
        while last + 1 < end && place(last + 1) == place(last).wrapping_add(step) {
            last += 1;
        }
        Run { first: FrameIndex(place(last)), blocks: (last - start + 1) as u32, order, down }
    }

    /// Moves the first blocks of the runs onto the empty stack.
    fn fetch(&mut self, frames: &FrameTable<'_>) {
        let half = self.half();
        let mut empty = half;
        while empty > 0
            && let Some(first) = self.older.first()
        {
            self.older.remove(frames, first);
            let run = run_at(frames, first);
            let taken = run.blocks.min(empty as u32);
            if taken < run.blocks {
                self.link(frames, run.rest(taken), Place::Head);
            }
            for number in 0..taken {
                empty -= 1;
                self.newest[empty] = run.block(number).0;
            }
        }
        (self.bottom, self.top) = (empty as u32, half as u32);
    }

    fn link(&mut self, frames: &FrameTable<'_>, run: Run, place: Place) {
        Self::set_length(frames, run);
        self.older.insert(frames, run.first, place);
    }

    fn set_length(frames: &FrameTable<'_>, run: Run) {
        let frame = frames.frame(run.first);
        let is_run = run.blocks > 1;
        frame.set_word(frame.word().with_run(is_run, run.down));
        if is_run {
            frames.links(run.block(1)).set_next(run.blocks);
        }
    }
}

/// Returns the run that begins with a linked block.
fn run_at(frames: &FrameTable<'_>, first: FrameIndex) -> Run {
    let word = frames.word(first);
    let (is_run, down) = word.run();
    let alone = Run { first, blocks: 1, order: word.order(), down };
    let blocks = if is_run { frames.links(alone.block(1)).next() } else { 1 };
    Run { blocks, ..alone }
}
