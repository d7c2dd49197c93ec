//! Whether a report's numbers agree with each other.

use super::splat::{Damage, Splat};
use super::zone::ZoneText;

/// The least difference that counts, for zones change while they are printed. Units: KiB.
const LEAST_DIFFERENCE_KIB: u64 = 2048;

/// Returns what does not agree in a report: one sentence each. `expects_all` is false if the kernel has left zones out.
pub(crate) fn doubts(splat: &Splat, expects_all: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    match splat.damage {
        Damage::None => {}
        Damage::Torn => doubts.push("a line stands twice: lines are missing in between".to_owned()),
        Damage::Interleaved => {
            doubts.push("two CPUs printed at once: lines of two reports are mixed".to_owned());
        }
    }
    for zone in &splat.zones {
        doubts.extend(zone_doubt(zone).map(|doubt| format!("{}: {doubt}", zone.name())));
    }
    doubts.extend(total_doubt(splat, expects_all));
    let entries = splat.zones.iter().filter_map(|zone| zone.lowmem_reserve.as_ref().map(Vec::len));
    if entries.clone().min() != entries.max() {
        doubts.push("the zones' lowmem_reserve lists differ in length".to_owned());
    }
    if splat.kind.is_oom() && splat.request.order.is_some_and(|order| order > 3) {
        doubts.push("Linux starts no OOM kill above order 3, so the order may be damaged".to_owned());
    }
    doubts
}

fn zone_doubt(zone: &ZoneText) -> Option<String> {
    if let Some(blocks) = &zone.blocks {
        let sum = blocks.sum_kib();
        match blocks.printed_kib {
            None => return Some("the line of free blocks is cut off".to_owned()),
            Some(printed) if printed != sum => {
                return Some(format!("free blocks add up to {sum} kB, not to the printed {printed} kB"));
            }
            Some(_) => {}
        }
        if zone.free_kib.is_some_and(|free| differs(free, sum)) {
            return Some(format!("free blocks of {sum} kB do not fit free:{}kB", zone.free_kib.unwrap_or(0)));
        }
    }
    let marks = [zone.min_kib, zone.low_kib, zone.high_kib];
    if zone.free_kib.is_some() && marks.iter().any(Option::is_none) {
        return Some("its line is cut off before the marks".to_owned());
    }
    if zone.free_kib.is_some() && zone.present_kib.is_none() {
        return Some("its line is cut off".to_owned());
    }
    let ascends = |values: &[Option<u64>]| values.iter().flatten().is_sorted();
    let sizes = ascends(&[zone.managed_kib, zone.present_kib]) && ascends(&[zone.free_kib, zone.present_kib]);
    let cma =
        zone.free_cma_kib.zip(zone.free_kib).is_none_or(|(cma, free)| cma <= free || !differs(cma, free));
    (!(ascends(&marks) && sizes && cma)).then(|| "its numbers contradict each other".to_owned())
}

/// Returns the free pages of the zones in the text and of the machine, where they differ.
fn unequal_free(splat: &Splat) -> Option<(u64, u64)> {
    let total = splat.totals.get("free:")?;
    let page_kib = splat.zones.iter().find_map(|zone| zone.blocks.as_ref())?.page_kib;
    let sum =
        splat.zones.iter().filter_map(|zone| zone.free_kib).fold(0, u64::saturating_add) / page_kib.max(1);
    differs(total.saturating_mul(page_kib), sum.saturating_mul(page_kib)).then_some((sum, total))
}

/// Returns the free pages that the machine had outside of the zones in the text, or `None` if these are all.
pub(crate) fn unlisted_free(splat: &Splat) -> Option<u64> {
    let (sum, total) = unequal_free(splat)?;
    total.checked_sub(sum)
}

/// Compares the zones' free pages with the sum that was printed for all of them.
fn total_doubt(splat: &Splat, expects_all: bool) -> Option<String> {
    let (sum, total) = unequal_free(splat)?;
    if total > sum && !expects_all {
        return None;
    }
    let end = if total > sum { "zones are missing" } else { "a zone's number is wrong" };
    Some(format!("the zones in the text have {sum} free pages, the machine had {total}: {end}"))
}

/// Returns true if numbers differ by more than a sixteenth, which is more than what changes while they are printed.
fn differs(one: u64, other: u64) -> bool {
    one.abs_diff(other) > LEAST_DIFFERENCE_KIB.max(one.max(other) / 16)
}
