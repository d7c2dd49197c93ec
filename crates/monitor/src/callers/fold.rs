//! Assigns what tasks did to the requests that they did it for.

use std::collections::HashMap;

use freehold_linux::callers::{CallerEvent, CallerKind, CallerStack, TaskNames, TaskOf};

use super::sums::{Sums, TaskWork};

/// Sums of requests by stack and task.
#[derive(Debug, Default)]
pub struct CallerFold {
    /// What each task has done since its last request; `None` is interrupts.
    working: HashMap<Option<i32>, TaskWork>,
    pub(super) tasks: Vec<TaskOf>,
    numbers: HashMap<TaskOf, usize>,
    /// By stack and number in `tasks`; none of the latter is interrupts.
    pub(super) sums: HashMap<(Option<CallerStack>, Option<usize>), Sums>,
}

impl CallerFold {
    /// Adds an event. The events of a task must come in the order of time.
    ///
    /// `names` are those of tasks; a task is looked up when it first requests a block.
    pub fn add(&mut self, event: &CallerEvent, names: &mut TaskNames) {
        self.add_of(event, &mut |pid| names.of(pid).clone());
    }

    pub(super) fn add_of(&mut self, event: &CallerEvent, name: &mut dyn FnMut(i32) -> TaskOf) {
        let CallerKind::Request { order, gfp, failed, stack } = event.kind else {
            return self.working.entry(event.pid).or_default().add(event.time_ns, event.kind);
        };
        let work = self.working.remove(&event.pid).unwrap_or_default().work;
        let task = event.pid.map(|pid| self.number(name(pid)));
        self.sums.entry((stack, task)).or_default().add(order, gfp, failed, work);
    }

    fn number(&mut self, task: TaskOf) -> usize {
        let tasks = &mut self.tasks;
        *self.numbers.entry(task).or_insert_with_key(|task| {
            tasks.push(task.clone());
            tasks.len() - 1
        })
    }
}
