//! Scores: what `freehold check` says of each request, beside what was served.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::baseline::{Baseline, Sample};
use super::rows::Row;
use crate::kernel::process::command;

/// The number of draws of states for an interval.
const DRAWS: u32 = 1000;

/// A request with its forecast.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) row: Row,
    pub(super) probability: f64,
    pub(super) exit_code: u64,
    /// Blocks at 90, 50 and 10 %.
    quantiles: [u64; 3],
    /// Free blocks.
    free: u64,
    /// The numbers that the distribution is made from, in the order of [`INPUTS`].
    inputs: [u64; INPUTS.len()],
}

/// The numbers of blocks that the distribution is made from.
const INPUTS: [&str; 6] = ["now", "direct", "clean_at_most", "dropped_at_most", "swapped_at_most", "all"];

/// The names of the columns of a scored row, after those of the row itself.
pub(super) const COLUMNS: &str = "probability\texit\tat_90\tat_50\tat_10\tfree";

impl Scored {
    /// Returns true if all blocks were served in the last try.
    fn is_served(&self) -> bool {
        self.row.served.last().is_some_and(|&served| served >= self.row.requested)
    }

    /// Returns all blocks of the machine.
    fn all(&self) -> u64 {
        self.inputs[INPUTS.len() - 1]
    }

    /// Returns the row as text.
    pub(super) fn line(&self) -> String {
        let [at_90, at_50, at_10] = self.quantiles;
        let inputs = self.inputs.map(|number| number.to_string()).join("\t");
        format!(
            "{}\t{:.3}\t{}\t{at_90}\t{at_50}\t{at_10}\t{}\t{inputs}",
            self.row, self.probability, self.exit_code, self.free
        )
    }
}

/// Asks the program about the request of a row. `root` has the files of its state.
///
/// # Errors
/// If the program cannot be run, or prints no JSON.
pub(super) fn ask(program: &Path, root: &Path, row: Row) -> Result<Scored, String> {
    let need = format!("2M={}", row.requested);
    let mut check = command(&program.to_string_lossy());
    check
        .args(["check", "--json", "--sensor", "procfs", "--by", &row.by, "--need", &need, "--root"])
        .arg(root);
    let output = check.output().map_err(|error| format!("{}: {error}", program.display()))?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("{}: {error}: {}", root.display(), String::from_utf8_lossy(&output.stderr))
    })?;
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let forecast = &answer["forecast"];
    Ok(Scored {
        row,
        probability: forecast["probability"].as_f64().unwrap_or(f64::NAN),
        exit_code: number(&answer["exit_code"]),
        quantiles: ["at_90", "at_50", "at_10"].map(|name| number(&forecast[name])),
        free: number(&answer["supply"]["now"]),
        inputs: INPUTS.map(|name| number(&forecast["inputs"][name])),
    })
}

/// Returns the tables of all requests, and of each requester.
pub(super) fn tables(scored: &[Scored], unanswered: usize) -> String {
    let states: BTreeSet<_> = scored.iter().map(|one| &one.row.state).collect();
    let mut text = format!(
        "{} states, {} requests that were answered, {unanswered} that were not.\n\n",
        states.len(),
        scored.len()
    );
    text += "| requester | requests | Brier score | free lists, fitted | share that is free, fitted | near 90 %: said, served (95 %) | near 50 % | near 10 % |\n|---|---|---|---|---|---|---|---|\n";
    for by in ["hugetlb", "thp", "repair", "all"] {
        let of: Vec<_> = scored.iter().filter(|one| by == "all" || one.row.by == by).cloned().collect();
        let _ = writeln!(
            text,
            "| {by} | {} | {:.3} | {:.3} | {:.3} | {} | {} | {} |",
            of.len(),
            brier(&of),
            baseline(&of, |one| (one.free as f64 - one.row.requested as f64) / one.all().max(1) as f64),
            baseline(&of, |one| (one.free as f64 / one.row.requested as f64).min(1.0)),
            band(&of, 0.8, 1.0),
            band(&of, 0.3, 0.7),
            band(&of, 0.0, 0.2)
        );
    }
    text += "\n| requester | states | at least the number of 90 % | of 50 % | of 10 % | median width, 10 to 90 %, of all memory |\n|---|---|---|---|---|---|\n";
    for by in ["hugetlb", "thp", "repair"] {
        text += &quantiles(scored, by);
    }
    text += "\n| exit code | requests | served | not served |\n|---|---|---|---|\n";
    for (code, word) in [(0, "OK"), (1, "WARNING"), (2, "CRITICAL"), (3, "UNKNOWN")] {
        let of: Vec<_> = scored.iter().filter(|one| one.exit_code == code).collect();
        let served = of.iter().filter(|one| one.is_served()).count();
        let _ = writeln!(text, "| {word} | {} | {served} | {} |", of.len(), of.len() - served);
    }
    text
}

fn brier(scored: &[Scored]) -> f64 {
    let error = |one: &Scored| (one.probability - f64::from(u8::from(one.is_served()))).powi(2);
    scored.iter().map(error).sum::<f64>() / scored.len().max(1) as f64
}

/// Returns the Brier score of a logistic curve of one number, fitted to the same requests.
fn baseline(scored: &[Scored], of: impl Fn(&Scored) -> f64) -> f64 {
    let samples: Vec<_> =
        scored.iter().map(|one| Sample { x: of(one), is_served: one.is_served() }).collect();
    Baseline::fit(&samples).brier(&samples)
}

/// Returns the mean probability and the share that was served of requests in a band, with its interval by states.
fn band(scored: &[Scored], least: f64, most: f64) -> String {
    let of: Vec<_> = scored.iter().filter(|one| (least..=most).contains(&one.probability)).collect();
    if of.is_empty() {
        return "none".to_owned();
    }
    let mut states: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for one in &of {
        let (served, all) = states.entry(&one.row.state).or_default();
        *served += f64::from(u8::from(one.is_served()));
        *all += 1.0;
    }
    let states: Vec<_> = states.into_values().collect();
    let (low, high) = interval(&states);
    let said = of.iter().map(|one| one.probability).sum::<f64>() / of.len() as f64;
    let (served, all) = sum(states.iter());
    let percent = |share: f64| share * 100.0;
    format!(
        "{:.0} %, {:.0} % ({:.0} to {:.0}) of {}",
        percent(said),
        percent(served / all),
        percent(low),
        percent(high),
        of.len()
    )
}

fn sum<'a>(states: impl Iterator<Item = &'a (f64, f64)>) -> (f64, f64) {
    states.fold((0.0, 0.0), |sum, state| (sum.0 + state.0, sum.1 + state.1))
}

/// Returns the 95 % interval of a share: states are drawn with replacement, as the requests of one state depend on each other.
fn interval(states: &[(f64, f64)]) -> (f64, f64) {
    let mut random = fastrand::Rng::with_seed(1);
    let mut draw = |_| {
        let (served, all) = sum((0..states.len()).map(|_| &states[random.usize(..states.len())]));
        served / all
    };
    let mut shares: Vec<_> = (0..DRAWS).map(&mut draw).collect();
    shares.sort_by(f64::total_cmp);
    let at = |share: f64| shares[(share * f64::from(DRAWS - 1)) as usize];
    (at(0.025), at(0.975))
}

/// Returns how many states served at least the numbers of the forecast, where more was requested than they served.
fn quantiles(scored: &[Scored], by: &str) -> String {
    let mut most: BTreeMap<&str, &Scored> = BTreeMap::new();
    for one in scored.iter().filter(|one| one.row.by == by && !one.is_served()) {
        most.insert(&one.row.state, one);
    }
    let of: Vec<_> = most.into_values().collect();
    let reached = |at: usize| {
        let states: Vec<_> = of
            .iter()
            .map(|one| {
                let served = one.row.served.last().copied().unwrap_or(0);
                (f64::from(u8::from(served >= one.quantiles[at])), 1.0)
            })
            .collect();
        let (low, high) = if states.is_empty() { (0.0, 1.0) } else { interval(&states) };
        let (served, all) = sum(states.iter());
        format!("{:.0} % ({:.0} to {:.0})", served / all * 100.0, low * 100.0, high * 100.0)
    };
    let mut widths: Vec<_> = of
        .iter()
        .map(|one| one.quantiles[2].saturating_sub(one.quantiles[0]) as f64 / one.all().max(1) as f64)
        .collect();
    widths.sort_by(f64::total_cmp);
    let width = widths.get(widths.len() / 2).copied().unwrap_or(0.0) * 100.0;
    format!("| {by} | {} | {} | {} | {} | {width:.0} % |\n", of.len(), reached(0), reached(1), reached(2))
}

/// Writes the scored rows.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write(scored: &[Scored], file: &Path) -> Result<(), String> {
    let lines: Vec<_> = scored.iter().map(Scored::line).collect();
    let text = format!("{}\t{COLUMNS}\t{}\n{}\n", super::rows::COLUMNS, INPUTS.join("\t"), lines.join("\n"));
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(state: &str, probability: f64, requested: u64, served: u64) -> Scored {
        let row = format!("{state}\t6.1\t512\t1\thugetlb\t{requested}\t{served}");
        Scored {
            row: Row::parse(&row).unwrap(),
            probability,
            exit_code: 1,
            quantiles: [80, 90, 100],
            free: 50,
            inputs: [50, 60, 70, 80, 80, 200],
        }
    }

    #[test]
    fn wrong_forecasts_score_worse() {
        let right = [scored("a", 0.9, 90, 90), scored("b", 0.1, 120, 90)];
        let wrong = [scored("a", 0.1, 90, 90), scored("b", 0.9, 120, 90)];
        assert!((brier(&right) - 0.01).abs() < 1e-9 && (brier(&wrong) - 0.81).abs() < 1e-9);
        assert_eq!(band(&right, 0.8, 1.0), "90 %, 100 % (100 to 100) of 1");
        assert_eq!(band(&wrong, 0.8, 1.0), "90 %, 0 % (0 to 0) of 1");
    }

    #[test]
    fn requests_of_one_state_widen_the_interval() {
        let apart: Vec<_> = (0..20).map(|at| (f64::from(at % 2), 1.0)).collect();
        let (low, high) = interval(&apart);
        let (lower, higher) = interval(&[(10.0, 10.0), (0.0, 10.0)]);
        assert!(low > 0.2 && high < 0.8, "{low} {high}");
        assert_eq!((lower, higher), (0.0, 1.0));
    }

    #[test]
    fn served_numbers_are_held_against_quantiles() {
        let rows = [scored("a", 0.0, 200, 85), scored("b", 0.0, 200, 95)];
        let table = quantiles(&rows, "hugetlb");
        assert!(
            table.starts_with("| hugetlb | 2 | 100 % (100 to 100) | 50 % (0 to 100) | 0 % (0 to 0) | 10 % |"),
            "{table}"
        );
    }
}
