//! The times at which the machine's kswapd reclaimed.

use std::ops::Range;

use freehold_trace::{EventKind, EventLog};

use crate::trace::Trace;

/// Returns the ranges of events during which kswapd reclaimed, as event numbers in ascending order. `None` if the trace
/// lacks these events, or if there are several nodes: the events name a task, not a node.
///
/// No event marks the end of reclaim. It ends at the last event of the task before the task wakes again or sleeps.
pub(crate) fn kswapd_reclaims(trace: Trace<'_>, nodes: usize) -> Option<Vec<Range<usize>>> {
    let is_recorded = trace.origin.events.iter().any(|event| event == "vmscan:mm_vmscan_kswapd_wake");
    (is_recorded && nodes == 1).then(|| reclaims(trace.events))
}

fn reclaims(events: &EventLog) -> Vec<Range<usize>> {
    let mut reclaims: Vec<Range<usize>> = Vec::new();
    let mut awake = None;
    for (number, event) in events.iter().enumerate() {
        match event.kind {
            EventKind::KswapdWake { .. } => {
                awake = Some(event.pid);
                reclaims.push(number..number + 1);
            }
            EventKind::KswapdSleep | EventKind::Lost { .. } => awake = None,
            _ if awake == Some(event.pid) => {
                if let Some(last) = reclaims.last_mut() {
                    last.end = number + 1;
                }
            }
            _ => {}
        }
    }
    reclaims
}

#[cfg(test)]
mod tests {
    use freehold::{Order, Pfn};
    use freehold_trace::Event;

    use super::*;

    #[test]
    fn kswapd_reclaims_until_the_last_event_of_its_task() {
        let free = EventKind::Free { pfn: Pfn(1), order: Order::ZERO };
        let wake = EventKind::KswapdWake { order: Order::ZERO };
        let events = [
            (7, free),
            (7, wake),
            (1, free),
            (7, free),
            (1, free),
            (7, wake),
            (7, EventKind::KswapdSleep),
            (7, free),
            (7, wake),
            (7, EventKind::Lost { count: 9 }),
            (7, free),
        ];
        let event = |(time_ns, (pid, kind))| Event { time_ns, cpu: 0, pid, kind };
        let log: EventLog = (0..).zip(events).map(event).collect();
        assert_eq!(reclaims(&log), [1..4, 5..6, 8..9], "not during sleep, and not after lost events");
    }
}
