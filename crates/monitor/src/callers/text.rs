//! The answer as a text.

use std::fmt::Write;

use freehold_measure::{duration, grouped};

use super::answer::{CallerRow, Callers};
use crate::verdict::SizeText;

/// A column: its title, its width, and its cell.
type Column = (&'static str, usize, fn(&CallerRow) -> String);

/// The columns before the name. Those without a number in any row are left out.
const COLUMNS: [Column; 9] = [
    ("requests", 12, |row| count(row.requests)),
    ("failed", 11, |row| count(row.failed)),
    ("waited", 11, |row| count(row.waited)),
    ("in all", 9, |row| time(row.wait_ns())),
    ("median", 9, |row| time(row.wait_median_ns)),
    ("99 %", 9, |row| time(row.wait_p99_ns)),
    ("wakes", 11, |row| count(row.kswapd_wakes + row.kcompactd_wakes)),
    ("fallbacks", 11, |row| count(row.fallbacks)),
    ("claims", 11, |row| count(row.claims)),
];

impl CallerRow {
    /// Returns the time in direct compaction and direct reclaim.
    pub fn wait_ns(&self) -> u64 {
        self.compaction_ns + self.reclaim_ns
    }
}

impl Callers {
    /// Returns the answer as a text: a sentence, and tables of at most `most` rows.
    pub fn text(&self, most: usize) -> String {
        let mut text = format!("{}\n", self.sentence());
        if self.all.requests > 0 {
            let columns = COLUMNS.into_iter().filter(|(_, _, cell)| !cell(&self.all).is_empty());
            let columns: Vec<_> = columns.collect();
            table(&mut text, "code", &columns, &self.by_code, most, |row| {
                format!("{} ({})", row.name, row.gfp)
            });
            table(&mut text, "process", &columns, &self.by_process, most, process);
            table(&mut text, "cgroup", &columns, &self.by_cgroup, most, |row| row.name.clone());
        }
        for note in self.notes() {
            let _ = writeln!(text, "\nNote: {note}.");
        }
        text
    }

    fn sentence(&self) -> String {
        let all = &self.all;
        let blocks = format!("of order {} ({}) and above", self.order, SizeText(self.block_bytes));
        let seconds = self.duration_ns as f64 / 1e9;
        if all.requests == 0 {
            return format!("No requests {blocks} in {seconds:.1} s.");
        }
        let plural = if all.requests == 1 { "" } else { "s" };
        let failed = if all.failed == 0 { "none".to_owned() } else { grouped(all.failed) };
        let mut text =
            format!("{} request{plural} {blocks} in {seconds:.1} s; {failed} failed", grouped(all.requests));
        let wait = |ns: u64, what: &str| (ns > 0).then(|| format!("{} in direct {what}", duration(ns)));
        let waits = [wait(all.compaction_ns, "compaction"), wait(all.reclaim_ns, "reclaim")];
        match waits.into_iter().flatten().collect::<Vec<_>>().as_slice() {
            [] => text.push_str(", none waited."),
            waits => {
                let _ = write!(text, ", {} waited, {}.", grouped(all.waited), waits.join(" and "));
            }
        }
        text
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.lost > 0 {
            notes.push(format!(
                "{} events were lost, so requests and waits are missing; a larger --order watches fewer",
                grouped(self.lost)
            ));
        }
        if self.all.requests > 0 && self.without_stack == self.all.requests {
            notes.push("this kernel tells no stacks, so the code is unknown".to_owned());
        }
        if self.without_symbols {
            notes.push("functions have no names here: set kernel.kptr_restrict to 0 or 1".to_owned());
        }
        if self.by_code.iter().any(|row| row.failed > 0 && row.gfp.contains("ACCOUNT")) {
            notes.push(
                "a request with __GFP_ACCOUNT also fails if its memory cgroup is at its limit, whatever is free"
                    .to_owned(),
            );
        }
        let missing: Vec<_> =
            self.missing_events.iter().filter(|name| !name.ends_with("kernel_stack")).collect();
        if !missing.is_empty() {
            let names = missing.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            notes.push(format!("this kernel does not have the trace events {names}"));
        }
        notes
    }
}

/// Returns the name of a process, and which.
fn process(row: &CallerRow) -> String {
    match (row.pid, row.processes) {
        (Some(pid), 1) => format!("{} ({pid})", row.name),
        (Some(pid), processes) => format!("{} ({processes} processes, the most by {pid})", row.name),
        (None, _) => row.name.clone(),
    }
}

fn table(
    text: &mut String,
    title: &str,
    columns: &[Column],
    rows: &[CallerRow],
    most: usize,
    name: impl Fn(&CallerRow) -> String,
) {
    text.push('\n');
    for (title, width, _) in columns {
        let _ = write!(text, "{title:>width$}");
    }
    let _ = writeln!(text, "  {:<7} {title}", "orders");
    for row in rows.iter().take(most) {
        for (_, width, cell) in columns {
            let _ = write!(text, "{:>width$}", cell(row));
        }
        let _ = writeln!(text, "  {:<7} {}", orders(&row.orders), name(row));
    }
    if let Some(left) = rows.len().checked_sub(most).filter(|left| *left > 0) {
        let _ = writeln!(text, "and {} more", grouped(left as u64));
    }
}

/// Returns a number, or nothing for 0.
fn count(number: u64) -> String {
    if number == 0 { String::new() } else { grouped(number) }
}

/// Returns a time, or nothing for 0.
fn time(ns: u64) -> String {
    if ns == 0 { String::new() } else { duration(ns) }
}

/// Returns orders as ranges: `3`, `3-5,9`.
fn orders(orders: &[u8]) -> String {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for &order in orders {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == order => *last = order,
            _ => ranges.push((order, order)),
        }
    }
    let range = |(first, last): &(u8, u8)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_ranges() {
        assert_eq!([&[3][..], &[3, 4, 5, 9], &[]].map(orders), ["3", "3-5,9", ""]);
    }
}
