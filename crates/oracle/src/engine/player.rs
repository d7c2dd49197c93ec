//! Plays a script on the engine, and writes the words that the oracle would write.

use freehold::{
    AllocError, FreeError, GfpFlags, Memory, Migratetype, NoReclaim, Order, PageTypeRows, Pfn, Request,
};

use super::movers::{BlockInUse, Movable, Mover};
use super::numbers::{Numbers, value};
use super::witness::Witness;
use super::writer::Writer;
use crate::script::{MOST_BULK, MOST_SLOTS, Op, Place, Step, Tunable};
use crate::transcript::{Digest, Word};

/// The platform of the engine, with a witness of its events.
#[derive(Debug)]
pub(crate) struct Watched;

impl freehold::Platform for Watched {
    type ZoneLock = parking_lot::RawMutex;
    type PerCpuLock = parking_lot::RawMutex;
    type Tracepoints = Witness;
    type Rule = ();
}

const EBUSY: u16 = 16;
const EINVAL: u16 = 22;

/// Plays steps on the engine.
pub(crate) struct Player<'e, 'm> {
    writer: Writer<'e, 'm, Watched>,
    witness: &'e Witness,
    slots: Vec<Option<BlockInUse>>,
    movable: Movable,
    /// True if the requests go through an `Exclusive` and not through the locks of the CPUs' lists.
    owned: bool,
    /// The numbers that were written last.
    written: [u64; value::CHANGING.len()],
    words: Vec<Word>,
    text: Option<String>,
}

impl<'e, 'm> Player<'e, 'm> {
    /// Returns a player on an engine whose events `witness` records. Earlier events are dropped.
    pub(crate) fn new(
        memory: &'e Memory<'m, Watched>,
        witness: &'e Witness,
        recorded: Numbers,
        owned: bool,
    ) -> Self {
        let writer = Writer { memory, recorded };
        let written = value::CHANGING.map(|field| writer.value(field));
        witness.take(&mut Vec::new());
        let (slots, movable) = (Vec::new(), Movable::default());
        Self { writer, witness, slots, movable, owned, written, words: Vec::new(), text: None }
    }

    pub(crate) fn writer(&self) -> &Writer<'e, 'm, Watched> {
        &self.writer
    }

    /// Returns the numbers that the kernel recorded.
    pub(crate) fn recorded(&self) -> &Numbers {
        &self.writer.recorded
    }

    /// Takes new numbers that the kernel recorded. The next step sets them in the engine.
    pub(crate) fn record(&mut self, recorded: Numbers) {
        self.writer.recorded = recorded;
    }

    /// Returns the words of the last step.
    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the text of the last step.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Plays one step. Returns the words that the oracle would have written.
    pub(crate) fn play(&mut self, step: Step) -> &[Word] {
        self.words.clear();
        self.text = None;
        let answers = self.call(step);
        self.witness.take(&mut self.words);
        self.words.extend(answers);
        match step.op {
            Op::Set { .. } => self.write_numbers(),
            Op::Dump => self.writer.state(&mut |word| self.words.push(word)),
            _ => {}
        }
        for (slot, field) in self.written.iter_mut().zip(value::CHANGING) {
            let now = self.writer.value(field);
            if *slot != now {
                *slot = now;
                if !matches!(step.op, Op::Set { .. }) {
                    self.words.push(Word::Value { field, value: now });
                }
            }
        }
        self.words.push(self.percpu_now(step.cpu));
        &self.words
    }

    fn percpu_now(&self, cpu: u8) -> Word {
        let zone = self.writer.zone();
        let state = zone.percpu_state(cpu.into()).unwrap_or_default();
        let tuned = self.writer.memory.switches().auto_tuned_high;
        Word::PerCpuNow {
            count: zone.percpu_pages(cpu.into()) as u16,
            high: state.high as u16,
            free_count: state.free_count as u16,
            factor: if tuned { state.alloc_factor } else { state.free_factor } as u8,
        }
    }

    fn write_numbers(&mut self) {
        let Self { writer, words, .. } = self;
        for field in 1..value::COUNT as u16 {
            words.push(Word::Value { field, value: writer.value(field) });
        }
        for cpu in 0..writer.memory.cpus() {
            writer.cpu_values(cpu, &mut |word| words.push(word));
        }
    }

    fn take(&mut self, slot: u32) -> Option<BlockInUse> {
        self.slots.get_mut(slot as usize)?.take()
    }

    fn fill(&mut self, slot: u32, in_use: BlockInUse) {
        let slot = slot as usize;
        if slot as u64 >= MOST_SLOTS {
            return;
        }
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        self.slots[slot] = Some(in_use);
    }

    fn request(step: Step, order: Order, gfp: GfpFlags) -> Request {
        let gfp = (gfp | GfpFlags::NOWARN).difference(GfpFlags::DIRECT_RECLAIM);
        Request { cpu: step.cpu.into(), node: 0, order, gfp }
    }

    /// Makes the step's call. Returns the words of its result.
    fn call(&mut self, step: Step) -> Vec<Word> {
        let memory = self.writer.memory;
        let zone = self.writer.zone();
        match step.op {
            Op::Alloc { order, gfp } => match self.alloc(Self::request(step, order, gfp)) {
                Ok(pfn) => {
                    // In the kernel, a page of the oracle's module is not on the LRU until a step marks it.
                    let _ = zone.set_movable(pfn, false);
                    self.fill(step.slot, BlockInUse { pfn, order });
                    vec![Word::Answer { pfn }]
                }
                Err(_) => vec![Word::Refused],
            },
            Op::Free => {
                if let Some(in_use) = self.take(step.slot) {
                    self.movable.set(in_use, step.slot, false);
                    let freed = self.free(step.cpu.into(), in_use);
                    debug_assert!(freed.is_ok(), "{step}: {freed:?}");
                }
                vec![]
            }
            Op::Split => {
                self.split(step.slot);
                vec![]
            }
            Op::BulkAlloc { pages, gfp } => self.bulk(step, pages, gfp),
            Op::Drain => {
                zone.drain_cpu(step.cpu.into());
                vec![]
            }
            Op::DrainAll => {
                memory.drain_all();
                vec![]
            }
            Op::Refresh => {
                zone.refresh(step.cpu.into());
                vec![]
            }
            Op::Isolate { blocks, from } => self.isolate(step, blocks, from, true).into_iter().collect(),
            Op::UndoIsolate { blocks, from } => self.isolate(step, blocks, from, false).into_iter().collect(),
            Op::Contig { pages, from, cma } => self.contig(step, pages, from, cma).into_iter().collect(),
            Op::Set { tunable, value } => {
                self.set(tunable, value);
                vec![outcome(self.writer.recorded.outcome)]
            }
            Op::RelaxBoost { pages } => {
                zone.relax_boost(pages);
                vec![]
            }
            Op::ReclaimActive(active) => {
                zone.set_reclaim_active(active);
                vec![]
            }
            Op::Mark(_) | Op::Pin => {
                if let Some(&Some(in_use)) = self.slots.get(step.slot as usize) {
                    let _ = zone.set_movable(in_use.pfn, step.op != Op::Mark(false));
                    self.movable.set(in_use, step.slot, step.op == Op::Mark(true));
                }
                vec![]
            }
            Op::Tidy { pages } => self.tidy(step.cpu, pages),
            Op::PageTypeInfo | Op::BuddyInfo => vec![self.print(step.op)],
            Op::Digest => vec![self.digest()],
            Op::Dump => vec![],
        }
    }

    fn alloc(&self, request: Request) -> Result<Pfn, AllocError> {
        let memory = self.writer.memory;
        match self.owned.then(|| memory.exclusive(request.cpu)).flatten() {
            Some(mut owner) => owner.alloc(request),
            None => memory.alloc(request, NoReclaim),
        }
    }

    fn free(&self, cpu: u16, in_use: BlockInUse) -> Result<(), FreeError> {
        let memory = self.writer.memory;
        match self.owned.then(|| memory.exclusive(cpu)).flatten() {
            Some(mut owner) => owner.free(in_use.pfn, in_use.order),
            None => memory.free(cpu, in_use.pfn, in_use.order),
        }
    }

    fn split(&mut self, slot: u32) {
        let Some(in_use) = self.take(slot) else { return };
        let split = self.writer.memory.split(in_use.pfn, in_use.order, Order::ZERO);
        debug_assert!(split.is_ok(), "{split:?}");
        for page in 0..in_use.order.pages() {
            self.fill(slot + page as u32, BlockInUse { pfn: in_use.pfn.add(page), order: Order::ZERO });
        }
    }

    /// Tidies pageblocks. Returns the pageblocks whose type changed.
    fn tidy(&mut self, cpu: u8, pages: u32) -> Vec<Word> {
        let (memory, zone) = (self.writer.memory, self.writer.zone());
        let types = || self.writer.blocks().filter_map(|(block, pfn)| Some((block, zone.block_type(pfn)?)));
        let before: Vec<_> = types().collect();
        let Self { movable, slots, witness, .. } = self;
        memory.tidy_pageblocks(0, cpu.into(), pages.into(), &mut Mover { movable, slots, witness });
        let types = self.writer.blocks().filter_map(|(block, pfn)| Some((block, zone.block_type(pfn)?)));
        let changed = types.zip(before).filter(|(now, before)| now != before);
        changed.map(|((block, migratetype), _)| Word::Retyped { migratetype, block }).collect()
    }

    fn digest(&self) -> Word {
        let mut digest = Digest::default();
        self.writer.state(&mut |word| digest.add(word));
        Word::Digest(digest.finish())
    }

    /// Sets the numbers that follow from a tunable. They come from the kernel, because the allocator does not compute
    /// them.
    fn set(&mut self, tunable: Tunable, _value: u64) {
        let zone = self.writer.zone();
        let recorded = &self.writer.recorded;
        match tunable {
            Tunable::WatermarkBoostFactor => {
                zone.set_watermark_boost_factor(recorded.zone(value::BOOST_FACTOR) as u32);
            }
            Tunable::MinFreeKbytes | Tunable::WatermarkScaleFactor => {
                zone.set_watermarks(recorded.watermarks());
            }
            Tunable::PercpuPagelistHighFraction => {}
        }
        for cpu in 0..self.writer.memory.cpus() {
            zone.set_percpu_settings(cpu, recorded.percpu_settings(cpu.into()));
        }
    }
}

/// Calls on ranges.
impl Player<'_, '_> {
    fn isolate(&mut self, step: Step, blocks: u8, from: Place, isolate: bool) -> Option<Word> {
        let zone = self.writer.zone();
        let pageblock = zone.pageblock_order().pages();
        let pages = u64::from(blocks) * pageblock;
        let base = self.base(step.slot, from, pageblock)?;
        let Some(first) = self.inside(base, pages) else { return Some(outcome(EINVAL)) };
        let done = if isolate {
            zone.isolate_range(first, pages)
        } else {
            zone.undo_isolate_range(first, pages, Migratetype::Movable);
            Ok(())
        };
        Some(outcome(if done.is_ok() { 0 } else { EBUSY }))
    }

    fn contig(&mut self, step: Step, pages: u32, from: Place, cma: bool) -> Option<Word> {
        let base = self.base(step.slot, from, 1)?;
        let Some(first) = self.inside(base, pages.into()) else { return Some(outcome(EINVAL)) };
        let kind = if cma { Migratetype::Cma } else { Migratetype::Movable };
        if self.writer.memory.alloc_contig_range(first, pages.into(), kind, 0, NoReclaim).is_err() {
            return Some(outcome(EBUSY));
        }
        for page in 0..pages {
            let in_use = BlockInUse { pfn: first.add(page.into()), order: Order::ZERO };
            let _ = self.writer.zone().set_movable(in_use.pfn, false);
            self.fill(step.slot + 1 + page, in_use);
        }
        Some(outcome(0))
    }

    /// Returns the start of a range, or `None` if it depends on an empty slot.
    fn base(&self, slot: u32, from: Place, unit: u64) -> Option<u64> {
        let zone = self.writer.zone();
        let pageblock = zone.pageblock_order().pages();
        let base = match from {
            Place::InZone(_) if unit == 1 => zone.start().0,
            Place::InZone(_) => zone.start().0 & !(pageblock - 1),
            Place::AtSlot(_) => self.slots.get(slot as usize).copied().flatten()?.pfn.0 & !(pageblock - 1),
        };
        Some(base + u64::from(from.offset()) * unit)
    }

    fn inside(&self, first: u64, pages: u64) -> Option<Pfn> {
        let zone = self.writer.zone();
        (pages > 0 && first >= zone.start().0 && first + pages <= zone.end().0).then_some(Pfn(first))
    }

    fn bulk(&mut self, step: Step, pages: u32, gfp: GfpFlags) -> Vec<Word> {
        let mut found = [None; MOST_BULK as usize];
        let found = &mut found[..pages.min(MOST_BULK) as usize];
        let count = self.writer.memory.alloc_bulk(Self::request(step, Order::ZERO, gfp), found);
        let mut words = Vec::with_capacity(count + 1);
        for (number, pfn) in found.iter().enumerate() {
            let Some(pfn) = *pfn else { continue };
            let _ = self.writer.zone().set_movable(pfn, false);
            self.fill(step.slot + number as u32, BlockInUse { pfn, order: Order::ZERO });
            words.push(Word::Answer { pfn });
        }
        words.push(Word::Outcome { errno: 0, number: count as u64 });
        words
    }

    fn print(&mut self, op: Op) -> Word {
        let mut text = String::new();
        let memory = self.writer.memory;
        let written = match op {
            Op::BuddyInfo => memory.write_buddyinfo(&mut text),
            _ => memory.write_pagetypeinfo(&mut text, PageTypeRows::default()),
        };
        debug_assert!(written.is_ok(), "writing to a string never fails");
        let bytes = text.len() as u64;
        self.text = Some(text);
        Word::Text { bytes }
    }
}

fn outcome(errno: u16) -> Word {
    Word::Outcome { errno, number: 0 }
}
