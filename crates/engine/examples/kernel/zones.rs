//! The zones: the memory map comes in, a memory with all free frames in service goes out.
#![expect(unsafe_code, reason = "metadata in frames without another owner")]

use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr;
use core::slice;

use freehold::{
    Era, Memory, MemoryConfig, Pfn, Sections, StaticMemory, Sysctls, Zone, ZoneConfig, ZoneType,
    required_bytes,
};

use crate::boot::{self, TRAMPOLINE_FRAME};
use crate::lock::Host;
use crate::start_info::{MOST_RANGES, Machine, PAGE_BYTES};
use crate::verdict::CPUS;

/// The first frame of zone Normal: 4 GiB.
const NORMAL: u64 = 4 << 18;

/// Sets `memory` up, and returns it with all frames of the machine in service.
pub(crate) fn set_up<'m>(memory: &'m StaticMemory<Host>, machine: &Machine) -> &'m Memory<'static, Host> {
    let parts = [(ZoneType::Dma32, 0..NORMAL), (ZoneType::Normal, NORMAL..u64::MAX)];
    let mut zones = parts.map(|(kind, frames)| zone(machine, kind, &frames));
    let used = if zones[1].spanned > 0 { 2 } else { 1 };
    Sysctls::linux(CPUS as u16).apply(&mut zones[..used]);
    let mut present = [const { Pfn(0)..Pfn(0) }; MOST_RANGES];
    for (place, range) in present.iter_mut().zip(machine.ranges()) {
        *place = Pfn(range.start)..Pfn(range.end);
    }
    let config = MemoryConfig {
        // Holes cost no metadata, for instance the frames below 4 GiB that the loader's map omits.
        sections: Sections { present: &present, ..Sections::ALL },
        switches: Era::Freehold.switches(),
        ..MemoryConfig::linux(&zones[..used], CPUS as u16)
    };
    let image = boot::image();
    let bytes = required_bytes::<Host>(&config);
    let table = room(machine, image.end, (bytes as u64).div_ceil(PAGE_BYTES));
    let address = ptr::with_exposed_provenance_mut::<MaybeUninit<u8>>((table.start * PAGE_BYTES) as usize);
    // SAFETY: mapped memory behind the image. It is added as reserved below.
    let metadata = unsafe { slice::from_raw_parts_mut(address, bytes) };
    let memory = memory.set_up(&config, metadata, &()).expect("a valid configuration");
    // The processor uses frame 0 in real mode.
    let reserved = [0..1, TRAMPOLINE_FRAME..TRAMPOLINE_FRAME + 1, image, table];
    for zone in memory.zones() {
        for range in machine.ranges() {
            add(zone, &range, &reserved);
        }
    }
    memory
}

/// Returns the configuration of a zone: the memory in `frames`, with holes between. Zone DMA32 extends to its limit,
/// even if the last part of it has no memory.
fn zone(machine: &Machine, kind: ZoneType, frames: &Range<u64>) -> ZoneConfig {
    let ranges = machine.ranges().map(|range| intersection(&range, frames)).filter(|range| !range.is_empty());
    let managed: u64 = ranges.clone().map(|range| range.end - range.start).sum();
    let last = ranges.map(|range| range.end).max().unwrap_or(frames.start);
    let end = if frames.end == NORMAL { NORMAL } else { last };
    ZoneConfig { managed, ..ZoneConfig::sized(0, kind, Pfn(frames.start), end - frames.start) }
}

/// Returns the first `frames` contiguous frames of memory from `start` on.
fn room(machine: &Machine, start: u64, frames: u64) -> Range<u64> {
    let behind = machine.ranges().map(|range| range.start.max(start)..range.end);
    let first = behind.filter(|range| range.start + frames <= range.end).map(|range| range.start).min();
    let first = first.expect("room for the metadata");
    first..first + frames
}

/// Brings the part of `range` in the zone into service: frames in `reserved` as reserved, the rest as free.
fn add(zone: &Zone<'_, Host>, range: &Range<u64>, reserved: &[Range<u64>]) {
    let range = intersection(range, &(zone.start().0..zone.end().0));
    let mut at = range.start;
    while at < range.end {
        let ahead = reserved.iter().filter(|taken| taken.end > at && taken.start < range.end);
        let (until, added) = match ahead.min_by_key(|taken| taken.start) {
            Some(taken) if taken.start <= at => {
                let until = taken.end.min(range.end);
                (until, zone.add_reserved(Pfn(at), until - at))
            }
            next => {
                let until = next.map_or(range.end, |taken| taken.start);
                (until, zone.add_free(Pfn(at), until - at))
            }
        };
        added.expect("absent frames of the zone");
        at = until;
    }
}

fn intersection(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}
