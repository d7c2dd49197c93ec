//! Tasks that reclaimed for a request of their own.

use freehold_trace::{Event, EventKind, PageWork};

/// The machine's tasks that have reclaimed, and whose requests are not answered yet.
#[derive(Debug, Default)]
pub(super) struct Reclaimed(Vec<i32>);

impl Reclaimed {
    /// Notes an event. Returns true if its task empties the lists of all CPUs: it reclaimed and still found no page, which
    /// shows by a block that leaves these lists before the task's request is answered.
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

    /// Forgets a task. Returns true if it had reclaimed.
    fn take(&mut self, pid: i32) -> bool {
        let before = self.0.len();
        if before > 0 {
            self.0.retain(|&reclaimed| reclaimed != pid);
        }
        self.0.len() < before
    }
}
