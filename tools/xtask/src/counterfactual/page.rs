//! The page: the score, the cases, the measures, and every difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use freehold_lab::predict::PredictionVerdict;

use super::apart;
use super::costs::{COST, Costs, LEFT};
use super::over_time;
use super::predicted::{Measure, Prediction, ScoredCase};
use super::score::{DIRECTION_GOAL, FALSE_ALARM_GOAL, SIZE_GOAL, Score};
use super::workloads::WORKLOADS;

/// The subject of a page.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The first paragraphs, with the title.
    pub(crate) head: &'static str,
    /// A phrase about the guests' kernels.
    pub(crate) kernels: &'static str,
}

/// Pairs of kernels, and settings.
pub(crate) const COUNTERFACTUALS: Subject = Subject { head: HEAD, kernels: "are Debian's own" };

/// The series `tidying`, compared with an unchanged Linux.
pub(crate) const TIDYING: Subject = Subject {
    head: TIDYING_HEAD,
    kernels: "are built from Debian's source of 7.3 with one configuration; `7.3-tidying` has the series. Their \
              clock advances by a nanosecond with each instruction of the two CPUs, which run in turns, so only \
              waiting for disks depends on the host",
};

/// The provenance of a page.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) subject: Subject,
    /// The number of all cases.
    pub(crate) cases: usize,
    /// The least number of recordings per side.
    pub(crate) rounds: u32,
    /// The commit.
    pub(crate) commit: String,
    /// The processor, and the kernel of this machine.
    pub(crate) machine: String,
}

impl Made {
    /// Returns the provenance with this machine's processor and kernel.
    pub(crate) fn here(subject: Subject, cases: usize, rounds: u32, commit: &str) -> Self {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let processor = model.map_or("a processor without a name", |(_, name)| name);
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let processors = text.lines().filter(|line| line.starts_with("processor")).count();
        let machine = format!("{processors} CPUs ({processor}), Linux {}", release.trim());
        Self { subject, cases, rounds, commit: commit.to_owned(), machine }
    }
}

const HEAD: &str = "# Predicted and observed

This page compares the predictions of [`freehold predict`](../guide/predict.md) with observations. A prediction starts
from recordings of a real kernel under one setting. The observations are recordings of the same work under another
setting. `cargo xtask counterfactual --keep` writes this page.

`docs/evidence/counterfactuals.parquet` has each recording's values.
";

const TIDYING_HEAD: &str = "# Tidying pageblocks in Linux: predicted and observed

This page compares predictions for the era `linux-7.3-tidying` with observations.
[`freehold predict`](../guide/predict.md) starts from recordings of an unchanged Linux 7.3. The observations are
recordings of the same work under the [series `tidying`](../../kernel/series/tidying/README.md), under proactive
compaction, and under defrag mode. `cargo xtask counterfactual --tidying --keep` writes this page.

`docs/evidence/tidying-kernels.parquet` has each recording's values.
A side with `+late` gets its setting right before the recording, as in a replay. All other settings are made at boot.
";

/// Returns the page. `costs` has the cost of each side's work, if it was measured.
pub(crate) fn page(scored: &[ScoredCase], made: &Made, costs: Option<&Costs>) -> String {
    let mut text = String::from(made.subject.head);
    // Writing to a `String` cannot fail.
    let _ = write!(
        text,
        "\n{} of {} cases, at least {} recordings per side, made in turns. Host: {}. Commit: {}. The guests are \
         emulated machines with 448 MiB and two CPUs, whose kernels {}. All sides begin with the same amount of free \
         memory.\n",
        scored.len(),
        made.cases,
        made.rounds,
        made.machine,
        made.commit,
        made.subject.kernels
    );
    let releases: BTreeSet<_> = predictions(scored).map(|of| of.kernel_release.as_str()).collect();
    let releases = Vec::from_iter(releases).join(", ");
    let _ = writeln!(text, "\nKernels of the recordings before the change: {releases}.");
    if let Some(ns) = scored.iter().find_map(|scored| scored.page_move_ns) {
        let _ = writeln!(
            text,
            "Moving a page takes {ns} ns, measured in the recordings that have enough compactions."
        );
    }
    if let Some(costs) = costs {
        sides(&mut text, costs);
    }
    if let Some(costs) = costs {
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "\n## Free pageblocks over time\n\nA recording does not have them, so `predict` reports them as \
             undecided. The guests counted them during the work, and the replays of their recordings compute them. \
             The table has the means before the change and the increase with it, with half of its 99 % confidence \
             interval. A significant increase is bold. *right*: both increases are significant, and their \
             intervals overlap.\n\n{}",
            over_time::table(scored, costs)
        );
    }
    scores(&mut text, scored);
    by_case(&mut text, scored);
    by_measure(&mut text, scored);
    differences(&mut text, scored);
    undecided(&mut text, scored);
    refused(&mut text, scored);
    text
}

/// Writes the state after each side's work, its cost, and the differences between sides.
fn sides(text: &mut String, costs: &Costs) {
    let _ = write!(
        text,
        "\n## State after the work\n\nMean ± standard deviation of a side's recordings. The mean over time is \
         from `/proc/buddyinfo`, read every 100 ms of the guest's time during the work. Then the recorder ends, \
         the guest drains all CPUs' lists, and counts free pageblocks again. It also counts mixed pageblocks, \
         which have both movable and unmovable pages, from `/proc/kpageflags`.\n\n{}\n\
         ## Cost\n\nThe time of the work, and the growth of the guest's counters during the recording.\n\n{}\n\
         ## Differences between the sides\n\nThe difference of two sides' means, half of its 99 % confidence \
         interval, and Welch's t. A difference beyond its interval is bold. Noise alone makes one of a hundred \
         differences bold.\n{}",
        costs.table(&LEFT),
        costs.table(&COST),
        apart::tables(costs)
    );
}

fn predictions(scored: &[ScoredCase]) -> impl Iterator<Item = &Prediction> {
    scored.iter().filter_map(|scored| scored.prediction.as_ref().ok())
}

fn measures<'a>(
    scored: &'a [ScoredCase],
    holds: impl Fn(&ScoredCase) -> bool + 'a,
) -> impl Iterator<Item = &'a Measure> {
    let of = scored.iter().filter(move |scored| holds(scored));
    of.filter_map(|scored| scored.prediction.as_ref().ok()).flat_map(|of| &of.measures)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

fn scores(text: &mut String, scored: &[ScoredCase]) {
    let _ = write!(
        text,
        "\n## The score\n\n\
         `observed` counts the differences beyond the noise, without undecided ones. `direction` and `size` are the \
         shares of them that were predicted correctly. `predicted` counts the predicted differences; `confirmed` is \
         the share that was observed in that direction, and `false alarms` the share that was not observed. The \
         goals are {:.0} % of the directions, {:.0} % of the sizes and less than {:.0} % false alarms.\n\n\
         | | cases | observed | direction | size | predicted | confirmed | false alarms | quiet | undecided |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        100.0 * DIRECTION_GOAL,
        100.0 * SIZE_GOAL,
        100.0 * FALSE_ALARM_GOAL
    );
    let mut row = |name: &str, holds: &dyn Fn(&ScoredCase) -> bool| {
        let cases = scored.iter().filter(|scored| scored.prediction.is_ok() && holds(scored)).count();
        if cases == 0 {
            return;
        }
        let score = Score::of(measures(scored, |scored| holds(scored)));
        let _ = writeln!(
            text,
            "| {name} | {cases} | {} | {} | {} | {} | {} | {} | {} | {} |",
            score.observed(),
            percent(score.direction_share()),
            percent(score.size_share()),
            score.predicted(),
            percent(score.kept_share()),
            percent(score.false_alarm_share()),
            score.quiet,
            score.undecided
        );
    };
    row("**all**", &|_| true);
    row("between kernels", &|scored| scored.case.after.setting.is_none());
    row("settings in guests", &|scored| scored.case.after.setting.is_some());
    for workload in &WORKLOADS {
        row(&format!("{}: {}", workload.name, workload.what), &|scored| {
            scored.case.workload.name == workload.name
        });
    }
}

const VERDICTS: &str = "right | size | direction | missed | false alarm | quiet | undecided |";

fn verdicts(score: Score) -> String {
    let Score { right, size, direction, missed, false_alarm, quiet, undecided } = score;
    format!("{right} | {size} | {direction} | {missed} | {false_alarm} | {quiet} | {undecided} |")
}

fn by_case(text: &mut String, scored: &[ScoredCase]) {
    let _ = writeln!(text, "\n## By case\n\n| case | {VERDICTS}\n|---|{}", "---:|".repeat(7));
    for ScoredCase { case, prediction, .. } in scored {
        let _ = match prediction {
            Ok(prediction) => {
                writeln!(text, "| {} | {}", case.name(), verdicts(Score::of(&prediction.measures)))
            }
            Err(_) => writeln!(text, "| {} | refused{}", case.name(), " |".repeat(7)),
        };
    }
}

fn by_measure(text: &mut String, scored: &[ScoredCase]) {
    let mut by_name: BTreeMap<&str, Vec<&Measure>> = BTreeMap::new();
    for measure in measures(scored, |_| true) {
        let name = if measure.name.starts_with("fallback ") { "fallbacks by pair" } else { &measure.name };
        by_name.entry(name).or_default().push(measure);
    }
    let _ = writeln!(text, "\n## By measure\n\n| measure | {VERDICTS}\n|---|{}", "---:|".repeat(7));
    for (name, measures) in by_name {
        let _ = writeln!(text, "| {name} | {}", verdicts(Score::of(measures.into_iter())));
    }
}

/// Writes every difference that was observed or predicted.
fn differences(text: &mut String, scored: &[ScoredCase]) {
    let _ = writeln!(
        text,
        "\n## Every difference\n\nAll differences that were observed beyond the noise or predicted, each ± the \
         standard deviation of a single recording.\n"
    );
    let _ = writeln!(
        text,
        "| case | measure | before | predicted | observed | verdict |\n|---|---|---:|---:|---:|---|"
    );
    for ScoredCase { case, prediction, .. } in scored {
        let Ok(prediction) = prediction else { continue };
        let is_listed = |measure: &&Measure| {
            !matches!(measure.verdict, PredictionVerdict::Quiet | PredictionVerdict::Undecided)
        };
        for measure in prediction.measures.iter().filter(is_listed) {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                case.name(),
                measure.name,
                number(measure.before, measure.before_sd),
                number(measure.predicted, measure.predicted_sd),
                number(measure.observed, measure.observed_sd),
                measure.verdict.name()
            );
        }
    }
}

fn number(mean: Option<f64>, sd: Option<f64>) -> String {
    let short = |value: f64| match value.abs() {
        size if size >= 99_950.0 => format!("{:.0}k", value / 1000.0),
        size if size >= 9_995.0 => format!("{:.1}k", value / 1000.0),
        size if size >= 100.0 => format!("{value:.0}"),
        _ if value.fract().abs() < 0.05 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    };
    match (mean, sd) {
        (Some(mean), Some(sd)) => format!("{} ± {}", short(mean), short(sd)),
        (Some(mean), None) => short(mean),
        _ => "–".to_owned(),
    }
}

/// Writes why verdicts are undecided, the most frequent reason first.
fn undecided(text: &mut String, scored: &[ScoredCase]) {
    let mut by_reason: BTreeMap<String, (usize, BTreeSet<String>)> = BTreeMap::new();
    for ScoredCase { case, prediction, .. } in scored {
        for why in prediction.iter().flat_map(|of| &of.measures).filter_map(|measure| measure.why.as_deref())
        {
            let (measures, cases) = by_reason.entry(without_numbers(why)).or_default();
            *measures += 1;
            cases.insert(case.name());
        }
    }
    let mut reasons: Vec<_> = by_reason.into_iter().collect();
    reasons.sort_by_key(|(_, (measures, _))| std::cmp::Reverse(*measures));
    let _ = writeln!(text, "\n## Undecided\n\n| why | measures | in cases |\n|---|---:|---:|");
    for (reason, (measures, cases)) in reasons {
        let _ = writeln!(text, "| {reason} | {measures} | {} |", cases.len());
    }
}

/// Returns the sentence with `N` in place of each number.
fn without_numbers(text: &str) -> String {
    let word = |word: &str| {
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        let end = word.chars().last().filter(|end| matches!(end, ',' | ':'));
        if is_number { format!("N{}", end.map_or_else(String::new, String::from)) } else { word.to_owned() }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn refused(text: &mut String, scored: &[ScoredCase]) {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for scored in scored {
        if let Err(reason) = &scored.prediction {
            let plain = reason.lines().next().unwrap_or_default().to_owned();
            by_reason.entry(plain).or_default().push(scored.case.name());
        }
    }
    if by_reason.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## Refused\n");
    for (reason, cases) in by_reason {
        let _ = writeln!(text, "- {}: {reason}", cases.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_grouped_without_their_numbers() {
        let why = "the baseline replay has 60.5, the machine 10.1k of order 2";
        assert_eq!(without_numbers(why), "the baseline replay has N, the machine N of order N");
        assert_eq!(without_numbers("differ, 9 and 12: so"), "differ, N and N: so");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(Some(12_345.0), Some(0.04)), "12.3k ± 0");
        assert_eq!(number(Some(123_456.0), None), "123k");
        assert_eq!(number(Some(1.25), Some(100.4)), "1.2 ± 100");
        assert_eq!(number(None, Some(1.0)), "–");
    }
}
