//! The sentence on free memory in reserves of which only the number of pages is known.

use freehold_linux::procfs::FreeReserves;

use super::answer::Verdict;

/// Returns how many of the free blocks may be CMA's or the `HighAtomic` reserve's, where no file says which.
pub(super) fn reserves_sentence(verdict: &Verdict) -> Option<String> {
    let zones = || verdict.zones.iter().filter_map(|zone| Some((zone, zone.reserved_pages?)));
    let free: u64 = zones().map(|(zone, _)| zone.now).sum();
    let certain: u64 = zones().map(|(zone, _)| zone.now.saturating_sub(zone.unusable)).sum();
    if free == 0 {
        return None;
    }
    let cma = of(verdict, zones().map(|(_, FreeReserves { cma, .. })| cma).sum(), "CMA's");
    let high = of(verdict, zones().map(|(_, free)| free.high_atomic).sum(), "the HighAtomic reserve's");
    let reserved: Vec<_> = [cma, high].into_iter().flatten().collect();
    Some(format!(
        "without pagetypeinfo the type of the {free} free blocks is unknown: {certain} at least, {free} at most are \
         outside the reserves; {} and closed to ordinary requests",
        reserved.join(", ")
    ))
}

fn of(verdict: &Verdict, pages: u64, owner: &str) -> Option<String> {
    let mib = pages as f64 * verdict.request.page_bytes() as f64 / f64::from(1 << 20);
    (pages > 0).then(|| format!("{mib:.1} MiB of free memory are {owner}"))
}
