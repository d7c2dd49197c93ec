//! The numbers of one zone in a sentence.

use super::size::{kb, name};
use crate::reason::{Finding, Judged};

/// Returns what a zone has for the request, and what must stay free there.
pub(super) fn numbers(zone: &Finding, why: &Judged) -> String {
    let available = kb(zone.usable.max(0) as u64, why);
    let threshold = kb(zone.threshold().max(0) as u64, why);
    let spare = zone.usable - zone.threshold();
    if spare <= 0 {
        let short = kb(spare.unsigned_abs().max(1), why);
        return format!(
            "{} has {available} available, watermark {threshold}: short by {short}",
            name(zone, why)
        );
    }
    let low = zone.low.saturating_add(zone.lowmem_reserve);
    let below_low =
        if zone.usable <= low as i64 { format!(", is below low {}", kb(low, why)) } else { String::new() };
    format!("{} has {available} available, watermark {threshold}{below_low}", name(zone, why))
}
