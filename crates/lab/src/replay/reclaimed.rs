//! Tasks in direct reclaim.

use freehold_trace::{Event, EventKind, PageWork};

/// The tasks of the machine that reclaimed directly and whose requests have no answer yet.
#[derive(Debug, Default)]
pub(super) struct Reclaimed(Vec<i32>);

impl Reclaimed {
    /// Processes an event. Returns true if its task drains all per-CPU lists: it reclaimed without success. The sign
    /// is a drained block before the answer to the task's request.
    #[inline]
    pub(super) fn drains(&mut self, event: &Event) -> bool {
        match event.kind {
            EventKind::Work { work: PageWork::DirectReclaim, .. } if !self.0.contains(&event.pid) => {
                self.0.push(event.pid);
                false
            }
            EventKind::PcpuDrain { .. } => self.take(event.pid),
            EventKind::Alloc { .. } => {
                self.take(event.pid);
                false
            }
            _ => false,
        }
    }

    /// Removes a task. Returns true if it had reclaimed.
    fn take(&mut self, pid: i32) -> bool {
        let before = self.0.len();
        if before > 0 {
            self.0.retain(|&reclaimed| reclaimed != pid);
        }
        self.0.len() < before
    }
}
