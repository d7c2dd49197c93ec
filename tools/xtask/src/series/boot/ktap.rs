//! The results of a `KUnit` suite.

/// One suite's outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suite {
    /// The number of tests that the suite announced.
    pub planned: usize,
    /// The tests that passed.
    pub passed: Vec<String>,
    /// The tests that did not pass, including skipped ones.
    pub failed: Vec<String>,
    /// True if the kernel reported that the suite passed.
    pub is_ok: bool,
}

impl Suite {
    /// Parses a suite's results (KTAP) from a console. Returns `None` if the suite did not run.
    pub fn read(console: &str, name: &str) -> Option<Self> {
        let mut lines = console.lines().map(without_time);
        lines.find(|line| line.trim() == format!("# Subtest: {name}"))?;
        let mut suite = Self::default();
        for line in lines {
            if let Some((is_ok, test)) = result(line) {
                if test.split(" # ").next() == Some(name) {
                    suite.is_ok = is_ok;
                    return Some(suite);
                }
                let is_passed = is_ok && !test.contains("# SKIP");
                let list = if is_passed { &mut suite.passed } else { &mut suite.failed };
                list.push(test.to_owned());
            } else if let Some(planned) = line.trim().strip_prefix("1..") {
                suite.planned = planned.parse().unwrap_or(suite.planned);
            }
        }
        Some(suite)
    }

    /// Returns a line for each problem.
    pub fn findings(&self) -> Vec<String> {
        let mut findings: Vec<_> =
            self.failed.iter().map(|test| format!("KUnit: not passed: {test}")).collect();
        let ran = self.passed.len() + self.failed.len();
        if ran != self.planned || ran == 0 {
            findings.push(format!("KUnit: {ran} of {} tests ran", self.planned));
        }
        if !self.is_ok && findings.is_empty() {
            findings.push("KUnit: the suite did not pass".to_owned());
        }
        findings
    }
}

/// Returns a line of the log without its time.
fn without_time(line: &str) -> &str {
    match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((time, rest)) if time.trim().parse::<f64>().is_ok() => rest.trim_end(),
        _ => line.trim_end(),
    }
}

/// Parses the result of a test: true if it passed, and its name with the comment.
fn result(line: &str) -> Option<(bool, &str)> {
    let line = line.trim();
    let (is_ok, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok ")?),
    };
    let (number, name) = rest.split_once(' ')?;
    number.parse::<usize>().ok()?;
    Some((is_ok, name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: free_counts\n    1..2\n\
                        [    0.100000]     ok 1 agree\n    # agree: words\n    ok 2 follow\n\
                        # free_counts: pass:2 fail:0 skip:0 total:2\nok 1 free_counts\n";

    #[test]
    fn a_suite_that_passes_has_no_findings() {
        let suite = Suite::read(GOOD, "free_counts").unwrap();
        assert_eq!((suite.planned, suite.passed.len(), suite.is_ok), (2, 2, true));
        assert!(suite.findings().is_empty());
        assert_eq!(Suite::read(GOOD, "other"), None);
    }

    #[test]
    fn a_test_that_fails_or_is_missing_or_skipped_is_found() {
        let findings = |text: &str| Suite::read(text, "free_counts").unwrap().findings();
        assert_eq!(findings(&GOOD.replace("ok 2 follow", "not ok 2 follow")), ["KUnit: not passed: follow"]);
        let skipped = findings(&GOOD.replace("ok 2 follow", "ok 2 follow # SKIP no memory"));
        assert_eq!(skipped, ["KUnit: not passed: follow # SKIP no memory"]);
        assert_eq!(findings(&GOOD.replace("    ok 2 follow\n", "")), ["KUnit: 1 of 2 tests ran"]);
        let cut = &GOOD[..GOOD.find("ok 1 free").unwrap()];
        assert_eq!(findings(cut), ["KUnit: the suite did not pass"]);
    }
}
