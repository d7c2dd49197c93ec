//! The differences between the sides of the series `tidying`, with confidence intervals.

use std::fmt::Write as _;

use freehold_lab::predict::unpaired;

use super::cases::Side;
use super::costs::{COST, Column, Costs, LEFT};

/// The pairs of sides that are compared: a name, the side, and the side it is compared with. A number is an index into
/// the sides: as it is, drains only, tidying, tidying at equal cost, proactive compaction, defrag mode.
const PAIRS: [(&str, usize, usize); 7] = [
    ("only drains − as it is", 1, 0),
    ("tidying − as it is", 2, 0),
    ("tidying − only drains", 2, 1),
    ("proactive compaction − as it is", 4, 0),
    ("tidying at equal cost − proactive compaction", 3, 4),
    ("tidying − proactive compaction", 2, 4),
    ("defrag mode − as it is", 5, 0),
];

/// The compared columns: everything that the work left, and the time of the work.
fn measures() -> impl Iterator<Item = &'static Column> {
    LEFT.iter().chain(&COST[..1])
}

/// Returns a table for each measure, with a row for each workload and a column for each pair of sides. A cell has the
/// difference of the means, half of its 99 % confidence interval, and Welch's t. A significant difference is bold.
pub(super) fn tables(costs: &Costs) -> String {
    let titles: Vec<_> = PAIRS.iter().map(|(title, ..)| *title).collect();
    let mut text = String::new();
    for column in measures() {
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "\n### {}\n\n| workload | {} |\n|---|{}\n",
            capital(column.title),
            titles.join(" | "),
            "---:|".repeat(titles.len())
        );
        for workload in costs.workloads() {
            let sides = costs.sides(workload);
            let of = |at: usize| {
                let values = |side: &Side| costs.values(workload, side, column);
                sides.get(at).map(values).unwrap_or_default()
            };
            let cells: Vec<_> =
                PAIRS.iter().map(|&(_, side, against)| cell(&of(against), &of(side))).collect();
            let _ = writeln!(text, "| {} | {} |", workload.name, cells.join(" | "));
        }
    }
    text
}

fn capital(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns by how much the mean of `after` exceeds that of `before`; `–` if a side has fewer than two runs.
fn cell(before: &[f64], after: &[f64]) -> String {
    let Some(difference) = unpaired(before, after) else { return "–".to_owned() };
    if difference.error == 0.0 {
        let mean = difference.mean;
        return if mean == 0.0 { "0".to_owned() } else { format!("{mean:+.1} each time") };
    }
    let digits = usize::from(difference.mean.abs() < 99.95 && difference.noise() < 99.95);
    let (mean, noise, t) = (difference.mean, difference.noise(), difference.mean / difference.error);
    let text = format!("{mean:+.digits$} ± {noise:.digits$} (t {t:.1})");
    if difference.is_beyond_noise() { format!("**{text}**") } else { text }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::cases::tidying_sides;
    use super::*;

    #[test]
    fn cell_has_the_interval_and_is_bold_beyond_it() {
        assert_eq!(cell(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0]), "**+10.0 ± 3.8 (t 12.2)**");
        assert_eq!(cell(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0]), "+1.0 ± 3.8 (t 1.2)");
        assert_eq!((cell(&[1.0], &[1.0, 2.0]), cell(&[0.0; 3], &[0.0; 3])), ("–".to_owned(), "0".to_owned()));
        assert_eq!(cell(&[0.0; 3], &[2.0; 3]), "+2.0 each time");
    }

    #[test]
    fn pairs_refer_to_the_sides_in_their_names() {
        let sides = tidying_sides();
        let of = |place: usize| sides[place].1.to_string();
        for (title, side, against) in PAIRS {
            let (first, second) = title.split_once(" − ").expect("two sides");
            for (name, place) in [(first, side), (second, against)] {
                let part = match name {
                    "as it is" => "7.3-built",
                    "only drains" => "pageblock_only_drains",
                    "tidying" => "7.3-tidying+pageblock_tidying_pages=1000000",
                    "tidying at equal cost" => "pageblock_tidying_ms",
                    "proactive compaction" => "compaction_proactiveness",
                    _ => "defrag_mode",
                };
                let is_whole = matches!(name, "as it is" | "tidying");
                assert!(if is_whole { of(place) == part } else { of(place).contains(part) }, "{title}");
            }
        }
    }

    #[test]
    fn each_workload_has_a_row_of_each_measure() {
        let run = |value: f64| BTreeMap::from([("end_pageblocks".to_owned(), value)]);
        let sides: Vec<_> = tidying_sides().into_iter().take(6).zip(1..).collect();
        let costs =
            sides.into_iter().map(|(sided, at)| (sided, vec![run(f64::from(at)), run(f64::from(at + 1))]));
        let text = tables(&Costs::of(costs.collect()));
        assert_eq!(text.matches("\n### ").count(), measures().count());
        assert!(
            text.contains("### Free pageblocks at the end\n\n| workload | only drains − as it is |"),
            "{text}"
        );
        assert!(
            text.contains("| build | +1.0 ± 7.0 (t 1.4) | +2.0 ± 7.0 (t 2.8) | +1.0 ± 7.0 (t 1.4) |"),
            "{text}"
        );
    }
}
