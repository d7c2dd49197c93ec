//! Names and sizes as the answer writes them.

use crate::reason::{Finding, Judged};

/// Returns pages as the kernel prints sizes.
pub(super) fn kb(pages: u64, why: &Judged) -> String {
    format!("{} kB", pages.saturating_mul(why.page_kib))
}

/// Returns the size of a block.
pub(super) fn order_kb(order: u8, why: &Judged) -> String {
    kb(1_u64.checked_shl(order.into()).unwrap_or(u64::MAX), why)
}

/// Returns `Normal`, or `node 0 Normal` if the text has zones of other nodes.
pub(super) fn name(zone: &Finding, why: &Judged) -> String {
    let is_alone = why.findings.iter().all(|other| other.node == 0);
    if is_alone { zone.kind.name().to_owned() } else { format!("node {} {}", zone.node, zone.kind.name()) }
}

/// Returns pages in the unit that suits a reader.
pub(super) fn human(pages: u64, why: &Judged) -> String {
    let kib = pages.saturating_mul(why.page_kib) as f64;
    match kib {
        _ if kib >= 1024.0 * 1024.0 => format!("{:.1} GiB", kib / (1024.0 * 1024.0)),
        _ if kib >= 1024.0 => format!("{:.1} MiB", kib / 1024.0),
        _ => format!("{kib:.0} KiB"),
    }
}
