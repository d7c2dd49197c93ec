//! A rehearsal in words.

use super::super::answer::Verdict;
use super::super::forecast::likely;
use super::outcome::{LineOutcome, Rehearsal, Start};

/// The width of the column of requests, at least and at most.
const WIDTHS: (usize, usize) = (22, 60);

impl Rehearsal {
    /// Returns the lines that a user reads: how the launch starts, the first request that fails or waits, what to do, what is
    /// left, and each request.
    pub fn text(&self) -> Vec<String> {
        let mut lines = vec![self.headline()];
        let first = self.lines.iter().find(|line| Some(line.line) == self.first);
        lines.extend(first.zip(self.reason.as_ref()).map(|(first, reason)| {
            let line = first.line;
            if first.never_served {
                format!("The kernel never serves line {line}: {reason}.")
            } else {
                format!("By line {line} {reason}.")
            }
        }));
        lines.extend(self.action.as_ref().map(|action| format!("{action}.")));
        lines.extend(self.repaired());
        lines.extend(self.left_bytes.map(|bytes| match bytes {
            0 => "After the launch, other requests can have nothing more.".to_owned(),
            _ => format!("After the launch, other requests can have about {} more.", memory(bytes)),
        }));
        if self.lines.len() > 1 {
            let widest = self.lines.iter().map(|line| line.text.chars().count()).max().unwrap_or_default();
            let width = widest.clamp(WIDTHS.0, WIDTHS.1);
            lines.push(format!("  line  {:<width$}  outcome        probability of a start", "request"));
            lines.extend(self.lines.iter().map(|line| row(line, width)));
        }
        lines.extend(self.pools.iter().map(|pool| format!("{pool}.")));
        lines.extend(self.missing.iter().map(|missing| format!("Not read: {missing}.")));
        lines
    }

    fn headline(&self) -> String {
        let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][usize::from(self.exit_code)];
        let first = self.lines.iter().find(|line| Some(line.line) == self.first);
        let first = first.map(|line| format!("`{}` (line {})", line.text, line.line)).unwrap_or_default();
        let percent = self.probability.map(percent);
        let percent =
            percent.map_or_else(String::new, |percent| format!(" (probability of a start {percent})"));
        match self.start {
            Start::AtOnce => format!("{word}: starts{percent}: every request finds free memory."),
            Start::Slowly => {
                format!("{word}: starts slowly{percent}: {first} waits for reclaim or compaction.")
            }
            Start::Perhaps => format!("{word}: may not start{percent}: {first} may fail."),
            Start::Unknown => format!("{word}: it is unknown whether {first} is served."),
            Start::Fails => format!("{word}: does not start{percent}: {first} fails."),
        }
    }

    /// Says how likely the launch is after a repair, if that helps.
    fn repaired(&self) -> Option<String> {
        let (before, after) = (self.probability?, self.after_repair?);
        let helps = self.start != Start::AtOnce && after >= before + 0.05;
        helps.then(|| format!("After `freehold repair` the probability of a start is {}.", percent(after)))
    }
}

/// Returns a probability without the word: `84 %`, or `below 1 %`.
fn percent(probability: f64) -> String {
    likely(probability)
        .trim_end_matches(" likely")
        .replace("less than", "below")
        .replace("more than", "above")
}

/// Says what is needed and what there is, to follow `By line 2`: blocks, ranges, or the memory of single pages.
pub(super) fn reason(verdict: &Verdict) -> Option<String> {
    if verdict.request.contiguous {
        return verdict.reason.first().map(|reason| format!("the launch needs ranges: {reason}"));
    }
    if verdict.request.order > 0 {
        return verdict.reason.first().map(|reason| format!("the launch needs {reason}"));
    }
    let of_pages = |pages: u64| memory(pages.saturating_mul(verdict.request.block_bytes));
    let (needed, free) = (of_pages(verdict.request.blocks), of_pages(verdict.supply.now));
    let after = verdict.forecast.map_or_else(String::new, |forecast| {
        let [few, half, many] = [forecast.at_90, forecast.at_50, forecast.at_10].map(of_pages);
        format!(", {half} ({few} to {many}) after reclaim, {}", likely(forecast.probability))
    });
    Some(format!("the launch needs {needed} in all: {free} free now{after}"))
}

fn row(line: &LineOutcome, width: usize) -> String {
    let mut percent = line.probability.map(percent).unwrap_or_default();
    if line.in_pool > 0 {
        percent = format!("{percent} ({} in the pool)", line.in_pool);
    }
    let row = format!("  {:>4}  {:<width$}  {:<14} {percent}", line.line, line.text, line.start.words());
    row.trim_end().to_owned()
}

/// Returns an amount of memory with at least two figures, such as `3.2 GiB`.
pub(super) fn memory(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let (shift, unit) = units.into_iter().find(|(shift, _)| bytes >> shift > 0).unwrap_or((10, "KiB"));
    let number = bytes as f64 / (1_u64 << shift) as f64;
    let digits = usize::from(number < 100.0);
    format!("{number:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_two_figures_and_a_unit() {
        let shown = [0, 5 << 10, 1536 << 10, 24 << 30, 300 << 30, 2 << 40].map(memory);
        assert_eq!(shown, ["0.0 KiB", "5.0 KiB", "1.5 MiB", "24.0 GiB", "300 GiB", "2.0 TiB"]);
    }
}
