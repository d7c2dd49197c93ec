//! Reads the dump of a zone's state, and restores it into the engine.

use std::io::Read;

use freehold::{
    Memory, MemoryConfig, Migratetype, Order, Pfn, Platform, Sections, Switches, Zone, ZoneConfig, ZoneType,
};

use super::numbers::{Numbers, value};
use crate::transcript::{Transcript, TranscriptError, Word};

/// The most pages of a zone in a valid dump: 16 times those of the oracle's largest zone.
const LARGEST_ZONE: u64 = 1 << 24;

/// A dump of a zone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub(crate) numbers: Numbers,
    /// All other words in the order of the dump.
    words: Vec<Word>,
}

impl Image {
    /// Reads a dump from its first word to its last.
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
                | Word::Movable { .. }
                | Word::Use { .. } => image.words.push(word),
                word if image.numbers.take(word) => {}
                other => return Err(transcript.nonsense(other)),
            }
        }
    }

    /// Adds the words of the dump that later results depend on, as a [`Writer`] writes them.
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
        words.extend(self.words.iter().filter(|word| matches!(word, Word::Use { .. })));
    }

    fn start(&self) -> Pfn {
        Pfn(self.numbers.zone(value::START))
    }

    fn spanned(&self) -> u64 {
        self.numbers.zone(value::SPANNED)
    }

    fn order(&self, field: u16) -> Result<Order, TranscriptError> {
        Order::of_linux(self.numbers.zone(field) as u8)
            .ok_or_else(|| TranscriptError::BadStart(format!("value {field} is not an order")))
    }

    /// Returns the engine's zone for this dump.
    ///
    /// # Errors
    /// [`TranscriptError::BadStart`].
    pub(crate) fn zone_config(&self) -> Result<ZoneConfig, TranscriptError> {
        if self.spanned() > LARGEST_ZONE {
            let pages = self.spanned();
            return Err(TranscriptError::BadStart(format!(
                "a zone of {pages} pages is none of the oracle's"
            )));
        }
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

    /// Returns the configuration of the engine's memory for this dump.
    ///
    /// # Errors
    /// [`TranscriptError::BadStart`].
    pub(crate) fn config<'z>(
        &self,
        zones: &'z [ZoneConfig],
        switches: Switches,
    ) -> Result<MemoryConfig<'z>, TranscriptError> {
        Ok(MemoryConfig {
            zones,
            sections: Sections::ALL,
            cpus: self.numbers.zone(value::CPUS) as u16,
            max_order: self.order(value::MAX_ORDER)?,
            pageblock_order: self.order(value::PAGEBLOCK_ORDER)?,
            huge_pages: false,
            switches,
            watermark_boost_factor: Some(self.numbers.zone(value::BOOST_FACTOR) as u32),
        })
    }

    /// Restores this state into a fresh memory.
    ///
    /// # Errors
    /// [`TranscriptError::BadStart`].
    pub(crate) fn restore<P: Platform>(&self, memory: &Memory<'_, P>) -> Result<(), TranscriptError> {
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

    fn restore_block_types<P: Platform>(&self, zone: &Zone<'_, P>) -> Result<(), TranscriptError> {
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
            if first < zone.start().0 / pageblock || first >= last || last > end {
                return Err(TranscriptError::BadStart("its pageblocks are out of order".to_owned()));
            }
            for block in first..last {
                let pfn = Pfn((block * pageblock).max(zone.start().0));
                zone.set_block_type(pfn, migratetype)
                    .map_err(|error| TranscriptError::BadStart(error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// Returns the runs of frames that are not taken, as first frame and length.
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
