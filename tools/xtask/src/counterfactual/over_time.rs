//! Free pageblocks over time: the predicted and the observed increase.
//!
//! A recording does not have the machine's free pageblocks over time, so `predict` reports this measure as undecided.
//! The guests of `--tidying` count them during the work, and the replays of their recordings compute them.

use std::fmt::Write as _;

use freehold_lab::predict::{MeanDifference, unpaired};

use super::cases::{Case, Side};
use super::costs::{Costs, LEFT};
use super::predicted::ScoredCase;

/// The measure, as `freehold predict` names it. It is the first column of `LEFT`.
const MEASURE: &str = "free pageblocks, mean over time";

/// Returns a table with a row for each case that has both numbers.
pub(super) fn table(scored: &[ScoredCase], costs: &Costs) -> String {
    let mut text =
        "| case | before: replays | guests | increase: predicted | observed | |\n|---|---:|---:|---:|---:|---|\n"
            .to_owned();
    for ScoredCase { case, prediction, .. } in scored {
        let Ok(prediction) = prediction else { continue };
        let measure = prediction.measures.iter().find(|measure| measure.name == MEASURE);
        let replays = measure
            .and_then(|measure| Some((measure.before_each.as_deref()?, measure.predicted_each.as_deref()?)));
        let of = |side: &Side| costs.values(case.workload, side, &LEFT[0]);
        if let Some(row) =
            replays.and_then(|replays| row(case, replays, (&of(&case.before), &of(&case.after))))
        {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{row}");
        }
    }
    text
}

/// The values of each recording before and after.
type Both<'a> = (&'a [f64], &'a [f64]);

fn row(case: &Case, replays: Both<'_>, guests: Both<'_>) -> Option<String> {
    let predicted = of_each(replays)?;
    let observed = unpaired(guests.0, guests.1)?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Some(format!(
        "| {} | {:.1} | {:.1} | {} | {} | {} |",
        case.name(),
        mean(replays.0),
        mean(guests.0),
        cell(predicted),
        cell(observed),
        verdict(predicted, observed)
    ))
}

/// Returns the mean difference of recordings that are replayed without and with the change.
fn of_each((before, after): Both<'_>) -> Option<MeanDifference> {
    let differences: Vec<_> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    // The differences are compared with zero, because the two replays of a recording share its scatter.
    unpaired(&vec![0.0; differences.len()], &differences)
}

fn cell(difference: MeanDifference) -> String {
    let text = format!("{:+.1} ± {:.1}", difference.mean, difference.noise());
    if difference.is_beyond_noise() { format!("**{text}**") } else { text }
}

/// Returns the verdict on a predicted difference. Its size is right if the two intervals overlap.
fn verdict(predicted: MeanDifference, observed: MeanDifference) -> &'static str {
    let is_same_way = predicted.mean * observed.mean > 0.0;
    let meet = (predicted.mean - observed.mean).abs() <= predicted.noise() + observed.noise();
    match (predicted.is_beyond_noise(), observed.is_beyond_noise()) {
        (true, true) if is_same_way && meet => "right",
        (true, true) if is_same_way => "direction",
        (false, false) => "quiet",
        (true, false) => "false alarm",
        (_, true) => "missed",
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::tidying_cases;
    use super::*;

    #[test]
    fn predicted_pageblocks_are_compared_with_the_guests_counts() {
        let case = tidying_cases()[0];
        let of = |replays: Both<'_>, guests: Both<'_>| row(&case, replays, guests).expect("two of each");
        let before: &[f64] = &[34.0, 34.1, 33.9];
        let more: &[f64] = &[37.0, 37.2, 36.8];
        let same = of((before, more), (before, more));
        assert!(same.contains("7.3-built to 7.3-tidying"), "{same}");
        assert!(same.contains("| 34.0 | 34.0 | **+3.0 ±") && same.ends_with("| right |"), "{same}");
        assert!(of((before, more), (before, before)).ends_with("| false alarm |"));
        assert!(of((before, before), (&[1.0, 1.1, 1.0], &[9.0, 9.1, 9.0])).ends_with("| missed |"));
        assert!(of((before, more), (&[1.0, 1.1, 1.0], &[99.0, 99.1, 99.0])).ends_with("| direction |"));
        assert!(of((before, more), (&[99.0, 99.1, 99.0], &[1.0, 1.1, 1.0])).ends_with("| missed |"));
        assert!(of((before, before), (before, before)).ends_with("| quiet |"));
        assert_eq!(row(&case, (before, more), (&[1.0], &[2.0])), None);
    }
}
