//! The table of the kinds of reports in a log.

use super::wrap::cut;
use crate::report::Seen;

/// Returns a line for each kind, newest first, or nothing for a single report.
pub(super) fn table(seen: &[Seen]) -> Vec<String> {
    if seen.iter().map(|seen| seen.count).sum::<u64>() < 2 {
        return Vec::new();
    }
    let line = |seen: &Seen| {
        let times = match (&seen.first_time, &seen.last_time) {
            (Some(first), Some(last)) if first != last => format!("  first {first}, last {last}"),
            (_, Some(last)) => format!("  at {last}"),
            _ => String::new(),
        };
        cut(format!("{:>6}  {:<32}{times}", seen.count, seen.name()).trim_end().to_owned())
    };
    let head = ["Reports in this log; the newest of each kind is explained below.".to_owned()];
    head.into_iter().chain(seen.iter().rev().map(line)).collect()
}
