//! A machine's free memory block by block, in the order of its lists.

use std::fs;

use freehold_trace::{
    EXACT_VERSION, ExactCompaction, ExactCpu, ExactList, ExactState, ExactZone, PageblockRun, ZoneSnapshot,
};

use super::messages::{LISTED, Map, Room, ZoneEntry, word};
use super::sensor::{BpfSensor, kind_of};
use super::take::{Listed, MOST_BLOCKS, Part, listed, possible_cpus, take};
use crate::error::BpfError;

/// The most readings of a state: a reading during which nothing changed is kept.
const READINGS: u32 = 16;

/// The bit of a pageblock that compaction is to skip.
const SKIPPED: u8 = 0x80;

/// Reads a machine's free memory block by block.
///
/// It takes no lock and writes nothing. Its memory is allocated when it is opened.
#[derive(Debug)]
pub struct ExactSensor {
    sensor: BpfSensor,
    room: Room,
    /// The start of the table of all `struct page`.
    page_table: u64,
    /// The value of the kernel's variable `mem_section`; 0 if the kernel does not tell it.
    sections: u64,
    pageblock_order: u8,
    /// True if a page on a CPU's list notes the type that it was freed under.
    notes_type: bool,
}

impl ExactSensor {
    /// Opens the sensor for the populated ones of `zones` (from `/proc/zoneinfo`) of the running machine.
    ///
    /// # Errors
    /// As [`BpfSensor::open`]; also if frame numbers cannot be determined.
    pub fn open(zones: &[ZoneSnapshot], pageblock_order: u8) -> Result<Self, BpfError> {
        let managed: u64 = zones.iter().map(|zone| zone.managed).sum();
        let blocks = (managed / 4 + 65536).min(MOST_BLOCKS + LISTED as u64);
        let room = Room { cpus: possible_cpus(), chunks: blocks.div_ceil(LISTED as u64) as u32 };
        let mut sensor = BpfSensor::open_with(zones, Some(pageblock_order), Some(room))?;
        let page_table = sensor.page_table()?;
        let sections = sensor.sections()?;
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let notes_type = version(&release).is_some_and(|version| version < (6, 10));
        Ok(Self { sensor, room, page_table, sections, pageblock_order, notes_type })
    }

    /// Reads the state. A reading during which lists changed is repeated a few times; the least torn one is kept.
    ///
    /// # Errors
    /// If the program cannot be run, blocks are outside their zones, or there are more than there is room for.
    pub fn read(&mut self) -> Result<ExactState, BpfError> {
        let mut best: Option<ExactState> = None;
        for tries in 1..=READINGS {
            let state = ExactState { tries, ..self.read_once()? };
            let torn = |state: &ExactState| state.torn_lists + state.unequal_counts + state.double_frames;
            if best.as_ref().is_none_or(|best| torn(&state) < torn(best)) {
                best = Some(state);
            }
            if let Some(best) = best.as_mut() {
                best.tries = tries;
                if torn(best) == 0 {
                    break;
                }
            }
        }
        best.ok_or(BpfError::NotBuilt)
    }

    fn read_once(&mut self) -> Result<ExactState, BpfError> {
        let sensor = &self.sensor;
        let taken = take(sensor, self.room, self.page_table, Part::All { sections: self.sections })?;
        let types = self.pageblock_types(taken.pageblocks)?;
        let mut state = ExactState {
            version: EXACT_VERSION,
            begin_ns: taken.begin_ns,
            end_ns: taken.end_ns,
            torn_lists: taken.torn_lists,
            ..ExactState::default()
        };
        let mut numbers = Vec::new();
        for (key, zone) in (0..).zip(&sensor.zones) {
            let words = sensor.programs.get(Map::States, key)?;
            let entry = ZoneEntry::new(sensor.programs.get(Map::Zones, key)?);
            numbers.push(std::array::from_fn(|order| entry.nr_free(order)));
            let mut exact = zone_state(zone, &words);
            exact.pageblocks = self.pageblock_runs(zone, &types);
            for cpu in 0..self.room.cpus {
                let words = sensor.programs.get(Map::Cpus, key * self.room.cpus + cpu)?;
                exact.cpus.extend(cpu_state(cpu, &words));
            }
            state.zones.push(exact);
        }
        for block in listed(sensor, self.room, taken.blocks)? {
            self.put(&mut state, block);
        }
        state.unequal_counts = unequal_counts(&state, &numbers);
        state.double_frames = double_frames(&state, &sensor.zones);
        Ok(state)
    }

    fn put(&self, state: &mut ExactState, block: Listed) {
        let kind = |number: usize| kind_of(&self.sensor.layout, number).map(|kind| kind as u8);
        let (Some(zone), Some(migratetype)) = (state.zones.get_mut(block.zone), kind(block.list)) else {
            return;
        };
        let lists = match block.cpu {
            None => &mut zone.lists,
            Some(number) => match zone.cpus.iter_mut().find(|cpu| cpu.cpu == number) {
                Some(cpu) => &mut cpu.lists,
                None => return,
            },
        };
        let same = |list: &ExactList| (list.order, list.migratetype) == (block.order, migratetype);
        if !lists.last().is_some_and(same) {
            lists.push(ExactList { order: block.order, migratetype, ..ExactList::default() });
        }
        let Some(list) = lists.last_mut() else { return };
        list.pfns.push(block.pfn);
        if block.cpu.is_some() && self.notes_type {
            list.freed_under.push(kind(block.freed_under).unwrap_or(migratetype));
        }
    }

    /// Returns the byte of each pageblock, from the sensor's first one on.
    fn pageblock_types(&self, counted: u64) -> Result<Vec<u8>, BpfError> {
        let mut types = Vec::new();
        for chunk in 0..self.sensor.chunks {
            types.extend(self.sensor.programs.get(Map::Pageblocks, chunk)?);
        }
        types.truncate(counted as usize);
        Ok(types)
    }

    fn pageblock_runs(&self, zone: &ZoneSnapshot, types: &[u8]) -> Vec<PageblockRun> {
        let block_of = |pfn: u64| ((pfn >> self.pageblock_order) - self.sensor.first_pageblock) as usize;
        let (first, last) = (block_of(zone.start_pfn), block_of(zone.start_pfn + zone.spanned - 1));
        let types = types.get(first..=last).unwrap_or_default();
        if self.sections == 0 {
            return Vec::new();
        }
        let runs = types.chunk_by(|a, b| a == b);
        runs.map(|run| {
            let number = usize::from(run[0] & !SKIPPED).checked_sub(1);
            let kind = number.and_then(|number| kind_of(&self.sensor.layout, number));
            PageblockRun {
                pageblocks: run.len() as u64,
                migratetype: kind.map(|kind| kind as u8),
                skipped: run[0] & SKIPPED != 0,
            }
        })
        .collect()
    }
}

/// Returns a zone's own numbers; a field that the kernel lacks is 0.
fn zone_state(zone: &ZoneSnapshot, words: &[u8]) -> ExactZone {
    let known = |at: usize| Some(word(words, at)).filter(|&value| value != u64::MAX);
    let value = |at: usize| known(at).unwrap_or(0);
    let compaction = known(6).map(|considered| ExactCompaction {
        considered: considered as u32,
        defer_shift: value(7) as u32,
        order_failed: value(8) as u32 as i32,
        free_pfn: value(9),
        migrate_pfn: [value(10), value(11)],
        blockskip_flush: value(12) & 1 != 0,
    });
    ExactZone {
        node: zone.node,
        name: zone.name.clone(),
        watermarks: [value(0), value(1), value(2)],
        boost: value(3),
        reserved_highatomic: value(4),
        flags: value(5),
        compaction,
        ..ExactZone::default()
    }
}

/// Returns the numbers of a CPU's lists; `None` if they could not be read.
fn cpu_state(cpu: u32, words: &[u8]) -> Option<ExactCpu> {
    let known = |at: usize| Some(word(words, at)).filter(|&value| value != u64::MAX);
    let value = |at: usize| known(at).unwrap_or(0);
    let high = value(2);
    (word(words, 0) != 0).then(|| ExactCpu {
        cpu,
        count: value(1),
        high,
        high_min: known(3).unwrap_or(high),
        high_max: known(4).unwrap_or(high),
        batch: value(5),
        flags: value(6),
        alloc_factor: value(7),
        free_factor: value(8),
        free_count: value(9),
        lists: Vec::new(),
    })
}

/// Returns how many orders and CPUs have another count than their lists have blocks or pages.
fn unequal_counts(state: &ExactState, numbers: &[[u64; super::messages::ORDERS]]) -> u64 {
    let mut unequal = 0;
    for (zone, numbers) in state.zones.iter().zip(numbers) {
        for (order, &number) in numbers.iter().enumerate() {
            let lists = zone.lists.iter().filter(|list| usize::from(list.order) == order);
            unequal += u64::from(lists.map(|list| list.pfns.len() as u64).sum::<u64>() != number);
        }
        for cpu in &zone.cpus {
            let pages: u64 = cpu.lists.iter().map(|list| (list.pfns.len() as u64) << list.order).sum();
            unequal += u64::from(pages != cpu.count);
        }
    }
    unequal
}

/// Returns the number of frames that are in two blocks.
fn double_frames(state: &ExactState, zones: &[ZoneSnapshot]) -> u64 {
    let mut double = 0;
    for (exact, zone) in state.zones.iter().zip(zones) {
        let mut seen = vec![false; zone.spanned as usize];
        for list in exact.lists.iter().chain(exact.cpus.iter().flat_map(|cpu| &cpu.lists)) {
            for pfn in list.pfns.iter().flat_map(|&pfn| pfn..pfn + (1 << list.order)) {
                if let Some(frame) = seen.get_mut(pfn.wrapping_sub(zone.start_pfn) as usize) {
                    double += u64::from(std::mem::replace(frame, true));
                }
            }
        }
    }
    double
}

/// Returns the first two numbers of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_agree_is_counted() {
        let list = |order, pfns: &[u64]| ExactList { order, pfns: pfns.to_vec(), ..ExactList::default() };
        let cpu = ExactCpu { count: 1, lists: vec![list(0, &[9])], ..ExactCpu::default() };
        let zone = ExactZone { lists: vec![list(3, &[8, 16])], cpus: vec![cpu], ..ExactZone::default() };
        let state = ExactState { zones: vec![zone], ..ExactState::default() };
        let mut numbers = [[0; super::super::messages::ORDERS]];
        numbers[0][3] = 2;
        assert_eq!(unequal_counts(&state, &numbers), 0);
        numbers[0][4] = 1;
        assert_eq!(unequal_counts(&state, &numbers), 1);
        let zone = ZoneSnapshot { spanned: 64, ..ZoneSnapshot::default() };
        assert_eq!(double_frames(&state, &[zone]), 1, "frame 9");
        assert_eq!(version("6.1.0-50-cloud-amd64"), Some((6, 1)));
        assert!(version("6.9.1") < version("6.10.0"));
    }
}
