//! The report of the command, and its text.

use freehold_monitor::verdict::Verdict;
use serde::Serialize;

use super::try_compaction::CompactionTrial;
use super::try_pool::PoolTrial;

/// A verdict, and the result of its verification.
#[derive(Serialize)]
pub(super) struct Report {
    /// The source of the pageblocks' migratetypes: `bpf`, or `inferred` from the pages that they
    /// hold.
    pub(super) types: &'static str,
    /// The source of the free blocks.
    pub(super) free_from: &'static str,
    #[serde(flatten)]
    pub(super) verdict: Verdict,
    /// Assumptions about a copied machine, and contradictions in its files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tried: Option<Tried>,
}

/// The kind of verification, and its result.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Tried {
    Compaction(Box<CompactionTrial>),
    Pool(PoolTrial),
}

/// Formats reasons, notes and what could not be read, after the word for the exit code.
pub(super) fn with_state(exit_code: u8, reason: &[String], notes: &[String], missing: &[String]) -> String {
    let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][usize::from(exit_code.min(3))];
    let mut lines: Vec<String> = reason.iter().map(|reason| format!("{}.", capitalized(reason))).collect();
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, &format!("{word}: "));
    }
    // What makes the numbers doubtful is never cut: it stands below the numbers and the action.
    let notes = notes.iter().map(|note| format!("Note: {note}."));
    lines.splice(lines.len().min(2)..lines.len().min(2), notes);
    lines.extend(missing.iter().map(|missing| format!("Not read: {missing}.")));
    lines.join("\n")
}

/// Returns a sentence with a capital letter at its start.
fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The most lines without `--full`.
const LINES: usize = 10;

/// Returns what a verdict says: the numbers, what to do, and the reasons.
pub(super) fn lines(action: Option<&String>, reason: &[String]) -> Vec<String> {
    let (first, more) = reason.split_at(reason.len().min(1));
    first.iter().chain(action).chain(more).cloned().collect()
}

/// Returns the first lines of a text, and how many there are more.
pub(super) fn cut(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    if lines.len() <= LINES {
        return text.to_owned();
    }
    let more = lines.len() - (LINES - 1);
    format!("{}\n{more} more lines: --full.", lines[..LINES - 1].join("\n"))
}

/// Formats the report. The state comes first, because monitors show only the first line. It is cut unless it is wanted `full`.
pub(super) fn text(report: &Report, full: bool) -> String {
    let Report { verdict, notes, tried, .. } = report;
    let lines = lines(verdict.action.as_ref(), &verdict.reason);
    let said = with_state(verdict.exit_code, &lines, notes, &verdict.missing);
    let mut lines = vec![if full { said } else { cut(&said) }];
    match tried {
        Some(Tried::Compaction(tried)) => {
            lines.push(format!(
                "Verified: {} free blocks before; predicted {} to {}, observed {} after {} ms of compaction ({:+.1} %).",
                tried.before,
                tried.predicted,
                tried.at_most,
                tried.real,
                tried.compaction_ms,
                tried.error_percent
            ));
            lines.extend(tried.after.reason.first().map(|reason| format!("Now: {reason}.")));
        }
        Some(Tried::Pool(tried)) => lines.push(tried.words()),
        None => {}
    }
    lines.join("\n")
}

/// Returns the text with performance data of monitoring plugins behind its first line.
pub(super) fn with_perfdata(text: &str, verdict: &Verdict) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut values =
        vec![format!("needed={}", verdict.request.blocks), format!("free={}", verdict.supply.now)];
    if let Some(forecast) = &verdict.forecast {
        values.push(format!("expected={}", forecast.at_50));
        values.push(format!("probability={:.3};;;0;1", forecast.probability));
    }
    format!("{first} | {}\n{rest}", values.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_lines_are_shown() {
        let text = |lines: usize| (1..=lines).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        assert_eq!(cut(&text(10)), text(10));
        assert_eq!(cut(&text(12)), format!("{}\n3 more lines: --full.", text(9)));
    }
}
