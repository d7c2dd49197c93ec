//! The numbers of a zone and of its per-CPU lists, as in words.

use freehold::{PerCpuSettings, PerCpuState, Watermarks, ZoneState};

use crate::transcript::Word;

/// The identifiers of a zone's numbers in a transcript.
pub(super) mod value {
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
    /// The numbers that every operation may change.
    pub(crate) const CHANGING: [u16; 6] =
        [BOOST, RESERVED_HIGHATOMIC, FREE_HIGHATOMIC, FREE, FREE_CMA, FLAGS];
    /// The numbers that are part of the state.
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

/// The identifiers of the numbers of one CPU's lists in a transcript.
pub(super) mod cpu_value {
    pub(crate) const COUNT: u8 = 1;
    pub(crate) const HIGH: u8 = 2;
    pub(crate) const HIGH_MIN: u8 = 3;
    pub(crate) const HIGH_MAX: u8 = 4;
    pub(crate) const BATCH: u8 = 5;
    pub(crate) const FLAGS: u8 = 6;
    pub(crate) const ALLOC_FACTOR: u8 = 7;
    pub(crate) const FREE_COUNT: u8 = 8;
    pub(crate) const FREE_FACTOR: u8 = 9;
    pub(super) const LENGTH: usize = 10;
}

pub(super) const BOOSTED: u64 = 1;
pub(super) const RECLAIM_ACTIVE: u64 = 2;
pub(super) const BELOW_HIGH: u64 = 4;
pub(super) const PREVIOUS_FREE_HIGH_ORDER: u64 = 1;
pub(super) const FLUSH_NEEDS_BATCH: u64 = 2;

/// The numbers of a zone, read from words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    zone: [u64; value::COUNT],
    pub(super) cpus: Vec<[u64; cpu_value::LENGTH]>,
    /// The return value of the last tunable's handler.
    pub(super) outcome: u16,
}

impl Numbers {
    /// Takes the number from a word. Returns true if the word has a number.
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

    pub(super) fn zone(&self, field: u16) -> u64 {
        self.zone[usize::from(field)]
    }

    pub(super) fn watermarks(&self) -> Watermarks {
        Watermarks {
            min: self.zone(value::MARK_MIN),
            low: self.zone(value::MARK_LOW),
            high: self.zone(value::MARK_HIGH),
        }
    }

    fn cpu(&self, cpu: usize, field: u8) -> u32 {
        self.cpus.get(cpu).map_or(0, |values| values[usize::from(field)] as u32)
    }

    pub(super) fn percpu_settings(&self, cpu: usize) -> PerCpuSettings {
        PerCpuSettings {
            batch: self.cpu(cpu, cpu_value::BATCH),
            high_min: self.cpu(cpu, cpu_value::HIGH_MIN),
            high_max: self.cpu(cpu, cpu_value::HIGH_MAX),
            flush_needs_batch: u64::from(self.cpu(cpu, cpu_value::FLAGS)) & FLUSH_NEEDS_BATCH != 0,
        }
    }

    pub(super) fn percpu_state(&self, cpu: usize) -> PerCpuState {
        PerCpuState {
            high: self.cpu(cpu, cpu_value::HIGH),
            alloc_factor: self.cpu(cpu, cpu_value::ALLOC_FACTOR),
            free_count: self.cpu(cpu, cpu_value::FREE_COUNT),
            free_factor: self.cpu(cpu, cpu_value::FREE_FACTOR),
            last_free_was_high_order: u64::from(self.cpu(cpu, cpu_value::FLAGS)) & PREVIOUS_FREE_HIGH_ORDER
                != 0,
        }
    }

    pub(super) fn zone_state(&self) -> ZoneState {
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
