//! Runs the program that copies lists block by block, and reads the blocks that it copied.

use std::fs;

use super::messages::{CHUNK, LISTED, Map, Message, Room, word};
use super::pageblock_counts::section_shift;
use super::sensor::BpfSensor;
use crate::error::BpfError;

/// The most blocks: what the header of a trace has room for.
pub(super) const MOST_BLOCKS: u64 = 1 << 20;

/// Words of `struct take_question`.
const QUESTION: usize = 17;

/// The zones that a block's bits have room for.
const MOST_ZONES: usize = 256;

/// What is copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The zones' and the CPUs' lists, their numbers, and the pageblocks' types, if the kernel's variable `mem_section` is not
    /// given as 0.
    All { sections: u64 },
    /// The CPUs' lists.
    CpuLists,
}

/// What a copy came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Taken {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// The blocks on the lists.
    pub(super) blocks: u64,
    /// Lists that changed during every walk.
    pub(super) torn_lists: u64,
    /// The pageblocks whose types were read.
    pub(super) pageblocks: u64,
}

/// Copies the lists of a sensor that was opened with `room`.
pub(super) fn take(sensor: &BpfSensor, room: Room, page_table: u64, part: Part) -> Result<Taken, BpfError> {
    if sensor.zones.len() > MOST_ZONES {
        let detail =
            format!("{} zones where at most {MOST_ZONES} can be read block by block", sensor.zones.len());
        return Err(BpfError::Layout { detail });
    }
    let most = u64::from(room.chunks) * LISTED as u64;
    let order = sensor.pageblock_order.ok_or(BpfError::NoPageblockOrder)?;
    let first = sensor.first_pageblock;
    let end = sensor.zones.iter().map(|zone| (zone.start_pfn + zone.spanned) >> order).max().unwrap_or(0);
    let pageblocks = (end + 1 - first).min(u64::from(sensor.chunks) * CHUNK as u64);
    let page_bytes = rustix::param::page_size() as u64;
    let (sections, only_cpus) = match part {
        Part::All { sections } => (sections, 0),
        Part::CpuLists => (0, 1),
    };
    let zones = sensor.zones.len() as u64;
    let mut given = [0; QUESTION];
    given[..10].copy_from_slice(&[
        zones,
        room.cpus.into(),
        page_table,
        sections,
        order.into(),
        first,
        pageblocks,
        most,
        section_shift(page_bytes),
        page_bytes,
    ]);
    given[QUESTION - 1] = only_cpus;
    let mut message = Message::new(&given, QUESTION);
    sensor.programs.run("take", &mut message)?;
    let [begin_ns, end_ns, blocks, outside, torn_lists] = [10, 11, 12, 13, 14].map(|at| message.word(at));
    if outside != 0 {
        return Err(BpfError::OutsideZones { blocks: outside });
    }
    if blocks > most.min(MOST_BLOCKS) {
        return Err(BpfError::TooManyBlocks { blocks, most: most.min(MOST_BLOCKS) });
    }
    Ok(Taken { begin_ns, end_ns, blocks, torn_lists, pageblocks })
}

/// Returns the first `blocks` blocks of the last copy, in the order of their lists.
pub(super) fn listed(sensor: &BpfSensor, room: Room, blocks: u64) -> Result<Vec<Listed>, BpfError> {
    let mut found = Vec::with_capacity(blocks as usize);
    let mut left = blocks as usize;
    for chunk in 0..room.chunks {
        if left == 0 {
            break;
        }
        let words = sensor.programs.get(Map::Listed, chunk)?;
        let here = left.min(LISTED);
        found.extend((0..here).map(|at| Listed::new(word(&words, at))));
        left -= here;
    }
    Ok(found)
}

/// A block as the program writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    pub(super) pfn: u64,
    pub(super) order: u8,
    /// The kernel's number of the list's type.
    pub(super) list: usize,
    /// The kernel's number of the type that the block was freed under.
    pub(super) freed_under: usize,
    pub(super) zone: usize,
    pub(super) cpu: Option<u32>,
}

impl Listed {
    pub(super) fn new(block: u64) -> Self {
        let bits = |from: u32, number: u32| block >> from & ((1 << number) - 1);
        // Above order 14 the frame's lowest bits, which are 0, hold the rest of the order.
        let (order, low) = (bits(34, 4), bits(0, 4));
        let above = if order == 15 { low } else { 0 };
        Self {
            pfn: bits(0, 34) - above,
            order: (order + above) as u8,
            list: bits(38, 3) as usize,
            freed_under: bits(41, 3) as usize,
            zone: bits(44, 8) as usize,
            cpu: bits(52, 12).checked_sub(1).map(|cpu| cpu as u32),
        }
    }
}

/// Returns the number of CPUs that may come up, at most what a block has room for.
pub(super) fn possible_cpus() -> u32 {
    let text = fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok());
    last.map_or(1, |last| last.saturating_add(1)).min(4095)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_taken_apart() {
        let block = 0xc | 2 << 34 | 1 << 38 | 7 << 41 | 5 << 44 | 3 << 52;
        let listed = Listed { pfn: 12, order: 2, list: 1, freed_under: 7, zone: 5, cpu: Some(2) };
        assert_eq!(Listed::new(block), listed);
        assert_eq!(Listed::new(12).cpu, None);
        for (order, frame) in [(14, 1 << 14), (15, 1 << 33), (18, 3 << 18)] {
            let (bits, above) = (u64::min(order, 15), order.saturating_sub(15));
            let listed = Listed::new(frame | above | bits << 34);
            assert_eq!((listed.pfn, u64::from(listed.order)), (frame, order));
        }
    }
}
