//! Exact starts, which were read from the machine block by block.

use crate::common::{PAGES, Script, machine};
use freehold::{Era, Pfn};
use freehold_lab::{Agreement, Followed, Lab, Options, StartReport, Trace};
use freehold_trace::{
    EXACT_VERSION, EventKind, EventLog, ExactCpu, ExactList, ExactPart, ExactState, ExactZone, FrameUse,
    Origin, PageblockRun, Run, Snapshot, ZoneSnapshot,
};

/// The time of the reading, by the clock of [`Script`].
const WINDOW_NS: (u64, u64) = (10_500, 20_500);

fn list(pfns: &[u64]) -> ExactList {
    ExactList { order: 0, migratetype: 1, pfns: pfns.to_vec(), ..ExactList::default() }
}

/// A machine with all pages in use, except single pages on the free list of the zone and on the list of its CPU.
fn start(zone: &[u64], cpu: &[u64]) -> Snapshot {
    let of_cpu =
        ExactCpu { count: cpu.len() as u64, batch: 1, lists: vec![list(cpu)], ..ExactCpu::default() };
    let pageblocks = vec![PageblockRun { pageblocks: PAGES >> 9, migratetype: Some(1), skipped: false }];
    let zone = ExactZone {
        name: "Normal".to_owned(),
        lists: vec![list(zone)],
        cpus: vec![of_cpu],
        pageblocks,
        ..ExactZone::default()
    };
    let state = ExactState {
        version: EXACT_VERSION,
        begin_ns: WINDOW_NS.0,
        end_ns: WINDOW_NS.1,
        tries: 1,
        zones: vec![zone],
        ..ExactState::default()
    };
    let mut snapshot = machine();
    snapshot.time_ns = WINDOW_NS.1 + 1;
    snapshot.pagetypeinfo.pageblock_order = 9;
    snapshot.zones[0].pagesets[0].high_max = 64;
    snapshot.zones[0].pagesets[0].high = 64;
    snapshot.zones[0].pagesets[0].high_min = 64;
    snapshot.occupancy = vec![Run { start: Pfn(0), pages: PAGES, used_for: FrameUse::Movable }];
    snapshot.exact = ExactPart::Taken(Box::new(state));
    snapshot
}

fn replay(start: &Snapshot, script: Script) -> (StartReport, Agreement, Followed) {
    let events: EventLog = script.events.into_iter().collect();
    let origin = Origin { kernel_release: "7.3.0".to_owned(), ..Origin::default() };
    let lab = Lab::new(Trace { origin: &origin, start, events: &events, ending: None }).expect("a lab");
    let options = Options { runs: 1, ..Options::default() };
    let measures = lab.replay(&Era::Linux7_3.into(), options).expect("a replay").measures;
    (lab.start_report().clone(), measures.agreement, measures.followed)
}

/// Events after the reading.
fn behind() -> Script {
    Script::default().free(4000, 0).push(EventKind::KswapdSleep).wait_ns(30_000)
}

#[test]
fn requests_get_blocks_in_the_order_of_the_lists() {
    let start = start(&[100, 7, 300], &[50, 40]);
    let script = || [50, 40, 100, 7, 300].into_iter().fold(behind(), |script, pfn| script.alloc(pfn, 0));
    let (report, agreement, followed) = replay(&start, script());
    let exact = report.exact.as_ref().expect("an exact start");
    assert_eq!((exact.free_pages, exact.listed_pages, exact.events_before), (3, 2, 1));
    assert!(
        report.sentence().contains("exact") && report.sentence().contains("nothing happened"),
        "{report:?}"
    );
    assert_eq!((agreement.total().allocs, agreement.first_difference), (5, None));
    assert_eq!(followed.double_allocs, 0);
    // The same without the order of the lists.
    let mut fitted = Snapshot { exact: ExactPart::default(), ..start };
    let run = |start, end, used_for| Run { start: Pfn(start), pages: end - start, used_for };
    fitted.occupancy = [0, 7, 8, 100, 101, 300, 301, PAGES]
        .windows(2)
        .zip([FrameUse::Movable, FrameUse::Free].into_iter().cycle())
        .map(|(ends, used_for)| run(ends[0], ends[1], used_for))
        .collect();
    let (report, agreement, _) = replay(&fitted, script());
    assert!(report.exact.is_none() && report.summary().contains("a fit"), "{}", report.summary());
    assert!(agreement.first_difference.is_some());
}

#[test]
fn changes_during_the_reading_are_reconciled() {
    let mut start = start(&[100, 7, 300], &[50, 40]);
    // Page 100 moved to the CPU's list after it was read, then it was allocated; page 60 was freed.
    let ExactPart::Taken(state) = &mut start.exact else { panic!("a state") };
    state.zones[0].cpus[0].lists[0].pfns.insert(0, 100);
    let script = Script::default().free(4000, 0).push(EventKind::KswapdSleep).wait_ns(10_000);
    let script = script
        .alloc(100, 0)
        .free(60, 0)
        .push(EventKind::KswapdSleep)
        .wait_ns(30_000)
        .alloc(60, 0)
        .alloc(50, 0)
        .alloc(40, 0)
        .alloc(7, 0);
    let (report, agreement, _) = replay(&start, script);
    let exact = report.exact.expect("an exact start");
    assert_eq!((exact.events_meanwhile, exact.changed_frames, exact.events_before), (2, 3, 4));
    assert_eq!((exact.free_pages, exact.listed_pages), (2, 3));
    assert_eq!(
        agreement.first_difference, None,
        "page 60 is the last on the CPU's list, as if freed before the others"
    );
}

#[test]
fn pages_allocated_without_an_event_are_found() {
    let start = start(&[100, 7], &[50, 40, 30, 20]);
    let script = behind().alloc(50, 0).alloc(20, 0).free(40, 0).free(30, 0).alloc(30, 0);
    let (_, agreement, followed) = replay(&start, script);
    assert_eq!((agreement.first_difference, followed.untraced_allocs), (None, 2));
    assert_eq!((followed.unknown_frees, followed.double_allocs), (0, 0));
}

#[test]
fn late_events_are_found() {
    let start = start(&[100, 7], &[50, 40, 30]);
    let mut script = behind().alloc(40, 0).alloc(50, 0).alloc(30, 0);
    script.events[2].pid = 7;
    let (_, agreement, followed) = replay(&start, script);
    assert_eq!((&agreement.first_difference, followed.allocs_traced_late), (&None, 1));
    assert_eq!(agreement.total().allocs, 3);
    // Events of one task are in order.
    let script = behind().alloc(40, 0).alloc(50, 0);
    assert!(replay(&start, script).1.first_difference.is_some());
}

#[test]
fn lists_that_changed_during_the_reading_are_not_used() {
    let mut start = start(&[100], &[]);
    let ExactPart::Taken(state) = &mut start.exact else { panic!("a state") };
    state.torn_lists = 2;
    let (report, _, _) = replay(&start, behind());
    assert!(
        report.exact.is_none() && report.summary().contains("2 lists changed during each"),
        "{}",
        report.summary()
    );
    start.exact = ExactPart::Missing { missing: "no BPF here".to_owned() };
    assert!(replay(&start, behind()).0.summary().ends_with("no BPF here"));
}

/// Plants an error in a zone.
type Plant = fn(&mut ExactZone);

#[test]
fn an_impossible_state_is_not_used() {
    let plants: [(Plant, &str); 7] = [
        (|zone| zone.lists[0].pfns[0] = PAGES, "frame"),
        (|zone| zone.lists[0].pfns[0] = u64::MAX, "frame"),
        (|zone| zone.lists[0].order = 3, "order 3 at frame 100"),
        (|zone| zone.lists[0].order = 200, "a list of order 200"),
        (|zone| zone.lists[0].migratetype = 99, "type 99"),
        (|zone| zone.cpus[0].cpu = 70_000, "lists of CPU 70000"),
        (|zone| zone.cpus[0].cpu = 9, "lists of CPU 9"),
    ];
    for (plant, words) in plants {
        let mut start = start(&[100, 7, 300], &[50, 40]);
        let ExactPart::Taken(state) = &mut start.exact else { panic!("a state") };
        plant(&mut state.zones[0]);
        let (report, ..) = replay(&start, behind().alloc(50, 0));
        assert!(report.exact.is_none() && report.summary().contains(words), "{words}: {}", report.summary());
    }
}

#[test]
fn zones_with_equal_names_prevent_an_exact_start() {
    let mut start = start(&[100, 7, 300], &[50, 40]);
    let second = ZoneSnapshot { start_pfn: PAGES, ..start.zones[0].clone() };
    start.zones.push(second);
    let (report, ..) = replay(&start, behind().alloc(50, 0));
    assert!(
        report.exact.is_none() && report.summary().contains("several zones Normal"),
        "{}",
        report.summary()
    );
}

#[test]
fn impossible_numbers_do_no_harm() {
    let mut start = start(&[100, 7, 300, 7], &[50, 40, 100]);
    let ExactPart::Taken(state) = &mut start.exact else { panic!("a state") };
    let zone = &mut state.zones[0];
    (zone.boost, zone.reserved_highatomic, zone.flags) = (u64::MAX, u64::MAX, u64::MAX);
    zone.pageblocks = vec![PageblockRun { pageblocks: u64::MAX, migratetype: Some(200), skipped: true }; 3];
    let cpu = &mut zone.cpus[0];
    (cpu.count, cpu.high, cpu.high_min, cpu.high_max, cpu.batch) =
        (u64::MAX, u64::MAX, u64::MAX, 0, u64::MAX);
    (cpu.alloc_factor, cpu.free_factor, cpu.free_count, cpu.flags) = (u64::MAX, u64::MAX, u64::MAX, u64::MAX);
    let (report, ..) = replay(&start, behind().alloc(50, 0).free(50, 0).alloc(100, 0));
    assert!(report.exact.is_some(), "{}", report.summary());
}
