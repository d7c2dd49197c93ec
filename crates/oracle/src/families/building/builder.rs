//! Writes one script step by step.

use std::mem;
use std::ops::Range;

use fastrand::Rng;
use freehold::{GfpFlags, Order};

use super::requests::{Kind, Rights};
use super::slots::{LONGEST_RUN, Slots};
use super::zone::Zone;
use crate::kernel::KernelVersion;
use crate::script::{MOST_BULK, Op, Place, Script, Step, Tunable};

/// The order in which blocks of a pool are freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::families) enum Leaving {
    Oldest,
    Newest,
    Random,
}

/// A script in progress, and its blocks in use if every request succeeds.
pub(in crate::families) struct Builder {
    pub(in crate::families) rng: Rng,
    pub(in crate::families) zone: Zone,
    pub(in crate::families) kernel: KernelVersion,
    /// The CPU of the following steps.
    pub(in crate::families) cpu: u8,
    /// The slots of the blocks in use. A family that takes a slot out puts it back.
    pub(in crate::families) in_use: Vec<u32>,
    pub(in crate::families) cma_blocks: u32,
    /// True if blocks may be marked. Ranges are then not allocated, because migration cannot really move a marked page.
    pub(in crate::families) may_mark: bool,
    seed: u64,
    slots: Slots,
    steps: Vec<Step>,
    /// The number of steps at which the current phase ends.
    limit: usize,
    /// The number of steps at which the script ends, approximately.
    total: usize,
    /// The most frees at the end.
    last: usize,
    digest_every: usize,
    next_digest: usize,
    next_dump: usize,
}

impl Builder {
    pub(in crate::families) fn new(
        zone: Zone,
        kernel: KernelVersion,
        seed: u64,
        steps: usize,
        digest_every: usize,
    ) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            zone,
            kernel,
            cpu: 0,
            in_use: Vec::new(),
            cma_blocks: 0,
            may_mark: true,
            seed,
            slots: Slots::new(zone.pages()),
            steps: Vec::with_capacity(steps + steps / 16 + 64),
            limit: steps,
            total: steps,
            last: steps / 5,
            digest_every,
            next_digest: digest_every,
            next_dump: steps / 2,
        }
    }

    /// Returns true if the current phase has no steps left.
    pub(in crate::families) fn done(&self) -> bool {
        self.left() == 0
    }

    /// Returns a range of `wanted`, or of the steps left if those are fewer.
    pub(in crate::families) fn times(&self, wanted: usize) -> Range<usize> {
        0..wanted.min(self.left())
    }

    /// Returns the steps left in the current phase.
    pub(in crate::families) fn left(&self) -> usize {
        let end = self.total - self.in_use.len().min(self.last);
        self.limit.min(end).saturating_sub(self.steps.len())
    }

    /// Runs a phase of at most `steps` steps.
    pub(in crate::families) fn phase(&mut self, steps: usize, run: impl FnOnce(&mut Self)) {
        let outer = self.limit;
        self.limit = outer.min(self.steps.len() + steps);
        run(self);
        self.limit = outer;
    }

    /// Frees all blocks in use or half of them, and returns the script.
    pub(in crate::families) fn finish(mut self) -> Script {
        let half = self.rng.bool();
        let count = self.in_use.len() / if half { 2 } else { 1 };
        let leaving = self.leaving();
        self.free_in_use(count.min(self.last), leaving);
        self.push(0, Op::Digest);
        Script {
            cpus: if self.zone.cpus > 1 { 2 } else { 1 },
            cma_blocks: self.cma_blocks,
            seed: self.seed,
            slots: self.slots.len(),
            memory: self.zone.memory(),
            steps: self.steps,
        }
    }

    fn push(&mut self, slot: u32, op: Op) {
        self.steps.push(Step { cpu: self.cpu, slot, op });
        if self.steps.len() >= self.next_digest {
            let op = if self.steps.len() >= self.next_dump { Op::Dump } else { Op::Digest };
            if op == Op::Dump {
                self.next_dump = usize::MAX;
            }
            self.steps.push(Step { cpu: self.cpu, slot: 0, op });
            self.next_digest = self.steps.len() + self.digest_every;
        }
    }

    /// Adds a step without a slot.
    pub(in crate::families) fn act(&mut self, op: Op) {
        self.push(0, op);
    }

    pub(in crate::families) fn set(&mut self, tunable: Tunable, value: u64) {
        self.push(0, Op::Set { tunable, value });
    }

    /// Allocates a block. Returns its slot, or `None` if no slot is free.
    pub(in crate::families) fn alloc(&mut self, order: u8, gfp: GfpFlags) -> Option<u32> {
        let Some(slot) = self.slots.take(order) else {
            self.make_room();
            return None;
        };
        self.push(slot, Op::Alloc { order: as_order(order), gfp });
        Some(slot)
    }

    /// Allocates a block for [`Self::split`], or an ordinary one if there are no slots for its pages.
    pub(in crate::families) fn alloc_for_split(&mut self, order: u8, gfp: GfpFlags) -> Option<u32> {
        let Some(slot) = self.slots.take_for_split(order) else { return self.alloc(order, gfp) };
        self.push(slot, Op::Alloc { order: as_order(order), gfp });
        Some(slot)
    }

    /// Frees some blocks, and adds at least one step, so that a loop over steps ends.
    fn make_room(&mut self) {
        self.act(Op::Drain);
        self.free_in_use(64, Leaving::Random);
    }

    /// Allocates a block, and adds it to the blocks in use.
    pub(in crate::families) fn hold(&mut self, order: u8, gfp: GfpFlags) {
        let slot = self.alloc(order, gfp);
        self.in_use.extend(slot);
    }

    /// Allocates single pages in bulk.
    pub(in crate::families) fn bulk(&mut self, pages: u32, gfp: GfpFlags) -> Range<u32> {
        let pages = pages.clamp(1, MOST_BULK);
        let Some(first) = self.slots.take_pages(pages) else {
            self.make_room();
            return 0..0;
        };
        self.push(first, Op::BulkAlloc { pages, gfp });
        first..first + pages
    }

    /// Allocates a range; does nothing in a script that marks blocks.
    pub(in crate::families) fn contig(&mut self, pages: u32, from: u32, cma: bool) -> Range<u32> {
        let Some(run) = self.range_slots(pages) else { return 0..0 };
        self.slots.release(run.start);
        self.push(run.start, Op::Contig { pages: run.len() as u32 - 1, from: Place::InZone(from), cma });
        run.start + 1..run.end
    }

    /// Allocates a page, then a range relative to that page's pageblock.
    pub(in crate::families) fn contig_near(&mut self, gfp: GfpFlags, pages: u32, from: u32) -> Range<u32> {
        let Some(run) = self.range_slots(pages) else { return 0..0 };
        self.push(run.start, Op::Alloc { order: Order::ZERO, gfp });
        let from = Place::AtSlot(from);
        self.push(run.start, Op::Contig { pages: run.len() as u32 - 1, from, cma: false });
        run
    }

    /// Returns a slot and the slots that a range behind it fills.
    fn range_slots(&mut self, pages: u32) -> Option<Range<u32>> {
        let pages = pages.clamp(1, LONGEST_RUN - 1);
        let first = if self.may_mark { None } else { self.slots.take_pages(pages + 1) };
        first.map(|first| first..first + pages + 1)
    }

    /// Adds a step about the block in a slot.
    pub(in crate::families) fn at(&mut self, slot: u32, op: Op) {
        self.push(slot, op);
    }

    /// Marks a block as movable by compaction, or unmarks it.
    pub(in crate::families) fn mark(&mut self, slot: u32, movable: bool) {
        if self.may_mark && self.slots.is_marked(slot) != movable {
            self.slots.mark(slot, movable);
            self.push(slot, Op::Mark(movable));
        }
    }

    /// Marks a block as movable by compaction. Compaction tries to move it, and fails.
    pub(in crate::families) fn pin(&mut self, slot: u32) {
        if self.may_mark && !self.slots.is_marked(slot) {
            self.slots.mark(slot, true);
            self.push(slot, Op::Pin);
        }
    }

    pub(super) fn can_split(&self, slot: u32) -> bool {
        self.slots.can_split(slot)
    }

    /// Splits a block, and returns the slots of its pages. A block that cannot be split is returned unchanged.
    pub(in crate::families) fn split(&mut self, slot: u32) -> Range<u32> {
        if !self.can_split(slot) {
            return slot..slot + 1;
        }
        self.mark(slot, false);
        self.push(slot, Op::Split);
        self.slots.split(slot)
    }

    pub(in crate::families) fn free(&mut self, slot: u32) {
        self.slots.release(slot);
        self.push(slot, Op::Free);
    }

    /// Frees `count` blocks of a pool.
    pub(in crate::families) fn free_from(&mut self, pool: &mut Vec<u32>, count: usize, leaving: Leaving) {
        let count = count.min(pool.len());
        match leaving {
            Leaving::Oldest => pool.drain(..count).for_each(|slot| self.free(slot)),
            Leaving::Newest => pool.drain(pool.len() - count..).rev().for_each(|slot| self.free(slot)),
            Leaving::Random => {
                for _ in 0..count {
                    let at = self.rng.usize(..pool.len());
                    self.free(pool.swap_remove(at));
                }
            }
        }
    }

    /// Frees `count` of the blocks in use.
    pub(in crate::families) fn free_in_use(&mut self, count: usize, leaving: Leaving) {
        let mut in_use = mem::take(&mut self.in_use);
        self.free_from(&mut in_use, count, leaving);
        self.in_use = in_use;
    }

    /// Frees blocks until at most `percent` of the zone is in use or the phase ends.
    pub(in crate::families) fn relieve(&mut self, percent: u64) {
        let aim = self.share(percent);
        while self.pages_in_use() > aim && !self.in_use.is_empty() && !self.done() {
            let at = self.rng.usize(..self.in_use.len());
            let slot = self.in_use.swap_remove(at);
            self.free(slot);
        }
    }

    /// Returns the number of pages in use, if every request succeeds.
    pub(in crate::families) fn pages_in_use(&self) -> u64 {
        self.slots.pages_in_use()
    }

    /// Returns a share of the usable pages.
    pub(in crate::families) fn share(&self, percent: u64) -> u64 {
        self.zone.usable() * percent / 100
    }

    pub(in crate::families) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())]
    }

    /// Returns one of the choices at random, by weight.
    pub(in crate::families) fn weighed<T: Copy>(&mut self, choices: &[(u32, T)]) -> T {
        let sum: u32 = choices.iter().map(|choice| choice.0).sum();
        let mut at = self.rng.u32(..sum);
        for &(weight, choice) in choices {
            if at < weight {
                return choice;
            }
            at -= weight;
        }
        choices[0].1
    }

    /// Returns true with a probability of `percent`.
    pub(in crate::families) fn with_probability(&mut self, percent: u32) -> bool {
        self.rng.u32(..100) < percent
    }

    pub(in crate::families) fn kind(&mut self) -> Kind {
        self.pick(&Kind::ALL)
    }

    /// Returns a request of a kind.
    pub(in crate::families) fn request(&mut self, kind: Kind) -> GfpFlags {
        self.pick(kind.requests())
    }

    pub(in crate::families) fn rights(&mut self) -> GfpFlags {
        let rights = self.pick(&Rights::ALL);
        rights.gfp(self.kernel)
    }

    pub(in crate::families) fn leaving(&mut self) -> Leaving {
        self.pick(&[Leaving::Oldest, Leaving::Newest, Leaving::Random])
    }
}

fn as_order(order: u8) -> Order {
    Order::new(order).unwrap_or(Order::MAX_PAGE_ORDER)
}
