//! A line for each zone: the reason first.

use std::cmp::Reverse;

use super::size::{kb, name, order_kb};
use crate::reason::{Finding, Judged, Place, Reserve, ZoneReason};

/// Returns at most `most` lines of zones, most important first: the deciding one, then those that the request may use.
pub(super) fn zone_lines(why: &Judged, most: usize) -> Vec<String> {
    let mut numbers: Vec<usize> = (0..why.findings.len()).collect();
    numbers.sort_by_key(|&number| {
        let zone = &why.findings[number];
        (why.verdict.zone != Some(number), !zone.is_allowed(), Reverse((zone.kind, zone.size)))
    });
    let mut lines: Vec<String> = numbers.iter().map(|&number| line(&why.findings[number], why)).collect();
    if lines.len() > most {
        let rest = &numbers[most - 1..];
        let free = rest.iter().fold(0_u64, |sum, &number| sum.saturating_add(why.findings[number].free));
        let allowed = rest.iter().filter(|&&number| why.findings[number].is_allowed()).count();
        lines.truncate(most - 1);
        lines.push(format!("{} more zones, {allowed} of them allowed: {} free", rest.len(), kb(free, why)));
    }
    lines.extend(why.unlisted.map(|unlisted| match unlisted.place {
        Place::HigherZones => {
            format!("higher zones: not allowed by the flags, not listed ({} free)", kb(unlisted.pages, why))
        }
        Place::OtherNodes => format!("other nodes: not listed ({} free)", kb(unlisted.pages, why)),
    }));
    lines
}

fn line(zone: &Finding, why: &Judged) -> String {
    format!("{}: {}", name(zone, why), reason(zone, why))
}

fn reason(zone: &Finding, why: &Judged) -> String {
    match zone.reason {
        ZoneReason::HigherZone => {
            let cma = if zone.all_cma > 0 && zone.all_cma >= zone.free { ", all of them CMA" } else { "" };
            format!("not allowed by the flags ({} free{cma})", kb(zone.free, why))
        }
        ZoneReason::OtherNode if zone.is_access_unclear => {
            format!("outside of the cpuset; one that encloses it decides ({} free)", kb(zone.free, why))
        }
        ZoneReason::OtherNode => {
            format!("not allowed by the cpuset or memory policy ({} free)", kb(zone.free, why))
        }
        ZoneReason::Unknown => "unknown: lines are missing or cut off".to_owned(),
        ZoneReason::NoList => format!(
            "enough pages ({}, {}), but its list of free blocks is missing or cut off",
            available(zone, why),
            mark(zone, why)
        ),
        ZoneReason::Fits => {
            let low = zone.low.saturating_add(zone.lowmem_reserve);
            let below = if zone.usable <= low as i64 {
                format!(", below low {}", kb(low, why))
            } else {
                String::new()
            };
            format!("fits: {}, {}{below}", available(zone, why), mark(zone, why))
        }
        ZoneReason::Short { by } => {
            let by = kb(by, why);
            if zone.usable < 0 {
                let largest = zone.largest.map_or("none".to_owned(), |order| order_kb(order, why));
                return format!(
                    "short by {by}: {} free, less than the block itself; largest {largest}",
                    kb(zone.free, why)
                );
            }
            format!("short by {by}: {}, {}", available(zone, why), mark(zone, why))
        }
        ZoneReason::NoBlock => {
            let largest = zone.largest.map_or("none".to_owned(), |order| order_kb(order, why));
            let index = zone.fragmentation_index.map_or(String::new(), |index| {
                format!(", fragmentation index {}.{:03}", index / 1000, index % 1000)
            });
            format!("no block large enough: largest {largest}{index}; {} free", kb(zone.free, why))
        }
        ZoneReason::OnlyIn(reserve) => {
            let pages = match reserve {
                Reserve::Cma => zone.all_cma,
                Reserve::HighAtomic => zone.highatomic,
                Reserve::Isolated => 0,
            };
            let of = if pages > 0 {
                format!(" ({} of {})", kb(pages, why), kb(zone.free, why))
            } else {
                String::new()
            };
            format!("only in {}{of}: {}, {}", reserve.name(), available(zone, why), mark(zone, why))
        }
    }
}

fn available(zone: &Finding, why: &Judged) -> String {
    format!("{} available", kb(zone.usable.max(0) as u64, why))
}

/// Returns what must stay free, and what it is made of. All numbers are in the unit of the first.
fn mark(zone: &Finding, why: &Judged) -> String {
    let kib = |pages: u64| pages.saturating_mul(why.page_kib);
    let total = format!("watermark {}", kb(zone.threshold().max(0) as u64, why));
    if zone.ignores_marks {
        return format!("{total} (no mark counts: `__GFP_MEMALLOC`)");
    }
    let lowered = zone.min < zone.printed_min;
    let boost = match (zone.boost, zone.skipped_boost) {
        (0, 0) => String::new(),
        (0, skipped) => format!(", boost {} not counted", kib(skipped)),
        (boost, _) => format!(", boost {} in it", kib(boost)),
    };
    match (kib(zone.lowmem_reserve), lowered) {
        (0, false) => format!("{total} (min{boost})"),
        (0, true) => format!("{total} (min {} lowered{boost})", kib(zone.printed_min)),
        (reserve, false) => format!("{total} (min {}{boost} + lowmem_reserve {reserve})", kib(zone.min)),
        (reserve, true) => {
            format!("{total} (lowered min {}{boost} + lowmem_reserve {reserve})", kib(zone.min))
        }
    }
}
