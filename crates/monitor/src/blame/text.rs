//! The answer as a text.

use std::fmt::Write;

use freehold_measure::grouped;

use super::answer::{Blame, Row};

/// What stands where nothing is known.
const UNKNOWN: &str = "–";

impl Blame {
    /// Returns the answer as a text: a sentence, and a table of at most `most` rows. `size` is that of a block in words.
    pub fn text(&self, size: &str, most: usize) -> String {
        if self.kept == 0 {
            return format!("no block of {size} is kept by unmovable pages\n");
        }
        let percent = |blocks: u64| 100.0 * blocks as f64 / self.kept as f64;
        let mut text = format!(
            "{} blocks of {size} are kept by unmovable pages. By whom is known of {} ({:.1} %), in part of {} more.\n",
            grouped(self.kept),
            grouped(self.named.whole),
            percent(self.named.whole),
            grouped(self.named.partly)
        );
        if self.share < 1.0 {
            let _ = writeln!(
                text,
                "Which code allocated was watched in {:.1} % of the blocks, and is scaled to all.",
                100.0 * self.share
            );
        }
        let _ = writeln!(
            text,
            "\n{:>8}{:>8}{:>10}{:>8}  what, and the code that allocated it",
            "blocks", "alone", "pages", "age"
        );
        for row in self.rows.iter().take(most) {
            let _ = writeln!(
                text,
                "{:>8}{:>8}{:>10}{:>8}  {}",
                grouped(row.blocks),
                grouped(row.blocks_alone),
                grouped(row.pages),
                row.median_age_ms.map_or_else(|| UNKNOWN.to_owned(), age),
                name(row)
            );
        }
        if let Some(left) = self.rows.len().checked_sub(most).filter(|left| *left > 0) {
            let _ = writeln!(text, "and {} more", grouped(left as u64));
        }
        text
    }
}

fn name(row: &Row) -> String {
    match &row.code {
        Some(code) => format!("{}: {code}", row.what),
        None => row.what.clone(),
    }
}

/// Returns an age in words: `850 ms`, `12 s`, `3 min`, `2.5 h`, `4 d`.
fn age(ms: u64) -> String {
    let seconds = ms as f64 / 1000.0;
    match seconds {
        ..1.0 => format!("{ms} ms"),
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} d", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::NamedBlocks;

    #[test]
    fn ages_have_the_unit_that_reads_well() {
        let ages = [850, 12_400, 200_000, 9_000_000, 400_000_000].map(age);
        assert_eq!(ages, ["850 ms", "12 s", "3 min", "2.5 h", "5 d"]);
    }

    #[test]
    fn the_answer_comes_first() {
        let row = |what: &str, code: Option<&str>| Row {
            what: what.to_owned(),
            code: code.map(str::to_owned),
            pages: 12_345,
            blocks: 90,
            blocks_alone: 60,
            median_age_ms: code.map(|_| 65_000),
            pages_seen: 0,
        };
        let rows = vec![row("kernel pages", Some("pipe_write")), row("slab dentry", None), row("slab", None)];
        let blame = Blame {
            order: 9,
            kept: 100,
            share: 0.5,
            named: NamedBlocks { whole: 95, partly: 3, not: 2 },
            rows,
        };
        let text = blame.text("2 MiB", 2);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[0],
            "100 blocks of 2 MiB are kept by unmovable pages. By whom is known of 95 (95.0 %), in part of 3 more."
        );
        assert!(lines[1].contains("50.0 % of the blocks"), "{text}");
        assert!(lines[4].ends_with("65 s  kernel pages: pipe_write"), "{text}");
        assert!(lines[5].ends_with("–  slab dentry") && lines[6] == "and 1 more", "{text}");
    }
}
