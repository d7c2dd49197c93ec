//! A prediction on one screen.

use std::fmt::Write as _;

use super::measure::Measure;
use super::prediction::Prediction;
use super::short::number;
use super::verdict::PredictionVerdict;

/// The width of the screen in characters.
const COLUMNS: usize = 100;

/// The largest number of rows in the table without `full`.
const MOST_ROWS: usize = 30;

/// The width of the name column, including the mark before each name.
const NAME: usize = 38;

/// Returns a mean with its standard deviation, if it is known and not 0.
fn spread(mean: Option<f64>, sd: Option<f64>) -> String {
    let Some(mean) = mean else { return "–".to_owned() };
    match sd.filter(|sd| *sd > 0.0) {
        Some(sd) => format!("{} ± {}", number(mean), number(sd)),
        None => number(mean),
    }
}

/// Returns the predicted change in percent, or as a multiple if it is large.
fn change(measure: &Measure) -> String {
    let Some((before, predicted)) = measure.before.zip(measure.predicted) else { return "–".to_owned() };
    let (difference, ratio) = (predicted - before, predicted / before);
    if difference == 0.0 {
        "0".to_owned()
    } else if before <= 0.0 {
        "new".to_owned()
    } else if ratio >= 10.0 {
        format!("×{}", number(ratio))
    } else {
        let sign = if difference < 0.0 { "−" } else { "+" };
        format!("{sign}{} %", number((ratio - 1.0).abs() * 100.0))
    }
}

/// Returns a text, cut to the width of the screen.
fn cut(text: &str) -> String {
    if text.chars().count() <= COLUMNS {
        return text.to_owned();
    }
    text.chars().take(COLUMNS - 1).chain(['…']).collect()
}

impl Prediction {
    /// Returns the prediction as text: the measures that change, on one screen of 40 lines and 100 columns. With
    /// `full`, all measures, and the reasons for undecided ones.
    pub fn text(&self, full: bool) -> String {
        let mut lines = vec![self.headline()];
        lines.extend(self.notes.iter().take(if full { usize::MAX } else { 3 }).map(|note| cut(note)));
        lines.push(String::new());
        let shown: Vec<_> = self.measures.iter().filter(|measure| full || self.is_shown(measure)).collect();
        let rows = if full { shown.len() } else { shown.len().min(MOST_ROWS) };
        if rows > 0 {
            lines.push(
                self.row(&["", "before", "predicted", "change", "observed", "verdict"].map(str::to_owned)),
            );
        }
        for measure in &shown[..rows] {
            lines.push(self.measure(measure));
            if let Some(why) = measure.why.as_ref().filter(|_| full) {
                lines.push(cut(&format!("    undecided: {why}")));
            }
        }
        if shown[..rows].iter().any(|measure| !measure.before_is_recorded) {
            lines.push("* value of the replay, because no recording has the machine's own value".to_owned());
        }
        lines.push(self.rest(&shown[rows..], full));
        if self.against.is_some() {
            lines.push(self.score());
        }
        lines.join("\n")
    }

    fn headline(&self) -> String {
        let recordings = |count: usize| format!("{count} recording{}", if count == 1 { "" } else { "s" });
        let mut line = format!(
            "{} instead of {}: predicted from {}",
            self.change,
            self.instead_of,
            recordings(self.recordings)
        );
        if let Some(against) = self.against {
            // Writing into a string does not fail.
            let _ = write!(line, ", compared with {against}");
        }
        cut(&line)
    }

    /// Returns true if a change of the measure is predicted or was observed.
    fn is_shown(&self, measure: &Measure) -> bool {
        match measure.verdict {
            Some(PredictionVerdict::Quiet | PredictionVerdict::Undecided) | None => {
                self.against.is_none() && measure.is_predicted_to_change()
            }
            Some(_) => true,
        }
    }

    fn measure(&self, measure: &Measure) -> String {
        let mark = if measure.before_is_recorded { "  " } else { "* " };
        self.row(&[
            format!("{mark}{}", measure.measure),
            spread(measure.before, measure.before_sd),
            spread(measure.predicted, measure.predicted_sd),
            change(measure),
            spread(measure.observed, measure.observed_sd),
            measure.verdict.map_or(String::new(), |verdict| verdict.name().to_owned()),
        ])
    }

    /// Returns a row of the table. The last two columns exist only with recordings under the change.
    fn row(&self, cells: &[String; 6]) -> String {
        let [name, before, predicted, change, observed, verdict] = cells;
        let mut row = format!("{name:NAME$} {before:>13} {predicted:>13} {change:>7}");
        if self.against.is_some() {
            // Writing into a string does not fail.
            let _ = write!(row, " {observed:>13} {verdict:11}");
        }
        row.trim_end().to_owned()
    }

    /// Returns the number of measures that are not in the table, by reason.
    fn rest(&self, left: &[&Measure], full: bool) -> String {
        let is_undecided = |measure: &&Measure| measure.why.is_some();
        let undecided = self.measures.iter().filter(is_undecided).count();
        if full {
            return format!("{} measures, {undecided} of them undecided", self.measures.len());
        }
        let quiet =
            self.measures.iter().filter(|measure| measure.why.is_none() && !self.is_shown(measure)).count();
        let more = if left.is_empty() { String::new() } else { format!("{} more that change, ", left.len()) };
        let has_noise = self.measures.iter().any(|measure| measure.predicted_noise.is_some());
        let beyond = if has_noise { " beyond noise" } else { "" };
        format!("{more}{quiet} without a change{beyond}, {undecided} undecided: --full shows all")
    }

    fn score(&self) -> String {
        let counts = PredictionVerdict::ALL.into_iter().map(|verdict| (verdict.name(), self.count(verdict)));
        let counts: Vec<_> =
            counts.filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {count}")).collect();
        format!("score: {}", counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(name: &str, predicted: f64, verdict: Option<PredictionVerdict>) -> Measure {
        Measure {
            measure: name.to_owned(),
            unit: "pages",
            before: Some(12_345.6),
            before_sd: Some(9_999.0),
            predicted: Some(predicted),
            predicted_sd: Some(9_999.0),
            observed: verdict.map(|_| 9_999.0),
            observed_sd: verdict.map(|_| 99_999.0),
            verdict,
            before_each: None,
            predicted_each: None,
            observed_each: None,
            before_is_recorded: false,
            predicted_noise: Some(1.0),
            observed_noise: verdict.map(|_| 1.0),
            why: None,
        }
    }

    fn prediction(verdict: Option<PredictionVerdict>) -> Prediction {
        let name = "fallback Reclaimable from HighAtomic";
        let mut measures: Vec<_> =
            (0..60).map(|number| measure(name, f64::from(number) * 1e5, verdict)).collect();
        measures.push(measure("free pageblocks", 12_345.6, verdict.map(|_| PredictionVerdict::Quiet)));
        Prediction {
            change: "linux-7.3, with counts, without hygiene, watermark_boost_factor=0, defrag_mode=1"
                .to_owned(),
            instead_of: "linux-6.1".to_owned(),
            kernel_release: "6.1.0-some-distribution-amd64".to_owned(),
            recordings: 5,
            replays: 4,
            against: verdict.map(|_| 5),
            page_move_ns: None,
            notes: vec!["a note".repeat(30); 7],
            measures,
        }
    }

    #[test]
    fn a_screen_has_40_lines_and_100_columns() {
        for verdict in [None, Some(PredictionVerdict::FalseAlarm), Some(PredictionVerdict::Quiet)] {
            let prediction = prediction(verdict);
            let text = prediction.text(false);
            assert!(text.lines().count() <= 40, "{text}");
            for text in [text, prediction.text(true)] {
                assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            }
        }
    }

    #[test]
    fn unchanged_measures_are_counted_and_shown_with_full() {
        let prediction = prediction(None);
        let text = prediction.text(false);
        assert!(!text.contains("free pageblocks"), "{text}");
        assert!(text.contains("30 more that change, 1 without a change"), "{text}");
        assert!(prediction.text(true).contains("free pageblocks"));
    }

    #[test]
    fn unknown_noise_is_not_named() {
        let mut prediction = prediction(None);
        assert!(prediction.text(false).contains("1 without a change beyond noise, 0 undecided"));
        prediction.measures.iter_mut().for_each(|measure| measure.predicted_noise = None);
        assert!(prediction.text(false).contains("1 without a change, 0 undecided"));
    }
}
