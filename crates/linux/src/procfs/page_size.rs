//! The size of a page: of the machine below a root, which may be another than this one.

use std::path::Path;

use freehold_trace::ZoneSnapshot;

use super::meminfo::read_meminfo;
use super::read::read_text;
use super::zoneinfo::read_zoneinfo;

/// Pages of 4 KiB to 256 KiB, which are all that Linux has.
const PAGE_SHIFTS: std::ops::RangeInclusive<u32> = 12..=18;

/// The sizes of most machines: 4, 16 and 64 KiB.
const USUAL_SHIFTS: [u32; 3] = [12, 14, 16];

/// Returns the bytes of a page on the machine below `root`, or `None` if its files do not tell.
///
/// Of this machine, whose root is `/`, the kernel tells it. Of another, `KernelPageSize` in a copy of
/// `/proc/self/smaps` does; otherwise it is the power of two that comes closest to `MemTotal` over the managed
/// pages of all zones, as the kernel computes the one from the other. A size that few machines have counts only if `MemFree` over
/// the free pages gives it, too: otherwise the two files are of two machines.
///
/// Units: bytes.
pub fn page_bytes(root: &Path) -> Option<u64> {
    if root == Path::new("/") {
        return Some(rustix::param::page_size() as u64);
    }
    in_smaps(root).or_else(|| by_memory(root))
}

fn in_smaps(root: &Path) -> Option<u64> {
    let text = read_text(&root.join("proc/self/smaps")).ok()?;
    let sizes = text.lines().filter_map(|row| row.strip_prefix("KernelPageSize:"));
    let kib = sizes.filter_map(|size| size.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).min()?;
    kib.checked_mul(1024).filter(|bytes| bytes.is_power_of_two() && PAGE_SHIFTS.contains(&bytes.ilog2()))
}

fn by_memory(root: &Path) -> Option<u64> {
    let zones = read_zoneinfo(root).ok()?;
    let managed: u64 = zones.iter().map(|zone| zone.managed).sum();
    let shift = shift(read_meminfo(root, "MemTotal").ok()?, managed)?;
    // Memory may come and go between the readings of the two files.
    let near = (shift - shift.round()).abs() < 0.25;
    let shift = shift.round() as u32;
    let is_size = near && PAGE_SHIFTS.contains(&shift);
    (is_size && (USUAL_SHIFTS.contains(&shift) || is_size_of_free(root, &zones, shift))).then(|| 1 << shift)
}

/// Returns true if free memory in bytes and in pages gives this size of a page.
fn is_size_of_free(root: &Path, zones: &[ZoneSnapshot], expected: u32) -> bool {
    let free = zones.iter().map(|zone| zone.free).sum();
    let bytes = read_meminfo(root, "MemFree").ok();
    bytes.and_then(|bytes| shift(bytes, free)).is_some_and(|shift| shift.round() as u32 == expected)
}

fn shift(bytes: u64, pages: u64) -> Option<f64> {
    (bytes > 0 && pages > 0).then(|| (bytes as f64 / pages as f64).log2())
}
