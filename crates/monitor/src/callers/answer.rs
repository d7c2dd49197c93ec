//! Tables of callers.

use std::collections::BTreeMap;

use freehold_linux::blame::{Symbols, who_wants};
use freehold_linux::callers::{CallerLosses, CallerStack};
use serde::Serialize;

use super::fold::CallerFold;
use super::sums::Sums;

/// What stands for the code of a request without a stack.
const NO_STACK: &str = "no stack";

/// The functions of stacks, innermost first.
pub type StackNames = BTreeMap<CallerStack, Vec<String>>;

/// The requests of one code, process or cgroup.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CallerRow {
    /// The function that wants the memory and its callers, the name of the process, or the path of the cgroup.
    pub name: String,
    /// The process with the most requests.
    pub pid: Option<i32>,
    /// The number of processes.
    pub processes: u64,
    /// Its requests.
    pub requests: u64,
    /// Those that failed.
    pub failed: u64,
    /// The orders that it requested.
    pub orders: Vec<u8>,
    /// The most frequent flags.
    pub gfp: String,
    /// Requests that waited for direct compaction or direct reclaim.
    pub waited: u64,
    /// The time in direct compaction.
    pub compaction_ns: u64,
    /// The time in direct reclaim.
    pub reclaim_ns: u64,
    /// The median wait of those that waited.
    pub wait_median_ns: u64,
    /// The 99th percentile of their waits.
    pub wait_p99_ns: u64,
    /// Wakes of kswapd.
    pub kswapd_wakes: u64,
    /// Wakes of kcompactd.
    pub kcompactd_wakes: u64,
    /// Blocks from free lists of another migratetype.
    pub fallbacks: u64,
    /// Pageblocks that changed their migratetype for it.
    pub claims: u64,
}

/// Who called for large blocks.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Callers {
    /// The smallest order that was watched.
    pub order: u8,
    /// Bytes of a block of this order.
    pub block_bytes: u64,
    /// How long.
    pub duration_ns: u64,
    /// The sum over all callers.
    pub all: CallerRow,
    /// Rows by code, the longest wait first, then the most requests.
    pub by_code: Vec<CallerRow>,
    /// Rows by the process's name.
    pub by_process: Vec<CallerRow>,
    /// Rows by cgroup.
    pub by_cgroup: Vec<CallerRow>,
    /// Events that were lost.
    pub lost: u64,
    /// True if the functions have no names (`kernel.kptr_restrict`).
    pub without_symbols: bool,
    /// Requests without a stack.
    pub without_stack: u64,
    /// Trace events that the kernel lacks.
    pub missing_events: Vec<String>,
}

impl Callers {
    /// Makes the tables of what `fold` has summed up in `duration_ns`. `stacks` has the functions of every stack.
    pub fn of(
        fold: &CallerFold,
        stacks: &StackNames,
        losses: CallerLosses,
        (order, block_bytes, duration_ns): (u8, u64, u64),
    ) -> Self {
        let mut all = Group::default();
        let [mut code, mut process, mut cgroup] = [const { BTreeMap::<String, Group>::new() }; 3];
        for ((stack, task), sums) in &fold.sums {
            let task = task.map(|task| &fold.tasks[task]);
            let name = |known: Option<Option<&String>>, unknown: &str| match known {
                Some(name) => name.cloned().unwrap_or_else(|| unknown.to_owned()),
                None => "interrupts".to_owned(),
            };
            let pid = task.and_then(|task| task.pid);
            all.add(sums, pid);
            code.entry(code_name(*stack, stacks)).or_default().add(sums, pid);
            let comm = name(task.map(|task| task.process.as_ref()), "ended tasks");
            process.entry(comm).or_default().add(sums, pid);
            let group = name(task.map(|task| task.cgroup.as_ref()), "unknown");
            cgroup.entry(group).or_default().add(sums, pid);
        }
        Self {
            order,
            block_bytes,
            duration_ns,
            all: row("all".to_owned(), &all),
            by_code: rows(code),
            by_process: rows(process),
            by_cgroup: rows(cgroup),
            lost: losses.events,
            without_symbols: false,
            without_stack: losses.without_stack,
            missing_events: losses.missing_events,
        }
    }
}

impl CallerFold {
    /// Returns the functions of every stack, with names from `symbols`, and without those of the tracepoint itself. `addresses` returns
    /// the addresses of a stack, innermost first.
    pub fn stack_names<'s>(
        &self,
        symbols: &Symbols,
        addresses: impl Fn(CallerStack) -> &'s [u64],
    ) -> StackNames {
        let stacks = self.sums.keys().filter_map(|(stack, _)| *stack);
        let named = |stack| {
            let names = addresses(stack).iter().map(|&address| symbols.name(address));
            names.skip_while(|name| name.starts_with("trace_event_")).collect()
        };
        stacks.map(|stack| (stack, named(stack))).collect()
    }
}

/// Returns the function that wants the memory, and two callers.
fn code_name(stack: Option<CallerStack>, stacks: &StackNames) -> String {
    let functions = stack.and_then(|stack| stacks.get(&stack)).map_or(&[][..], Vec::as_slice);
    let known = &functions[who_wants(functions)..];
    if known.is_empty() { NO_STACK.to_owned() } else { known[..known.len().min(3)].join(" < ") }
}

/// The sums of a row, and the requests of each process.
#[derive(Default)]
struct Group {
    sums: Sums,
    processes: BTreeMap<i32, u64>,
}

impl Group {
    fn add(&mut self, sums: &Sums, pid: Option<i32>) {
        self.sums.merge(sums);
        if let Some(pid) = pid {
            *self.processes.entry(pid).or_default() += sums.requests;
        }
    }
}

fn rows(groups: BTreeMap<String, Group>) -> Vec<CallerRow> {
    let mut rows: Vec<_> = groups.into_iter().map(|(name, group)| row(name, &group)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.compaction_ns + row.reclaim_ns, row.failed, row.requests)));
    rows
}

fn row(name: String, Group { sums, processes }: &Group) -> CallerRow {
    CallerRow {
        name,
        pid: processes.iter().max_by_key(|(_, requests)| **requests).map(|(pid, _)| *pid),
        processes: processes.len() as u64,
        requests: sums.requests,
        failed: sums.failed,
        orders: (0..64).filter(|order| sums.orders >> order & 1 == 1).collect(),
        gfp: sums.usual_flags().named().map(|(name, _)| name).collect::<Vec<_>>().join("|"),
        waited: sums.waits.count(),
        compaction_ns: sums.work.compaction_ns,
        reclaim_ns: sums.work.reclaim_ns,
        wait_median_ns: sums.waits.percentile(50),
        wait_p99_ns: sums.waits.percentile(99),
        kswapd_wakes: sums.work.kswapd_wakes,
        kcompactd_wakes: sums.work.kcompactd_wakes,
        fallbacks: sums.work.fallbacks,
        claims: sums.work.claims,
    }
}

#[cfg(test)]
mod tests {
    use freehold::GfpFlags;
    use freehold_linux::callers::{CallerBy, CallerEvent, CallerKind, TaskOf};
    use freehold_measure::grouped;

    use super::*;

    /// Adds events: time in µs, task, and what it did.
    fn callers(events: &[(u64, Option<i32>, CallerKind)]) -> Callers {
        let mut fold = CallerFold::default();
        let mut name = |pid| TaskOf {
            process: (pid < 100).then(|| format!("task {}", pid % 10)),
            pid: Some(pid),
            cgroup: (pid == 1).then(|| "/a".to_owned()),
        };
        for &(us, pid, kind) in events {
            let by = pid.map_or(CallerBy::Interrupt(0), CallerBy::Task);
            fold.add_of(&CallerEvent { time_ns: us * 1000, by, kind }, &mut name);
        }
        Callers::of(&fold, &StackNames::new(), CallerLosses::default(), (3, 32 << 10, 2_000_000_000))
    }

    fn request(order: u8, failed: bool) -> CallerKind {
        CallerKind::Request { order, gfp: GfpFlags::KERNEL | GfpFlags::COMP, failed, stack: None }
    }

    fn names(rows: &[CallerRow]) -> Vec<(&str, u64)> {
        rows.iter().map(|row| (row.name.as_str(), row.requests)).collect()
    }

    #[test]
    fn a_task_waits_for_its_own_request() {
        use CallerKind::{Compaction, CompactionBegin, CompactionEnd, ReclaimBegin, ReclaimEnd};
        let callers = callers(&[
            (1, Some(1), Compaction),
            (2, Some(1), CompactionBegin),
            (3, Some(2), ReclaimBegin),
            (4, None, request(3, false)),
            (12, Some(1), CompactionEnd),
            (13, Some(2), ReclaimEnd),
            (14, Some(1), CompactionBegin),
            (19, Some(1), CompactionEnd),
            (20, Some(1), request(9, true)),
            (21, Some(2), request(4, false)),
            (30, Some(2), request(4, false)),
        ]);
        let row = |name: &str| callers.by_process.iter().find(|row| row.name == name).unwrap();
        let waits = |name| (row(name).compaction_ns / 1000, row(name).reclaim_ns / 1000, row(name).waited);
        assert_eq!(["task 1", "task 2", "interrupts"].map(waits), [(15, 0, 1), (0, 10, 1), (0, 0, 0)]);
        assert_eq!((row("task 1").failed, row("task 1").orders.as_slice()), (1, &[9][..]));
        assert_eq!((row("task 2").requests, row("task 2").waited), (2, 1));
        assert_eq!((callers.all.requests, callers.all.waited, callers.all.wait_ns()), (4, 2, 25_000));
        assert_eq!(names(&callers.by_process), [("task 1", 1), ("task 2", 2), ("interrupts", 1)]);
    }

    #[test]
    fn work_for_smaller_requests_counts_for_nobody() {
        let callers = callers(&[
            (1, Some(1), CallerKind::CompactionBegin),
            (9, Some(1), CallerKind::CompactionEnd),
            (10, Some(1), CallerKind::ReclaimEnd),
            (11, Some(1), CallerKind::Compaction),
            (12, Some(1), request(3, false)),
            (13, Some(1), CallerKind::CompactionBegin),
            (90, Some(1), CallerKind::CompactionEnd),
            (99, Some(1), request(3, false)),
        ]);
        assert_eq!((callers.all.requests, callers.all.waited, callers.all.wait_ns()), (2, 0, 0));
    }

    #[test]
    fn what_was_lost_is_no_wait() {
        use CallerKind::{Compaction, CompactionBegin, Lost, ReclaimBegin, ReclaimEnd};
        let callers = callers(&[
            (1, Some(1), ReclaimBegin),
            (2, Some(2), Compaction),
            (3, None, Lost),
            (900, Some(1), ReclaimEnd),
            (901, Some(1), request(3, false)),
            (902, Some(2), CompactionBegin),
            (999, Some(2), CallerKind::CompactionEnd),
            (999, Some(2), request(3, false)),
        ]);
        assert_eq!((callers.all.requests, callers.all.wait_ns()), (2, 0));
    }

    #[test]
    fn names_are_harmless_and_processes_counted() {
        let mut fold = CallerFold::default();
        for pid in [7, 8, 8] {
            let name = "\u{1b}[31mred\nx".to_owned();
            let mut task = |_| TaskOf { process: Some(name.clone()), pid: Some(pid), cgroup: None };
            let event = CallerEvent { time_ns: 1, by: CallerBy::Task(pid + 100), kind: request(3, false) };
            fold.add_of(&event, &mut task);
        }
        let folded = fold.folded(&StackNames::new());
        assert!(
            folded.lines().count() == 1 && folded.ends_with(" 3\n") && !folded.contains('\u{1b}'),
            "{folded}"
        );
        let callers = Callers::of(&fold, &StackNames::new(), CallerLosses::default(), (3, 32 << 10, 1));
        let row = &callers.by_process[0];
        assert_eq!((row.pid, row.processes, row.requests), (Some(8), 2, 3));
        let text = callers.text(9);
        assert!(text.contains("(2 processes, the most by 8)"), "{text}");
    }

    #[test]
    fn rows_are_summed_by_name() {
        let fallback = |claimed| CallerKind::Fallback { claimed };
        let callers = callers(&[
            (1, Some(1), fallback(false)),
            (1, Some(1), fallback(true)),
            (1, Some(1), CallerKind::KswapdWake),
            (2, Some(1), request(3, false)),
            (3, Some(11), CallerKind::KcompactdWake),
            (4, Some(11), request(5, false)),
            (5, Some(100), request(3, false)),
        ]);
        assert_eq!(names(&callers.by_process), [("task 1", 2), ("ended tasks", 1)]);
        assert_eq!(names(&callers.by_cgroup), [("unknown", 2), ("/a", 1)]);
        let row = &callers.by_process[0];
        assert_eq!((row.fallbacks, row.claims, row.kswapd_wakes, row.kcompactd_wakes), (2, 1, 1, 1));
        assert_eq!((row.orders.as_slice(), row.gfp.as_str()), (&[3, 5][..], "GFP_KERNEL|__GFP_COMP"));
        assert_eq!(names(&callers.by_code), [(NO_STACK, 3)]);
    }

    #[test]
    fn percentiles_are_of_the_requests_that_waited() {
        let mut events = Vec::new();
        for at in 1..=100 {
            events.push((1000 * at, Some(1), CallerKind::ReclaimBegin));
            events.push((1000 * at + at, Some(1), CallerKind::ReclaimEnd));
            events.push((1000 * at + 500, Some(1), request(3, false)));
            events.push((1000 * at + 600, Some(1), request(3, false)));
        }
        let callers = callers(&events);
        assert_eq!((callers.all.requests, callers.all.waited), (200, 100));
        let near = |ns: u64, us: f64| ((ns as f64 / 1e3) / us - 1.0).abs() < 0.04;
        let row = &callers.all;
        assert!(near(row.wait_median_ns, 50.0) && near(row.wait_p99_ns, 99.0), "{row:?}");
    }

    #[test]
    fn the_text_begins_with_the_answer() {
        let none = callers(&[]);
        assert_eq!(none.text(9), "No requests of order 3 (32 KiB) and above in 2.0 s.\n");
        let quiet = callers(&[(1, Some(1), request(3, false))]);
        assert_eq!(
            quiet.text(9).lines().take(4).collect::<Vec<_>>(),
            [
                "1 request of order 3 (32 KiB) and above in 2.0 s; none failed, none waited.",
                "",
                "    requests  orders  code",
                "           1  3       no stack (GFP_KERNEL|__GFP_COMP)",
            ]
        );
        let waits = callers(&[
            (1, Some(1), CallerKind::ReclaimBegin),
            (9, Some(1), CallerKind::ReclaimEnd),
            (9, Some(1), request(3, true)),
            (9, Some(2), request(4, true)),
        ]);
        let text = waits.text(1);
        assert!(text.starts_with("2 requests of order 3 (32 KiB) and above in 2.0 s; 2 failed, 1 waited, 8.0 µs in direct reclaim.\n"), "{text}");
        assert!(text.contains("   8.1 µs  3       task 1 (1)\nand 1 more\n"), "{text}");
    }

    #[test]
    fn losses_are_noted() {
        let mut callers = callers(&[(1, Some(1), request(3, false))]);
        callers.lost = 1200;
        callers.missing_events = vec!["compaction:mm_compaction_begin".to_owned()];
        assert!(!callers.text(9).contains("stacks"), "{}", callers.text(9));
        callers.without_stack = 1;
        let text = callers.text(9);
        assert!(text.contains("Note: this kernel tells no stacks"), "{text}");
        assert!(text.contains(&format!("{} events were lost", grouped(1200))), "{text}");
        assert!(text.contains("not have the trace events compaction:mm_compaction_begin"), "{text}");
    }
}
