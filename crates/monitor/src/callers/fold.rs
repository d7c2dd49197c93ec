//! Assigns what tasks did to the requests that they did it for.

use std::collections::HashMap;

use freehold_linux::callers::{CallerBy, CallerEvent, CallerKind, CallerStack, TaskNames, TaskOf};
use freehold_measure::foreign;

use super::sums::{Sums, TaskWork};

/// The most processes that have rows of their own; later ones are summed up by name and cgroup.
const MOST_PROCESSES: usize = 10_000;

/// Sums of requests by stack and task.
#[derive(Debug, Default)]
pub struct CallerFold {
    /// What each task has done since its last request.
    working: HashMap<CallerBy, TaskWork>,
    pub(super) tasks: Vec<TaskOf>,
    numbers: HashMap<TaskOf, usize>,
    /// By stack and number in `tasks`; none of the latter is interrupts.
    pub(super) sums: HashMap<(Option<CallerStack>, Option<usize>), Sums>,
}

impl CallerFold {
    /// Adds an event. The events of a task must come in the order of time. `names` are those of tasks.
    pub fn add(&mut self, event: &CallerEvent, names: &mut TaskNames) {
        self.add_of(event, &mut |pid| names.of(pid).clone());
    }

    pub(super) fn add_of(&mut self, event: &CallerEvent, name: &mut dyn FnMut(i32) -> TaskOf) {
        let (order, gfp, failed, stack) = match event.kind {
            CallerKind::Request { order, gfp, failed, stack } => (order, gfp, failed, stack),
            CallerKind::Lost => return self.working.clear(),
            other => {
                let work = self.working.entry(event.by).or_default();
                work.add(event.time_ns, other);
                if work.is_idle() {
                    self.working.remove(&event.by);
                }
                return;
            }
        };
        let work = self.working.remove(&event.by).unwrap_or_default().work;
        let task = match event.by {
            CallerBy::Task(pid) => Some(self.number(name(pid))),
            CallerBy::Interrupt(_) => None,
        };
        self.sums.entry((stack, task)).or_default().add(order, gfp, failed, work);
    }

    fn number(&mut self, mut task: TaskOf) -> usize {
        // A task chooses its own name.
        task.process = task.process.map(|name| foreign::one_line(&name).into_owned());
        if self.tasks.len() >= MOST_PROCESSES {
            task.pid = None;
        }
        let tasks = &mut self.tasks;
        *self.numbers.entry(task).or_insert_with_key(|task| {
            tasks.push(task.clone());
            tasks.len() - 1
        })
    }
}
