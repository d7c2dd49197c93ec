//! Lost events, and the pages that they make uncertain.

use crate::common::{PAGES, Script, machine, replay};
use freehold::Era;
use freehold_lab::{Followed, Gap, Gaps, RecordedMachine, Trace};
use freehold_trace::{Ending, EventKind, Origin};

fn gaps(script: &Script, lost_by_cpu: &[u64]) -> Gaps {
    let (origin, start) = (Origin::default(), machine());
    let ending = Ending { lost_by_cpu: lost_by_cpu.to_vec(), ..Ending::default() };
    let events = script.into();
    let trace = Trace { origin: &origin, start: &start, events: &events, ending: Some(&ending) };
    Gaps::new(&RecordedMachine::new(&start, &events).expect("a machine"), trace)
}

fn lost(script: Script, cpu: u16, count: u64) -> Script {
    let mut script = script.push(EventKind::Lost { count });
    if let Some(event) = script.events.last_mut() {
        event.cpu = cpu;
    }
    script
}

#[test]
fn a_trace_without_losses_has_no_gaps() {
    let found = gaps(&Script::default().alloc(16, 0).free(16, 0), &[0, 0]);
    assert_eq!((found.cpus.len(), found.places.len(), found.uncertain_pages), (0, 0, 0));
    assert!(found.sentences(&Followed::default()).is_empty());
}

#[test]
fn a_gap_lies_between_the_events_of_its_cpu() {
    let script = lost(Script::default().alloc(16, 0).alloc(17, 0), 0, 3).free(16, 0);
    let found = gaps(&lost(script, 1, 0), &[3, 500]);
    let gap = |cpu, begin_ns, end_ns, events| Gap { cpu, begin_ns, end_ns, events };
    assert_eq!(found.places, [gap(0, 2000, 3000, Some(3)), gap(1, 1000, 5000, None)]);
    let [first, second] = &found.cpus[..] else { panic!("{:?}", found.cpus) };
    assert_eq!((first.events, first.is_exact, first.uncertain_pages), (3, true, 3 * 1024));
    assert_eq!((second.events, second.is_exact), (500, true), "the kernel's count at the end");
    assert_eq!(second.uncertain_pages, PAGES, "no event named a page since");
    assert_eq!(found.uncertain_pages, PAGES);
    let [one, other, noticed] = &found.sentences(&Followed::default())[..] else { panic!("{found:?}") };
    assert!(
        one.contains("CPU 0 lost 3 events in 1 place between 0.000 s and 0.000 s: about 3 pages"),
        "{one}"
    );
    assert!(other.starts_with("CPU 1 lost 500 events"), "{other}");
    assert!(noticed.contains("0 frees of blocks without an allocation"), "{noticed}");
}

#[test]
fn pages_named_after_a_gap_are_certain() {
    let mut script = lost(Script::default(), 0, 9);
    for block in 0..3 {
        script = script.alloc(block * 1024, 10);
    }
    let found = gaps(&script.alloc(3072, 0), &[9]);
    assert_eq!(found.uncertain_pages, 1023, "all other frames have been allocated since");
    assert_eq!(found.cpus[0].likely_pages, 1023);
}

#[test]
fn losses_without_a_place_or_a_count_are_reported() {
    let script = Script::default().alloc(16, 0);
    let found = gaps(&script, &[0, 0, 4]);
    assert_eq!((found.cpus[0].cpu, found.cpus[0].places, found.cpus[0].begin_ns), (2, 1, 1000));
    let found = gaps(&lost(script, 0, 0), &[]);
    assert_eq!((found.cpus[0].is_exact, found.cpus[0].uncertain_pages), (false, PAGES));
    assert!(found.sentences(&Followed::default())[0].contains("at least 0 events"));
}

#[test]
fn inconsistent_events_after_a_gap_are_counted() {
    let before = Script::default().alloc(16, 0).alloc(16, 0).free(99, 0).free(99, 0);
    let after = lost(before, 0, 5).alloc(16, 0).free(99, 0).free(99, 0);
    let followed = replay(&machine(), &after, &Era::Linux6_12.into()).followed;
    assert!(followed.double_allocs > followed.double_allocs_since_loss);
    assert_eq!(followed.double_allocs_since_loss, 1);
    assert_eq!(followed.unknown_frees_since_loss, 2);
}
