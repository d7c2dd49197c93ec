//! Machines with other sizes of pages, orders and pageblocks: traces are written, read and replayed in every era.

use freehold::Order;
use freehold_lab::analysis::Analyzer;
use freehold_lab::workload::Synthetic;
use freehold_lab::{Comparison, Lab, Options, Provenance, Report};
use freehold_trace::{
    Ending, EventLog, Origin, ReadOptions, Snapshot, TraceReader, TraceWriter, WriteOptions,
};

/// Machines: the size of a page in bytes, the largest order, and the order of a pageblock.
const MACHINES: [(u64, u8, u8); 3] = [(16 << 10, 11, 11), (64 << 10, 13, 13), (4 << 10, 13, 9)];

fn order(value: u8) -> Order {
    Order::new(value).expect("an order")
}

fn workload((page_bytes, largest, pageblock): (u64, u8, u8)) -> Synthetic {
    Synthetic {
        events: 60_000,
        free_fraction: 4,
        pages: 1 << 18,
        page_bytes,
        max_order: order(largest),
        pageblock_order: order(pageblock),
        ..Synthetic::default()
    }
}

/// A trace that was written and read back.
struct Kept {
    origin: Origin,
    start: Snapshot,
    events: EventLog,
    ending: Ending,
}

impl Kept {
    fn new(workload: &Synthetic) -> Self {
        let made = workload.generate().expect("a valid workload");
        let options = WriteOptions::new("wide");
        let mut writer =
            TraceWriter::create(Vec::new(), options, &made.origin, &made.start).expect("a header");
        made.events.for_each(|event| writer.push(&event).expect("an event"));
        let bytes = writer.finish(&made.ending).expect("an ending");
        let mut reader = TraceReader::open(&bytes[..], ReadOptions::new("wide")).expect("a trace");
        let mut events = EventLog::default();
        while let Some(batch) = reader.next_batch().expect("a batch") {
            events.extend(batch.iter().copied());
        }
        let (origin, start) = (reader.origin().clone(), reader.start().clone());
        let ending = reader.ending().expect("a whole trace").clone();
        assert!(events == made.events && start == made.start && ending == made.ending, "what was written");
        Self { origin, start, events, ending }
    }

    fn trace(&self) -> freehold_lab::Trace<'_> {
        freehold_lab::Trace {
            origin: &self.origin,
            start: &self.start,
            events: &self.events,
            ending: Some(&self.ending),
        }
    }
}

/// Replays and compares; every replay checks its memory at the end.
fn compare(lab: &Lab<'_>) -> Comparison {
    lab.compare(Options { runs: 1, ..Options::default() }.into()).expect("a comparison")
}

#[test]
fn every_era_replays_every_width() {
    let mut larger = 0;
    for machine in MACHINES {
        let (page_bytes, largest, pageblock) = machine;
        let kept = Kept::new(&workload(machine));
        assert_eq!(kept.origin.page_bytes, page_bytes);
        let lab = Lab::new(kept.trace()).expect("a valid trace");
        assert_eq!((lab.machine.max_order, lab.machine.pageblock_order), (order(largest), order(pageblock)));
        let comparison = compare(&lab);
        assert!(comparison.eras.len() >= 4, "{machine:?}");
        for era in &comparison.eras {
            assert_eq!((era.followed.refused, era.followed.misplaced), (0, 0), "{machine:?} {}", era.variant);
            let zones = || era.samples.iter().flat_map(|sample| &sample.zones);
            assert!(zones().all(|zone| zone.free_blocks.largest() == order(largest)), "{machine:?}");
            larger +=
                zones().filter(|zone| zone.free_blocks.iter().skip(11).any(|&blocks| blocks > 0)).count();
        }
        let distance = comparison.distance.as_ref().expect("the generated machine has an end");
        // The fit of pageblock types is coarse if a free block spans sixteen pageblocks.
        let is_near = distance.percent() < 15.0 || pageblock < largest;
        assert!(is_near, "{machine:?}: {} %", distance.percent());
        let table = distance.table();
        assert_eq!(table.columns.len(), usize::from(largest) + 1, "{machine:?}");
        let replay = lab.replay(&freehold::Era::Linux6_12.into(), Options::default()).expect("a replay");
        let head = format!("Page block order: {pageblock}\nPages per block:  {}\n", 1 << pageblock);
        assert!(replay.pagetypeinfo.starts_with(&head), "{}", replay.pagetypeinfo);
    }
    assert!(larger > 0, "no block has an order above 10");
}

#[test]
fn analyses_and_reports_have_the_orders_of_the_machine() {
    let (page_bytes, largest, _) = MACHINES[1];
    let kept = Kept::new(&workload(MACHINES[1]));
    let mut analyzer = Analyzer::new(&kept.start).expect("a machine");
    analyzer.add(&kept.events.iter().collect::<Vec<_>>());
    let orders = analyzer.finish().orders;
    assert_eq!(orders.len(), usize::from(largest) + 1);
    let huge = &orders[usize::from(largest)];
    assert!(huge.allocs + huge.failed > 0, "no request for a huge page of 512 MiB");
    let lab = Lab::new(kept.trace()).expect("a valid trace");
    let mut report = Report::new(Provenance::default());
    report.add("wide.arrows", &lab, compare(&lab));
    let files = report.files().expect("pictures");
    let blocks =
        files.iter().find(|file| file.name.contains("free-blocks") && file.contents.starts_with(b"<svg"));
    let blocks =
        blocks.unwrap_or_else(|| panic!("{:?}", files.iter().map(|file| &file.name).collect::<Vec<_>>()));
    assert!(String::from_utf8_lossy(&blocks.contents).contains("order 13"));
    assert!(report.html().contains(&format!("\"page_bytes\":{page_bytes}")));
}

#[test]
fn per_cpu_lists_of_huge_pages_follow_the_machine() {
    for machine in MACHINES {
        let kept = Kept::new(&workload(machine));
        let lab = Lab::new(kept.trace()).expect("a valid trace");
        assert!(lab.machine.config(freehold::Era::Linux6_12.switches()).huge_pages, "{machine:?}");
    }
    let without = (4 << 10, 10, 10);
    let kept = Kept::new(&workload(without));
    let lab = Lab::new(kept.trace()).expect("a valid trace");
    assert!(!lab.machine.config(freehold::Era::Linux6_12.switches()).huge_pages);
}
