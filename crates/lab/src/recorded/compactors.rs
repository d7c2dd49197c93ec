//! The tasks of the machine that compact, and which of them are kcompactd.

use std::collections::{HashMap, HashSet};

use freehold_trace::{EventKind, EventLog};

use crate::trace::Trace;

/// The tasks that are compacting now.
#[derive(Debug, Default)]
pub(crate) struct Compacting(Vec<i32>);

impl Compacting {
    pub(crate) fn begin(&mut self, pid: i32) {
        if !self.0.contains(&pid) {
            self.0.push(pid);
        }
    }

    pub(crate) fn end(&mut self, pid: i32) {
        self.0.retain(|&running| running != pid);
    }

    /// Returns the number of compacting tasks.
    pub(crate) fn tasks(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the task is compacting. Its frees are the old places of pages that it moved.
    #[inline]
    pub(crate) fn contains(&self, pid: i32) -> bool {
        !self.0.is_empty() && self.0.contains(&pid)
    }
}

/// Returns the tasks that are a kcompactd; `None` if the trace has no events of compaction.
pub(crate) fn kcompactd_tasks(trace: Trace<'_>) -> Option<HashSet<i32>> {
    let recorded = trace.origin.events.iter().any(|event| event == "compaction:mm_compaction_begin");
    let compacts = || trace.events.iter().any(|event| event.kind == EventKind::CompactionBegin);
    (recorded || compacts()).then(|| daemons(trace.events))
}

/// The counts of a task that compacts.
#[derive(Default)]
struct Compactor {
    is_compacting: bool,
    begins: u32,
    other_allocations: u32,
}

/// Returns the tasks that compact more often than they request pages outside of compaction: one kcompactd for each
/// node. Requests of interrupts count for the interrupted task, mostly while it compacts.
fn daemons(events: &EventLog) -> HashSet<i32> {
    let mut compactors: HashMap<i32, Compactor> = HashMap::new();
    for event in events.iter().filter(|event| event.kind == EventKind::CompactionBegin) {
        compactors.entry(event.pid).or_default();
    }
    if compactors.is_empty() {
        return HashSet::new();
    }
    for event in events.iter() {
        if matches!(event.kind, EventKind::Lost { .. }) {
            // The event that ends a compaction may be lost.
            for compactor in compactors.values_mut() {
                compactor.is_compacting = false;
            }
        }
        let Some(compactor) = compactors.get_mut(&event.pid) else { continue };
        match event.kind {
            EventKind::CompactionBegin => {
                compactor.is_compacting = true;
                compactor.begins += 1;
            }
            EventKind::CompactionEnd => compactor.is_compacting = false,
            EventKind::Alloc { .. } => compactor.other_allocations += u32::from(!compactor.is_compacting),
            _ => {}
        }
    }
    let is_daemon = |task: &Compactor| task.other_allocations < task.begins;
    compactors.into_iter().filter(|(_, task)| is_daemon(task)).map(|(pid, _)| pid).collect()
}

#[cfg(test)]
mod tests {
    use freehold::{GfpFlags, Order};
    use freehold_trace::Event;

    use super::*;

    #[test]
    fn a_task_that_only_compacts_is_a_daemon() {
        let alloc = EventKind::Alloc {
            pfn: None,
            order: Order::ZERO,
            gfp: GfpFlags::KERNEL,
            migratetype: freehold::Migratetype::Unmovable,
        };
        let (begin, end) = (EventKind::CompactionBegin, EventKind::CompactionEnd);
        // Task 1 is interrupted while it compacts. Task 2 requests pages and compacts for them. Task 3 never compacts.
        // Task 4 requests pages after the event that ends its compaction was lost.
        let lost = EventKind::Lost { count: 0 };
        let events = [
            (1, begin),
            (1, alloc),
            (2, begin),
            (1, end),
            (2, end),
            (2, alloc),
            (3, alloc),
            (4, begin),
            (0, lost),
            (4, alloc),
        ];
        let event = |(time_ns, (pid, kind))| Event { time_ns, cpu: 0, pid, kind };
        let log: EventLog = (0..).zip(events).map(event).collect();
        assert_eq!(daemons(&log), HashSet::from([1]));
        let calm: EventLog = (0..).zip([(3, alloc)]).map(event).collect();
        assert!(daemons(&calm).is_empty());
    }
}
