//! The verdicts on tests, read from the output of the test harness.

use std::fmt;

/// The verdict on a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Passed,
    Failed,
    /// Something that the test needs is missing.
    Skipped,
    /// Other programs changed the machine too much to judge.
    TooBusy,
}

impl Verdict {
    /// Returns true if the test was judged.
    pub(super) const fn is_judged(self) -> bool {
        matches!(self, Self::Passed | Self::Failed)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::TooBusy => "too busy",
        })
    }
}

/// Parses the output of the test harness with one thread, mixed with standard error, line by line.
#[derive(Default, Debug)]
pub(super) struct Reader {
    /// The running test, and its verdict so far.
    running: Option<(String, Option<Verdict>)>,
    /// All tests that ended.
    pub(super) ended: Vec<(String, Verdict)>,
}

impl Reader {
    /// Parses one line.
    pub(super) fn line(&mut self, line: &str) {
        let mut rest = line;
        if let Some((name, after)) = line.strip_prefix("test ").and_then(|test| test.split_once(" ... ")) {
            self.running = Some((name.to_owned(), None));
            rest = after;
        }
        let Some((name, said)) = &mut self.running else { return };
        if rest.starts_with("SKIPPED ") {
            *said = said.or(Some(Verdict::Skipped));
        } else if rest.starts_with("TOO BUSY ") {
            *said = Some(Verdict::TooBusy);
        }
        let verdict = match rest.trim_end() {
            end if end == "ok" || end.ends_with(" ok") => said.unwrap_or(Verdict::Passed),
            end if end == "FAILED" || end.ends_with(" FAILED") => Verdict::Failed,
            _ => return,
        };
        self.ended.push((std::mem::take(name), verdict));
        self.running = None;
    }

    /// Returns the verdicts. A test that was still running has failed.
    pub(super) fn end(mut self) -> Vec<(String, Verdict)> {
        self.ended.extend(self.running.take().map(|(name, _)| (name, Verdict::Failed)));
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_parsed_from_the_output() {
        let mut reader = Reader::default();
        let text = "running 5 tests\ntest a::one ... ok\ntest b ... SKIPPED b: not root\nok\ntest c ... TOO BUSY c: 40 blocks\nok\n\
                    test d ... some words\nFAILED\nfailures:\ntest e ... SKIPPED e: half\nthread 'e' panicked\n";
        text.lines().for_each(|line| reader.line(line));
        let ended = reader.end();
        let ended: Vec<_> = ended.iter().map(|(name, verdict)| (name.as_str(), *verdict)).collect();
        let [passed, skipped, busy] = [Verdict::Passed, Verdict::Skipped, Verdict::TooBusy];
        let failed = Verdict::Failed;
        assert_eq!(ended, [("a::one", passed), ("b", skipped), ("c", busy), ("d", failed), ("e", failed)]);
    }
}
