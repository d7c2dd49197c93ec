//! Waits by stack, in the form that drawers of flame graphs read.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::answer::StackNames;
use super::fold::CallerFold;

impl CallerFold {
    /// Returns a line for each task and stack: the task's name and its functions, the outermost first, with semicolons between,
    /// and the microseconds that its requests waited. If none waited, the number is that of requests.
    pub fn folded(&self, stacks: &StackNames) -> String {
        let has_waits = self.sums.values().any(|sums| sums.work.wait_ns() > 0);
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for ((stack, task), sums) in &self.sums {
            let task = match task {
                Some(task) => self.tasks[*task].process.as_deref().unwrap_or("ended tasks"),
                None => "interrupts",
            };
            let functions = stack.and_then(|stack| stacks.get(&stack)).map_or(&[][..], Vec::as_slice);
            let names = [task].into_iter().chain(functions.iter().rev().map(String::as_str));
            let line = names.map(|name| name.replace(';', ",")).collect::<Vec<_>>().join(";");
            *lines.entry(line).or_default() +=
                if has_waits { sums.work.wait_ns() / 1000 } else { sums.requests };
        }
        let mut text = String::new();
        for (line, number) in lines.into_iter().filter(|(_, number)| *number > 0) {
            let _ = writeln!(text, "{line} {number}");
        }
        text
    }
}
