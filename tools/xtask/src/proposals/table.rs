//! The table of a proposal: its own figures, and the mean and the standard deviation of the measured ones.

use std::fmt::Write;

use super::figures::Boot;
use super::rows::Row;
use crate::series::measure::figures::{Summary, percent_over};

/// The space between groups of three digits.
const THIN_SPACE: char = '\u{202f}';

/// Returns a table in Markdown. `sides` has the boots without the proposal's change, and those with it.
pub(super) fn markdown(rows: &[Row], sides: [&[Boot]; 2]) -> String {
    let mut text = "| | proposal: without | with | change | here: without | with | change |\n\
        |---|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for row in rows {
        let here = sides.map(|boots| {
            let samples: Vec<_> = boots.iter().filter_map(|boot| (row.here)(boot)).collect();
            Summary::of(&samples)
        });
        let means = here.map(|summary| summary.map(|of| of.mean));
        let cells = [
            row.name.to_owned(),
            row.proposal[0].map_or_else(none, number),
            row.proposal[1].map_or_else(none, number),
            change(row.proposal),
            here[0].map_or_else(none, spread),
            here[1].map_or_else(none, spread),
            change(means),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn none() -> String {
    "–".to_owned()
}

/// Returns the mean and the sample standard deviation of the boots.
fn spread(summary: Summary) -> String {
    let count = summary.samples as f64;
    if summary.samples < 2 {
        return number(summary.mean);
    }
    let deviation = summary.stddev * (count / (count - 1.0)).sqrt();
    format!("{} ± {}", number(summary.mean), number(deviation))
}

fn change(of: [Option<f64>; 2]) -> String {
    match of {
        [Some(without), Some(with)] if without != 0.0 => {
            format!("{:+.1} %", percent_over(with, without)).replace('-', "−")
        }
        _ => none(),
    }
}

/// Returns a number with three significant digits; the digits of a large number are in groups of three.
fn number(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    // Removes the sign of a negative zero.
    let text = format!("{:.places$}", value + 0.0);
    let (whole, rest) = text
        .split_once('.')
        .map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) && grouped != "-" {
            grouped.push(THIN_SPACE);
        }
        grouped.push(digit);
    }
    grouped.replace('-', "−") + &rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn boots(values: &[f64]) -> Vec<Boot> {
        values.iter().map(|value| Boot(vec![json!({"turns": value})])).collect()
    }

    #[test]
    fn row_has_proposed_and_measured_figures() {
        let rows = [
            Row { name: "turns", proposal: [Some(181_009.5), Some(0.0)], here: |boot| boot.field("turns") },
            Row { name: "not measured", proposal: [None, None], here: |boot| boot.field("absent") },
        ];
        let [without, with] = [boots(&[40.0, 44.0]), boots(&[21.0])];
        let text = markdown(&rows, [&without, &with]);
        let lines: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(lines[0], "| turns | 181\u{202f}010 | 0 | −100.0 % | 42.0 ± 2.83 | 21.0 | −50.0 % |");
        assert_eq!(lines[1], "| not measured | – | – | – | – | – | – |");
    }

    #[test]
    fn numbers_keep_three_digits() {
        let texts = [-0.0, 0.1234, 1.234, 12.34, 123.4, 1234.5, -1_234_567.0].map(number);
        assert_eq!(texts, ["0", "0.123", "1.23", "12.3", "123", "1\u{202f}234", "−1\u{202f}234\u{202f}567"]);
    }
}
