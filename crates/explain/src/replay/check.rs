//! The engine's opinion of a judged report.

use freehold::{Era, GfpFlags, Order};
use serde::Serialize;

use super::zone::{EngineZone, Marks};
use crate::reason::{Class, Finding, Judged, Reserve, ZoneReason};
use crate::report::{Kind, Splat, ZoneText};

/// What the engine says of a judged report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    /// It refuses, or grants, the request in each zone as the report was judged.
    Agrees {
        /// The era's name.
        era: &'static str,
        /// True if a zone was too large and had blocks and marks left out.
        is_scaled: bool,
    },
    /// It does otherwise in a zone.
    Disagrees {
        /// The era's name.
        era: &'static str,
        /// The zone.
        zone: String,
    },
    /// The engine was not used.
    NotChecked {
        /// Why.
        why: &'static str,
    },
}

impl Check {
    /// Replays the request of a report in zones with the report's numbers.
    pub(crate) fn of(splat: &Splat, why: &Judged) -> Self {
        let era = match era(splat, why) {
            Ok(era) => era,
            Err(why) => return Self::NotChecked { why },
        };
        let (mut is_scaled, mut checked) = (false, 0);
        for finding in why.findings.iter().filter(|finding| finding.is_allowed()) {
            let known = |zone: &&ZoneText| zone.node == finding.node && zone.kind == finding.kind;
            let Some(zone) = splat.zones.iter().find(known) else { continue };
            match check_zone(why, finding, zone, era) {
                None => {}
                Some((false, _)) => return Self::Disagrees { era: era.name(), zone: zone.name() },
                Some((true, scaled)) => {
                    is_scaled |= scaled;
                    checked += 1;
                }
            }
        }
        if checked == 0 {
            return Self::NotChecked { why: "no zone of the text is whole" };
        }
        Self::Agrees { era: era.name(), is_scaled }
    }

    /// Returns the end of a sentence on how sure the answer is.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Agrees { era, is_scaled } => {
                let scale = if *is_scaled { "; large zones were scaled down" } else { "" };
                format!("checked: the engine ({era}) answers as these lines say{scale}")
            }
            Self::Disagrees { era, zone } => {
                format!(
                    "checked: the engine ({era}) disagrees on {zone}; a vendor's kernel, or the time of printing"
                )
            }
            Self::NotChecked { why } => format!("not checked by the engine: {why}"),
        }
    }
}

/// Returns the era that replays the report, or why none does.
fn era(splat: &Splat, why: &Judged) -> Result<Era, &'static str> {
    if !matches!(splat.kind, Kind::PageAllocation | Kind::Stall | Kind::Oom | Kind::OomNodes) {
        return Err("it has no such rule");
    }
    let Some(release) = &splat.release else { return Err("the text names no kernel release") };
    if release.version < (6, 1) {
        return Err("rule of that kernel not replayed");
    }
    if why.order.is_none() || why.flags.is_none() {
        return Err("the text does not name the request");
    }
    if why.rights.ignores_marks {
        return Err("the request ignores all marks");
    }
    if why.verdict.class == Some(Class::NodePolicy) {
        return Err("it has no nodes that a policy excludes");
    }
    Ok(match release.version {
        version if version < (6, 12) => Era::Linux6_1,
        version if version < (6, 19) => Era::Linux6_12,
        _ => Era::Linux7_3,
    })
}

/// Returns whether the engine agrees on a zone, and whether that was scaled down; `None` if it cannot be set up.
fn check_zone(why: &Judged, finding: &Finding, text: &ZoneText, era: Era) -> Option<(bool, bool)> {
    let pages = |kib: Option<u64>| kib.unwrap_or(0) / why.page_kib.max(1);
    let list = text.blocks.as_ref().filter(|list| list.is_whole())?;
    let highatomic = text.free_highatomic_kib.or(text.reserved_highatomic_kib);
    let zone = EngineZone::new(list, pages(text.free_cma_kib), pages(highatomic))?;
    let order = Order::new(why.order?).filter(|&order| order <= zone.max_order())?;
    let marks = marks(why, finding, text, zone.left_out);
    let gfp = replayable(why.flags?);
    let grants = |marks: Marks, gfp: GfpFlags| zone.grants(era.switches(), marks, order, gfp);
    let free = Marks { min: 0, reserve: 0, highatomic: 0 };
    let granted = grants(marks, gfp)?;
    let agrees = match finding.reason {
        ZoneReason::Fits => granted,
        // With the marks away the request is granted, unless no block is large enough either.
        ZoneReason::Short { .. } => {
            let has_block = order == Order::ZERO || finding.largest >= Some(order.get());
            !granted && (finding.usable <= 0 || !has_block || grants(free, gfp)?)
        }
        // With the marks away it is refused still.
        ZoneReason::NoBlock => !granted && !grants(free, gfp)?,
        ZoneReason::OnlyIn(Reserve::Cma) => !granted && grants(marks, gfp | GfpFlags::MOVABLE)?,
        ZoneReason::OnlyIn(Reserve::HighAtomic) => {
            !granted && grants(marks, (gfp | GfpFlags::HIGH) - GfpFlags::NOMEMALLOC)?
        }
        ZoneReason::OnlyIn(Reserve::Isolated) => !granted,
        _ => return None,
    };
    Some((agrees, zone.left_out > 0))
}

fn marks(why: &Judged, finding: &Finding, text: &ZoneText, left_out: u64) -> Marks {
    let highatomic = text.reserved_highatomic_kib.unwrap_or(0) / why.page_kib.max(1);
    if left_out == 0 {
        let min = finding.printed_min.saturating_sub(finding.skipped_boost);
        return Marks { min, reserve: finding.lowmem_reserve, highatomic };
    }
    // What was left out is left out of what must stay free as well.
    let kept = (finding.threshold().max(0) as u64).saturating_sub(left_out);
    Marks { min: 0, reserve: kept, highatomic }
}

/// Returns flags with the same rights that neither wait, nor drain, nor try for ever, in the one zone.
fn replayable(flags: GfpFlags) -> GfpFlags {
    let zones = GfpFlags::DMA32 | GfpFlags::HIGHMEM;
    let waits = flags.contains(GfpFlags::DIRECT_RECLAIM);
    let mut gfp = flags - (GfpFlags::DIRECT_RECLAIM | GfpFlags::NOFAIL | GfpFlags::THISNODE | zones);
    gfp |= GfpFlags::DMA;
    if waits {
        gfp |= GfpFlags::NOMEMALLOC;
    }
    gfp
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Log;

    const REPORT: &str = "a: page allocation failure: order:4, mode:0xdc0(GFP_KERNEL|__GFP_ZERO), nodemask=(null)
CPU: 0 PID: 1 Comm: a Not tainted 6.12.3 #1
Mem-Info:
Node 0 Normal free:8192kB boost:0kB min:2048kB low:2560kB high:3072kB reserved_highatomic:0KB present:65536kB managed:65536kB free_cma:0kB
lowmem_reserve[]: 0 0 0
Node 0 Normal: 1024*4kB (UME) 256*8kB (UM) 128*16kB (E) 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = 8192kB
";

    /// Returns what the engine says of a report, with `reason` in the place of its zone's reason.
    fn checked(text: &str, reason: Option<ZoneReason>) -> Check {
        let log = Log::read(text.as_bytes()).expect("memory is readable");
        let splat = &log.seen[0].newest;
        let mut why = Judged::of(splat);
        if let Some(reason) = reason {
            why.findings[0].reason = reason;
        }
        Check::of(splat, &why)
    }

    #[test]
    fn a_right_reason_agrees_and_wrong_ones_do_not() {
        assert!(matches!(checked(REPORT, None), Check::Agrees { is_scaled: false, .. }));
        let wrong =
            [ZoneReason::Fits, ZoneReason::OnlyIn(Reserve::Cma), ZoneReason::OnlyIn(Reserve::HighAtomic)];
        for reason in wrong {
            assert!(matches!(checked(REPORT, Some(reason)), Check::Disagrees { .. }), "{reason:?}");
        }
        let fits = REPORT.replace("order:4", "order:2");
        assert!(matches!(checked(&fits, None), Check::Agrees { .. }));
        let short = ZoneReason::Short { by: 1 };
        assert!(matches!(checked(&fits, Some(short)), Check::Disagrees { .. }));
        assert!(matches!(checked(&fits, Some(ZoneReason::NoBlock)), Check::Disagrees { .. }));
    }

    #[test]
    fn short_zones_cma_and_reserves_are_replayed() {
        let marks = "min:2048kB low:2560kB high:3072kB";
        let short = REPORT.replace("order:4", "order:2").replace(marks, "min:8188kB low:8700kB high:9212kB");
        assert!(matches!(checked(&short, None), Check::Agrees { .. }));
        let cma = REPORT.replace("order:4", "order:0").replace("free_cma:0kB", "free_cma:8000kB");
        let cma = cma.replace("(UME)", "(UMC)").replace("(UM)", "(C)").replace("(E)", "(C)");
        assert!(matches!(checked(&cma, None), Check::Agrees { .. }));
        let urgent = REPORT.replace("order:4", "order:3").replace("0*32kB", "8*32kB (H)");
        let urgent = urgent.replace("8192kB\n", "8448kB\n");
        assert!(matches!(checked(&urgent, None), Check::Agrees { .. }));
    }

    #[test]
    fn large_zones_are_scaled() {
        let large = REPORT.replace("0*4096kB = 8192kB", "9000000*4096kB (M) = 36864008192kB");
        let large = large.replace("free:8192kB", "free:36864008192kB").replace("65536kB", "46864008192kB");
        let marks = "min:2048kB low:2560kB high:3072kB";
        let short = large.replace(marks, "min:36864008188kB low:36864008190kB high:36864008192kB");
        for text in [large, short] {
            assert!(matches!(checked(&text, None), Check::Agrees { is_scaled: true, .. }), "{text}");
        }
    }
}
