//! Decodes the bytes of the events of compaction, reclaim and isolation.

use freehold::Order;
use freehold_trace::{EventKind, PageWork};

use super::format::{EventFormat, Field, FormatError};
use super::gfp_table::GfpTable;

/// Where the fields of an event about work on pages are.
#[derive(Clone, Debug)]
pub(super) enum WorkFields {
    /// Pages examined, and pages obtained.
    Work { work: PageWork, pages: Number, obtained: Number },
    /// A request starts direct reclaim.
    DirectReclaim { order: Field, gfp: Field },
    /// A kswapd wakes up.
    Wake { order: Field },
    /// A kswapd goes to sleep.
    Sleep,
}

/// How a number is computed from an event's fields.
#[derive(Clone, Debug)]
pub(super) enum Number {
    /// It is 0, as no field holds it.
    Zero,
    /// The field.
    Of(Field),
    /// The sum of two fields.
    Sum(Field, Field),
    /// The first field less the second one, at least 0.
    Above(Field, Field),
    /// The first field if the second one is 0, else 0.
    Unless(Field, Field),
}

impl Number {
    fn read(&self, event: &[u8]) -> Option<u64> {
        Some(match self {
            Self::Of(field) => field.read(event)?,
            Self::Sum(one, other) => one.read(event)?.saturating_add(other.read(event)?),
            Self::Above(one, other) => one.read(event)?.saturating_sub(other.read(event)?),
            Self::Unless(number, error) if error.read(event)? == 0 => number.read(event)?,
            Self::Zero | Self::Unless(..) => 0,
        })
    }
}

impl WorkFields {
    /// Finds the fields of the event `name`. Returns `None` if it is none of these events.
    pub(super) fn new(name: &str, format: &EventFormat) -> Result<Option<Self>, FormatError> {
        let field = |wanted: &str| {
            let missing = || FormatError(format!("the format of {name} names no {wanted}"));
            format.field(wanted).cloned().ok_or_else(missing)
        };
        match name {
            "mm_vmscan_direct_reclaim_begin" => {
                let (order, gfp) = (field("order")?, field("gfp_flags")?);
                return Ok(Some(Self::DirectReclaim { order, gfp }));
            }
            "mm_vmscan_kswapd_wake" => return Ok(Some(Self::Wake { order: field("order")? })),
            "mm_vmscan_kswapd_sleep" => return Ok(Some(Self::Sleep)),
            _ => {}
        }
        let Some(work) = PageWork::ALL.into_iter().find(|work| work.event() == name) else { return Ok(None) };
        let (pages, obtained) = match work {
            PageWork::IsolateMigratePages | PageWork::IsolateFreePages | PageWork::FastIsolateFreePages => {
                (Number::Of(field("nr_scanned")?), Number::Of(field("nr_taken")?))
            }
            PageWork::MigratePages => {
                (Number::Sum(field("nr_migrated")?, field("nr_failed")?), Number::Of(field("nr_migrated")?))
            }
            PageWork::DirectReclaim => (Number::Zero, Number::Of(field("nr_reclaimed")?)),
            PageWork::ShrinkInactive => {
                (Number::Of(field("nr_scanned")?), Number::Of(field("nr_reclaimed")?))
            }
            PageWork::TestIsolated => (
                Number::Above(field("end_pfn")?, field("start_pfn")?),
                Number::Above(field("fin_pfn")?, field("start_pfn")?),
            ),
            PageWork::CmaAlloc => {
                // Kernels before 5.15 have no field for the failure, but count no page
                // then.
                let pages = field("count")?;
                let failed = format.field("errorno").cloned();
                let obtained = match failed {
                    Some(failed) => Number::Unless(pages.clone(), failed),
                    None => Number::Of(pages.clone()),
                };
                (Number::Of(pages), obtained)
            }
            PageWork::CmaRelease => (Number::Of(field("count")?), Number::Of(field("count")?)),
        };
        Ok(Some(Self::Work { work, pages, obtained }))
    }

    /// Decodes an event's bytes.
    pub(super) fn read(&self, event: &[u8], gfp: &GfpTable, largest: Order) -> Option<EventKind> {
        let order = |field: &Field| field.order(event, largest);
        Some(match self {
            Self::Work { work, pages, obtained } => {
                let (work, pages, obtained) = (*work, pages.read(event)?, obtained.read(event)?);
                // The last free block may reach beyond the range's end.
                let in_range = if work == PageWork::TestIsolated { obtained.min(pages) } else { obtained };
                EventKind::Work { work, pages, obtained: in_range }
            }
            Self::DirectReclaim { order: size, gfp: flags } => {
                EventKind::DirectReclaimBegin { order: order(size)?, gfp: gfp.translate(flags.read(event)?) }
            }
            Self::Wake { order: size } => EventKind::KswapdWake { order: order(size)? },
            Self::Sleep => EventKind::KswapdSleep,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::tracefs::parse_format;

    /// Decodes an event of 64-bit fields with these names and values.
    fn of(name: &str, fields: &[(&str, u64)]) -> EventKind {
        let mut text = "name: x\nID: 7\n".to_owned();
        let mut bytes = Vec::new();
        for (at, (field, value)) in fields.iter().enumerate() {
            let place = at * 8;
            writeln!(text, "\tfield:unsigned long {field};\toffset:{place};\tsize:8;\tsigned:0;").unwrap();
            bytes.extend(value.to_ne_bytes());
        }
        let gfp =
            GfpTable::from_print_fmt("\"%s\", __print_flags(REC->gfp_flags, \"|\", {0x1, \"__GFP_DMA\"})");
        let fields = WorkFields::new(name, &parse_format(&text).unwrap()).unwrap().unwrap();
        fields.read(&bytes, &gfp.unwrap(), Order::MAX_PAGE_ORDER).unwrap()
    }

    fn work(name: &str, fields: &[(&str, u64)]) -> (u64, u64) {
        let EventKind::Work { work, pages, obtained } = of(name, fields) else { panic!("{name} is no work") };
        assert_eq!(work.event(), name);
        (pages, obtained)
    }

    #[test]
    fn pages_looked_at_and_obtained() {
        let scanner = [("nr_scanned", 512), ("nr_taken", 32)];
        assert_eq!(work("mm_compaction_isolate_migratepages", &scanner), (512, 32));
        assert_eq!(work("mm_compaction_fast_isolate_freepages", &scanner), (512, 32));
        let moved = [("nr_migrated", 30), ("nr_failed", 2)];
        assert_eq!(work("mm_compaction_migratepages", &moved), (32, 30));
        let range = [("start_pfn", 1024), ("end_pfn", 2048), ("fin_pfn", 1030)];
        assert_eq!(work("test_pages_isolated", &range), (1024, 6));
        let range = [("start_pfn", 1024), ("end_pfn", 2048), ("fin_pfn", 3072)];
        assert_eq!(work("test_pages_isolated", &range), (1024, 1024));
        assert_eq!(work("mm_vmscan_direct_reclaim_end", &[("nr_reclaimed", 44)]), (0, 44));
        assert_eq!(work("cma_alloc_finish", &[("count", 16), ("errorno", 0)]), (16, 16));
        assert_eq!(work("cma_alloc_finish", &[("count", 16), ("errorno", u64::MAX)]), (16, 0));
        assert_eq!(work("cma_release", &[("count", 16)]), (16, 16));
    }

    #[test]
    fn other_events_and_missing_fields() {
        assert!(WorkFields::new("mm_page_alloc", &EventFormat::default()).unwrap().is_none());
        assert!(WorkFields::new("cma_release", &EventFormat::default()).is_err());
        let EventKind::KswapdWake { order } = of("mm_vmscan_kswapd_wake", &[("order", 9)]) else { panic!() };
        assert_eq!(order.get(), 9);
    }
}
