//! The state of a zone as words: read from a dump, restored into the engine, written from it.

use std::io::Read;

use freehold::{
    Era, Locks, Memory, MemoryConfig, Migratetype, Order, PerCpuSettings, PerCpuState, Pfn, Watermarks, Zone,
    ZoneConfig, ZoneState, ZoneType,
};

use crate::transcript::{Transcript, TranscriptError};
use crate::word::Word;

/// The numbers of a zone, by their number in the transcript.
pub(crate) mod value {
    pub(crate) const START: u16 = 1;
    pub(crate) const SPANNED: u16 = 2;
    pub(crate) const MANAGED: u16 = 4;
    pub(crate) const PAGEBLOCK_ORDER: u16 = 5;
    pub(crate) const MAX_ORDER: u16 = 6;
    pub(crate) const MARK_MIN: u16 = 7;
    pub(crate) const MARK_LOW: u16 = 8;
    pub(crate) const MARK_HIGH: u16 = 9;
    pub(crate) const BOOST: u16 = 10;
    pub(crate) const RESERVED_HIGHATOMIC: u16 = 11;
    pub(crate) const FREE_HIGHATOMIC: u16 = 12;
    pub(crate) const FREE: u16 = 13;
    pub(crate) const FREE_CMA: u16 = 14;
    pub(crate) const FLAGS: u16 = 15;
    pub(crate) const BOOST_FACTOR: u16 = 16;
    pub(crate) const ZONE_TYPE: u16 = 17;
    pub(crate) const CPUS: u16 = 18;
    pub(crate) const ISOLATED: u16 = 19;
    pub(crate) const LOWMEM_RESERVE: u16 = 20;
    pub(crate) const COUNT: usize = 21;
    /// Those that the words of every operation may report.
    pub(crate) const CHANGING: [u16; 6] =
        [BOOST, RESERVED_HIGHATOMIC, FREE_HIGHATOMIC, FREE, FREE_CMA, FLAGS];
    /// Those that the state consists of.
    pub(crate) const STATE: [u16; 10] = [
        MARK_MIN,
        MARK_LOW,
        MARK_HIGH,
        BOOST,
        RESERVED_HIGHATOMIC,
        FREE_HIGHATOMIC,
        FREE,
        FREE_CMA,
        FLAGS,
        ISOLATED,
    ];
}

/// The numbers of one CPU's lists, by their number in the transcript.
mod cpu_value {
    pub(super) const COUNT: u8 = 1;
    pub(super) const HIGH: u8 = 2;
    pub(super) const HIGH_MIN: u8 = 3;
    pub(super) const HIGH_MAX: u8 = 4;
    pub(super) const BATCH: u8 = 5;
    pub(super) const FLAGS: u8 = 6;
    pub(super) const ALLOC_FACTOR: u8 = 7;
    pub(super) const FREE_COUNT: u8 = 8;
    pub(super) const FREE_FACTOR: u8 = 9;
    pub(super) const LENGTH: usize = 10;
}

const BOOSTED: u64 = 1;
const RECLAIM_ACTIVE: u64 = 2;
const BELOW_HIGH: u64 = 4;
const PREVIOUS_FREE_HIGH_ORDER: u64 = 1;
const FLUSH_NEEDS_BATCH: u64 = 2;

/// The settings of a zone as words report them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    zone: [u64; value::COUNT],
    cpus: Vec<[u64; cpu_value::LENGTH]>,
    /// What the handler of the last tunable returned.
    pub(crate) outcome: u16,
}

impl Numbers {
    /// Takes a word in; whether it was a number at all.
    pub(crate) fn take(&mut self, word: Word) -> bool {
        match word {
            Word::Value { field, value } if usize::from(field) < value::COUNT => {
                self.zone[usize::from(field)] = value;
            }
            Word::CpuValue { cpu, field, value } if usize::from(field) < cpu_value::LENGTH => {
                let cpu = usize::from(cpu);
                if self.cpus.len() <= cpu {
                    self.cpus.resize(cpu + 1, [0; cpu_value::LENGTH]);
                }
                self.cpus[cpu][usize::from(field)] = value;
            }
            Word::Outcome { errno, .. } => self.outcome = errno,
            _ => return false,
        }
        true
    }

    pub(crate) fn zone(&self, field: u16) -> u64 {
        self.zone[usize::from(field)]
    }

    pub(crate) fn watermarks(&self) -> Watermarks {
        Watermarks {
            min: self.zone(value::MARK_MIN),
            low: self.zone(value::MARK_LOW),
            high: self.zone(value::MARK_HIGH),
        }
    }

    fn cpu(&self, cpu: usize, field: u8) -> u32 {
        self.cpus.get(cpu).map_or(0, |values| values[usize::from(field)] as u32)
    }

    pub(crate) fn percpu_settings(&self, cpu: usize) -> PerCpuSettings {
        PerCpuSettings {
            batch: self.cpu(cpu, cpu_value::BATCH),
            high_min: self.cpu(cpu, cpu_value::HIGH_MIN),
            high_max: self.cpu(cpu, cpu_value::HIGH_MAX),
            flush_needs_batch: u64::from(self.cpu(cpu, cpu_value::FLAGS)) & FLUSH_NEEDS_BATCH != 0,
        }
    }

    fn percpu_state(&self, cpu: usize) -> PerCpuState {
        PerCpuState {
            high: self.cpu(cpu, cpu_value::HIGH),
            alloc_factor: self.cpu(cpu, cpu_value::ALLOC_FACTOR),
            free_count: self.cpu(cpu, cpu_value::FREE_COUNT),
            free_factor: self.cpu(cpu, cpu_value::FREE_FACTOR),
            last_free_was_high_order: u64::from(self.cpu(cpu, cpu_value::FLAGS)) & PREVIOUS_FREE_HIGH_ORDER
                != 0,
        }
    }

    fn zone_state(&self) -> ZoneState {
        let flags = self.zone(value::FLAGS);
        ZoneState {
            watermark_boost: self.zone(value::BOOST),
            reserved_highatomic: self.zone(value::RESERVED_HIGHATOMIC),
            boosted: flags & BOOSTED != 0,
            reclaim_active: flags & RECLAIM_ACTIVE != 0,
            below_high: flags & BELOW_HIGH != 0,
        }
    }
}

/// A dump of a zone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub(crate) numbers: Numbers,
    /// Everything else, in the order of the dump.
    words: Vec<Word>,
}

impl Image {
    /// Reads a dump, from its first word to its last.
    ///
    /// # Errors
    /// See [`TranscriptError`].
    pub(crate) fn read(transcript: &mut Transcript<impl Read>) -> Result<Self, TranscriptError> {
        match transcript.word()? {
            Word::Dump { .. } => {}
            other => return Err(transcript.nonsense(other)),
        }
        let mut image = Self::default();
        loop {
            let word = transcript.word()?;
            match word {
                Word::DumpEnd => return Ok(image),
                Word::BlockType { .. }
                | Word::Free { .. }
                | Word::PerCpu { .. }
                | Word::Reserved { .. }
                | Word::Length { .. }
                | Word::Movable { .. } => image.words.push(word),
                word if image.numbers.take(word) => {}
                other => return Err(transcript.nonsense(other)),
            }
        }
    }

    /// The part of the dump that decides about the future, as a [`Writer`] writes it.
    pub(crate) fn state_words(&self, words: &mut Vec<Word>) {
        words.extend(value::STATE.map(|field| Word::Value { field, value: self.numbers.zone(field) }));
        for (cpu, values) in self.numbers.cpus.iter().enumerate() {
            let cpu = cpu as u8;
            words.extend((1..).zip(&values[1..]).map(|(field, &value)| Word::CpuValue { cpu, field, value }));
            let of_cpu = |word: &&Word| matches!(word, Word::PerCpu { cpu: its, .. } if *its == cpu);
            words.extend(self.words.iter().filter(of_cpu));
        }
        words.extend(self.words.iter().filter(|word| matches!(word, Word::BlockType { .. })));
        words.extend(self.words.iter().filter(|word| matches!(word, Word::Free { .. })));
    }

    fn start(&self) -> Pfn {
        Pfn(self.numbers.zone(value::START))
    }

    fn spanned(&self) -> u64 {
        self.numbers.zone(value::SPANNED)
    }

    fn order(&self, field: u16) -> Result<Order, TranscriptError> {
        Order::new(self.numbers.zone(field) as u8)
            .ok_or_else(|| TranscriptError::BadStart(format!("value {field} is not an order")))
    }

    /// The engine's zone for this dump.
    ///
    /// # Errors
    /// [`TranscriptError::BadStart`].
    pub(crate) fn zone_config(&self) -> Result<ZoneConfig, TranscriptError> {
        let kind = ZoneType::ALL.get(self.numbers.zone(value::ZONE_TYPE) as usize);
        Ok(ZoneConfig {
            node: 0,
            kind: *kind.ok_or_else(|| TranscriptError::BadStart("an unknown zone type".to_owned()))?,
            start: self.start(),
            spanned: self.spanned(),
            managed: self.numbers.zone(value::MANAGED),
            watermarks: self.numbers.watermarks(),
            lowmem_reserve: [self.numbers.zone(value::LOWMEM_RESERVE); 6],
            percpu: self.numbers.percpu_settings(0),
        })
    }

    /// The engine's memory for this dump.
    ///
    /// # Errors
    /// [`TranscriptError::BadStart`].
    pub(crate) fn config<'z>(
        &self,
        zones: &'z [ZoneConfig],
        era: Era,
    ) -> Result<MemoryConfig<'z>, TranscriptError> {
        Ok(MemoryConfig {
            zones,
            cpus: self.numbers.zone(value::CPUS) as u16,
            max_order: self.order(value::MAX_ORDER)?,
            pageblock_order: self.order(value::PAGEBLOCK_ORDER)?,
            huge_pages: false,
            switches: era.switches(),
            watermark_boost_factor: Some(self.numbers.zone(value::BOOST_FACTOR) as u32),
        })
    }

    /// Brings a fresh memory into this state.
    ///
    /// # Errors
    /// [`TranscriptError::BadStart`].
    pub(crate) fn restore<L: Locks>(&self, memory: &Memory<'_, L>) -> Result<(), TranscriptError> {
        let zone = &memory.zones()[0];
        let bad = |error: String| TranscriptError::BadStart(error);
        self.restore_block_types(zone)?;
        let mut taken = vec![false; self.spanned() as usize];
        let mut take = |pfn: Pfn, pages: u64| {
            let first = pfn.0.saturating_sub(self.start().0) as usize;
            let range = first.min(taken.len())..(first + pages as usize).min(taken.len());
            taken[range].fill(true);
        };
        for &word in &self.words {
            match word {
                Word::Free { order, migratetype, pfn } => {
                    take(pfn, order.pages());
                    zone.add_free_block(pfn, order, migratetype).map_err(|error| bad(error.to_string()))?;
                }
                Word::PerCpu { cpu, order, migratetype, pfn, origin } => {
                    take(pfn, order.pages());
                    let origin = origin.unwrap_or(migratetype);
                    zone.add_percpu_block(cpu.into(), pfn, order, migratetype, origin)
                        .map_err(|error| bad(error.to_string()))?;
                }
                Word::Movable { pfn } => {
                    take(pfn, 1);
                    zone.add_allocated(pfn, Order::ZERO, Migratetype::Movable)
                        .map_err(|error| bad(error.to_string()))?;
                }
                _ => {}
            }
        }
        for (first, pages) in runs(&taken) {
            zone.add_reserved(self.start().add(first), pages).map_err(|error| bad(error.to_string()))?;
        }
        for cpu in 0..memory.cpus() {
            zone.set_percpu_settings(cpu, self.numbers.percpu_settings(cpu.into()));
            zone.restore_percpu_state(cpu, self.numbers.percpu_state(cpu.into()));
        }
        zone.restore_state(self.numbers.zone_state());
        Ok(())
    }

    fn restore_block_types<L: Locks>(&self, zone: &Zone<'_, L>) -> Result<(), TranscriptError> {
        let pageblock = zone.pageblock_order().pages();
        let runs: Vec<_> = self
            .words
            .iter()
            .filter_map(|word| match *word {
                Word::BlockType { migratetype, block } => Some((block, migratetype)),
                _ => None,
            })
            .collect();
        let end = zone.end().0.div_ceil(pageblock);
        for (number, &(first, migratetype)) in runs.iter().enumerate() {
            let last = runs.get(number + 1).map_or(end, |next| next.0);
            for block in first..last {
                let pfn = Pfn((block * pageblock).max(zone.start().0));
                zone.set_block_type(pfn, migratetype)
                    .map_err(|error| TranscriptError::BadStart(error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// The runs of frames that nobody has taken: first and length.
fn runs(taken: &[bool]) -> Vec<(u64, u64)> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at < taken.len() {
        let length = taken[at..].iter().take_while(|&&is| is == taken[at]).count();
        if !taken[at] {
            runs.push((at as u64, length as u64));
        }
        at += length;
    }
    runs
}

/// Writes an engine's zone as the oracle writes a kernel's.
pub(crate) struct Writer<'e, 'm, L: Locks> {
    pub(crate) memory: &'e Memory<'m, L>,
    /// Numbers that the engine is told, not asked for.
    pub(crate) told: Numbers,
}

impl<'m, L: Locks> Writer<'_, 'm, L> {
    pub(crate) fn zone(&self) -> &'m Zone<'m, L> {
        &self.memory.zones()[0]
    }

    /// One number of the zone.
    pub(crate) fn value(&self, field: u16) -> u64 {
        let zone = self.zone();
        let marks = zone.watermarks();
        let state = zone.state();
        match field {
            value::MARK_MIN => marks.min,
            value::MARK_LOW => marks.low,
            value::MARK_HIGH => marks.high,
            value::BOOST => state.watermark_boost,
            value::RESERVED_HIGHATOMIC => state.reserved_highatomic,
            // Not counted before 6.13 and 6.12 stable.
            value::FREE_HIGHATOMIC if !self.memory.switches().highatomic_by_free => 0,
            value::FREE_HIGHATOMIC => zone.free_highatomic_pages(),
            value::FREE => zone.free_pages(),
            value::FREE_CMA => zone.free_cma_pages(),
            value::FLAGS => {
                let flag = |set: bool, bit| if set { bit } else { 0 };
                flag(state.boosted, BOOSTED)
                    | flag(state.reclaim_active, RECLAIM_ACTIVE)
                    | flag(state.below_high, BELOW_HIGH)
            }
            value::ISOLATED => zone.isolated_pageblocks(),
            other => self.told.zone(other),
        }
    }

    /// The numbers of one CPU's lists.
    pub(crate) fn cpu_values(&self, cpu: u16, write: &mut impl FnMut(Word)) {
        let zone = self.zone();
        let state = zone.percpu_state(cpu).unwrap_or_default();
        let settings = zone.percpu_settings(cpu).unwrap_or_else(|| self.told.percpu_settings(cpu.into()));
        let flag = |set: bool, bit| if set { bit } else { 0 };
        let flags = flag(state.last_free_was_high_order, PREVIOUS_FREE_HIGH_ORDER)
            | flag(settings.flush_needs_batch, FLUSH_NEEDS_BATCH);
        let values = [
            (cpu_value::COUNT, zone.percpu_pages(cpu).into()),
            (cpu_value::HIGH, state.high.into()),
            (cpu_value::HIGH_MIN, settings.high_min.into()),
            (cpu_value::HIGH_MAX, settings.high_max.into()),
            (cpu_value::BATCH, settings.batch.into()),
            (cpu_value::FLAGS, flags),
            (cpu_value::ALLOC_FACTOR, state.alloc_factor.into()),
            (cpu_value::FREE_COUNT, state.free_count.into()),
            (cpu_value::FREE_FACTOR, state.free_factor.into()),
        ];
        for (field, value) in values {
            write(Word::CpuValue { cpu: cpu as u8, field, value });
        }
    }

    /// Everything that decides about the future.
    pub(crate) fn state(&self, write: &mut impl FnMut(Word)) {
        for field in value::STATE {
            write(Word::Value { field, value: self.value(field) });
        }
        let zone = self.zone();
        for cpu in 0..self.memory.cpus() {
            self.cpu_values(cpu, write);
            for order in Order::all() {
                for migratetype in Migratetype::ALL {
                    for (pfn, origin) in zone.percpu_blocks(cpu, order, migratetype) {
                        let origin = (!self.memory.switches().hygiene).then_some(origin);
                        write(Word::PerCpu { cpu: cpu as u8, order, migratetype, pfn, origin });
                    }
                }
            }
        }
        self.block_types(write);
        for order in Order::all() {
            for migratetype in Migratetype::ALL {
                for pfn in zone.free_list(order, migratetype) {
                    write(Word::Free { order, migratetype, pfn });
                }
            }
        }
    }

    fn block_types(&self, write: &mut impl FnMut(Word)) {
        let zone = self.zone();
        let order = zone.pageblock_order();
        let mut previous = None;
        for block in zone.start().0 >> order.get()..zone.end().0.div_ceil(order.pages()) {
            let pfn = Pfn((block << order.get()).max(zone.start().0));
            let migratetype = zone.block_type(pfn);
            if migratetype != previous
                && let Some(migratetype) = migratetype
            {
                write(Word::BlockType { migratetype, block });
            }
            previous = migratetype;
        }
    }
}
