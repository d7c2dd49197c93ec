//! The kept list of live tests: which command runs each, and its last verdict with the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command as Process;

use super::list::{COMMANDS, Command};
use super::outcome::Verdict;
use super::sources;

/// The kept list.
pub const KEPT: &str = "tools/live.tsv";

/// The kept list of the parts of `.ci/run long`, which writes it.
const LONG: &str = "tools/long.tsv";

/// The most commits that may change the files that a command covers before the command must run again.
const STALE: usize = 60;

const HEAD: &str = "# Tests that `cargo test` does not run, as they need this machine, QEMU, a browser or a kernel.\n\
    # `cargo xtask live COMMAND --keep` runs and judges them; a test that was skipped, or met a busy machine, keeps its row.\n\
    # The commit is that of the verdict, or of the row if there is none yet.\n\
    # command\ttest\tlast verdict\tcommit\n";

/// The verdict of a test that was never judged.
const NEVER: &str = "never";

/// The last verdict on each test, by command and test.
#[derive(Default, Debug)]
pub(super) struct Kept(BTreeMap<(String, String), (String, String)>);

impl Kept {
    /// Reads the list; an absent one is empty.
    ///
    /// # Errors
    /// If a line is not valid.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(root.join(KEPT)).unwrap_or_default();
        let row = |line: &str| {
            let cells: Vec<_> = line.split('\t').map(str::to_owned).collect();
            let [command, test, verdict, commit] = <[String; 4]>::try_from(cells).map_err(|_| {
                format!("{KEPT}: {line:?} does not have four cells: cargo xtask live --keep rewrites it")
            })?;
            Ok(((command, test), (verdict, commit)))
        };
        text.lines().filter(|line| !line.starts_with('#')).map(row).collect::<Result<_, String>>().map(Self)
    }

    /// Records the verdicts of a command at a commit, and removes the rows of tests that no longer exist.
    pub(super) fn note(
        &mut self,
        command: &Command,
        all: &[String],
        ended: &[(String, Verdict)],
        commit: &str,
    ) {
        self.0.retain(|(of, test), _| of != command.name || all.contains(test));
        for test in all {
            let key = (command.name.to_owned(), test.clone());
            let judged = ended.iter().find(|(name, verdict)| name == test && verdict.is_judged());
            match judged {
                Some((_, verdict)) => _ = self.0.insert(key, (verdict.to_string(), commit.to_owned())),
                None => _ = self.0.entry(key).or_insert_with(|| (NEVER.to_owned(), commit.to_owned())),
            }
        }
    }

    /// Writes the list.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write(&self, root: &Path) -> Result<(), String> {
        let mut text = HEAD.to_owned();
        for ((command, test), (verdict, commit)) in &self.0 {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{command}\t{test}\t{verdict}\t{commit}");
        }
        fs::write(root.join(KEPT), text).map_err(|error| format!("{KEPT} cannot be written: {error}"))
    }

    /// Adds a finding for each test that the list lacks or that failed, and for each row without a test.
    fn complete(&self, command: &Command, all: &[String], findings: &mut Vec<String>) {
        let remedy = format!("cargo xtask live {} --keep", command.name);
        for test in all {
            match self.0.get(&(command.name.to_owned(), test.clone())) {
                None => findings.push(format!("{KEPT}: lacks {test}: {remedy}")),
                Some((verdict, commit)) if verdict == "failed" => {
                    findings.push(format!("{KEPT}: {test}: {verdict} ({commit}): {remedy}"));
                }
                Some(_) => {}
            }
        }
        let rows = self.0.keys().filter(|(of, test)| of == command.name && !all.contains(test));
        findings.extend(
            rows.map(|(_, test)| format!("{KEPT}: has {test}, which does not exist any more: {remedy}")),
        );
    }

    /// Returns the commits of a command's rows, each once.
    fn commits<'k>(&'k self, command: &Command) -> BTreeSet<&'k str> {
        let rows = self.0.iter().filter(|((of, _), _)| of == command.name);
        rows.map(|(_, (_, commit))| commit.as_str()).collect()
    }
}

/// Returns a line for each test that the list lacks or that did not pass, and for each command whose newest verdict is
/// outdated.
///
/// # Errors
/// If the list or the sources cannot be read.
pub fn findings(root: &Path) -> Result<Vec<String>, String> {
    let kept = Kept::read(root)?;
    let mut findings = Vec::new();
    for command in COMMANDS {
        let all =
            sources::tests(root, command.folder).map_err(|error| format!("{}: {error}", command.folder))?;
        kept.complete(command, &all, &mut findings);
        let since =
            kept.commits(command).into_iter().map(|commit| commits_since(root, commit, command.covers)).min();
        let what = format!("`cargo xtask live {} --keep`", command.name);
        findings.extend(stale(&what, since.unwrap_or(usize::MAX)));
    }
    long_parts(root, &mut findings)?;
    Ok(findings)
}

/// Adds a finding for each part of `.ci/run long` that failed, or whose verdict is outdated.
fn long_parts(root: &Path, findings: &mut Vec<String>) -> Result<(), String> {
    let text =
        fs::read_to_string(root.join(LONG)).map_err(|error| format!("{LONG} cannot be read: {error}"))?;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<_> = line.split('\t').collect();
        let [part, covers, verdict, commit, _] = cells[..] else {
            return Err(format!("{LONG}: {line:?} does not have five cells"));
        };
        if verdict == "failed" {
            findings.push(format!("{LONG}: {part} failed at {commit}"));
        }
        let covers: Vec<_> = covers.split(' ').collect();
        findings.extend(stale(&format!("`.ci/run long {part}`"), commits_since(root, commit, &covers)));
    }
    Ok(())
}

/// Returns a finding if more commits than allowed have changed the files that a command covers.
fn stale(command: &str, commits: usize) -> Option<String> {
    (commits > STALE).then(|| {
        format!("{command} has no verdict since more than {STALE} commits changed the files that it covers")
    })
}

/// Returns the number of commits since `commit` that changed one of the paths; the largest number if git does not know
/// `commit`.
fn commits_since(root: &Path, commit: &str, paths: &[&str]) -> usize {
    let range = format!("{commit}..HEAD");
    let counted = Process::new("git")
        .args(["rev-list", "--count", &range, "--"])
        .args(paths)
        .current_dir(root)
        .output();
    let counted = counted.ok().filter(|ran| ran.status.success());
    counted.and_then(|ran| String::from_utf8(ran.stdout).ok()?.trim().parse().ok()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_verdicts_replace_verdicts_and_removed_tests_lose_their_rows() {
        let command = &COMMANDS[0];
        let all = ["a", "b", "c"].map(str::to_owned);
        let mut kept = Kept::default();
        let old = [("a", Verdict::Passed), ("b", Verdict::Passed), ("gone", Verdict::Passed)];
        let named = |list: &[(&str, Verdict)]| -> Vec<_> {
            list.iter().map(|(name, is)| ((*name).to_owned(), *is)).collect()
        };
        kept.note(command, &[&all[..2], &["gone".to_owned()]].concat(), &named(&old), "111");
        kept.note(
            command,
            &all,
            &named(&[("a", Verdict::Failed), ("b", Verdict::TooBusy), ("c", Verdict::Skipped)]),
            "222",
        );
        let rows: Vec<_> = kept
            .0
            .iter()
            .map(|((_, test), (verdict, commit))| (test.as_str(), verdict.as_str(), commit.as_str()))
            .collect();
        assert_eq!(rows, [("a", "failed", "222"), ("b", "passed", "111"), ("c", "never", "222")]);
        let mut findings = Vec::new();
        kept.complete(command, &["a", "b", "d"].map(str::to_owned), &mut findings);
        let said = findings.join("\n");
        assert!(
            said.contains("a: failed (222)")
                && said.contains("lacks d")
                && said.contains("has c, which does not exist any more"),
            "{said}"
        );
        assert_eq!(findings.len(), 3, "{said}");
    }

    #[test]
    fn too_many_commits_make_a_command_stale() {
        assert_eq!(stale("x", STALE), None);
        assert!(stale("x", STALE + 1).unwrap().contains("has no verdict"));
        assert_eq!(commits_since(crate::root(), "no-such-commit", &["tools"]), usize::MAX);
        assert_eq!(commits_since(crate::root(), "HEAD", &["tools"]), 0);
    }
}
