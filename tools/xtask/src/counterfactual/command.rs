//! `cargo xtask counterfactual`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::cases::{Case, cases, tidying_cases, tidying_sides};
use super::costs::Costs;
use super::guest::Cpus;
use super::page::{COUNTERFACTUALS, Made, TIDYING, page};
use super::parquet;
use super::predicted::{ScoredCase, scored};
use super::programs::{freehold, said};
use super::recordings::{MOST_ROUNDS, Recordings, Sided, sides};
use super::score::Score;
use crate::kernel::cache;
use crate::kernel::process::command;

/// The page with the cases.
const PAGE: &str = "docs/evidence/counterfactuals.md";

/// The file with the values of every recording.
const VALUES: &str = "docs/evidence/counterfactuals.parquet";

/// The same two files for the series `tidying`.
const TIDYING_KEPT: [&str; 2] = ["docs/evidence/tidying-kernels.md", "docs/evidence/tidying-kernels.parquet"];

/// A workload under which an unchanged Linux compacts. Its recordings show how long moving a page takes on an emulated
/// machine.
const MOVES: &str = "huge-pages";

/// Record workloads under two settings, and compare predictions with observations
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub struct CounterfactualArgs {
    /// Run only cases whose name contains this, such as `forks` or `defrag_mode`
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
    // Two further sides are recorded without a prediction: a kernel that only drains the CPUs' lists, and tidying with
    // the time that proactive compaction takes.
    /// Run the cases of the series `tidying` instead of the others
    #[arg(long)]
    tidying: bool,
    /// List the cases and record nothing
    #[arg(long)]
    list: bool,
    /// Least number of recordings per side
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=i64::from(MOST_ROUNDS)), value_name = "N")]
    rounds: u32,
    // The clock of these guests is the number of executed instructions, so they do not disturb each other.
    /// Number of guests of `--tidying` that run at the same time
    #[arg(long, default_value_t = 1, requires = "tidying", value_name = "N")]
    jobs: usize,
    /// Folder of the recordings; existing recordings are not made again
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    // A program with BPF records the exact start.
    /// Program that records and predicts; by default, one built from this checkout
    #[arg(long, value_name = "FILE")]
    freehold: Option<PathBuf>,
    /// Make the recordings, and predict nothing
    #[arg(long)]
    record_only: bool,
    /// Write the page and the values to docs/evidence
    #[arg(long, conflicts_with = "record_only")]
    keep: bool,
}

/// Records, predicts, and prints or writes the page. Returns true if the score reaches the goals.
///
/// # Errors
/// If recordings cannot be made or a prediction fails.
pub fn run(arguments: &CounterfactualArgs, root: &Path) -> Result<bool, String> {
    let is_wanted = |case: &Case| {
        let name = case.name();
        arguments.case.is_empty() || arguments.case.iter().any(|part| has_words(&name, part))
    };
    let all = if arguments.tidying { tidying_cases() } else { cases() };
    let cases: Vec<_> = all.into_iter().filter(is_wanted).collect();
    if cases.is_empty() {
        return Err("no case has such a name; --list shows them".to_owned());
    }
    if arguments.list {
        for case in &cases {
            println!("{}", case.name());
        }
        return Ok(true);
    }
    let paths = Paths::of(arguments, root)?;
    let recordings = paths.recordings(root, arguments);
    let (folder, freehold) = (&paths.folder, &paths.freehold);
    let sides = sides_of(arguments, &cases);
    recordings.make(&sides)?;
    if arguments.record_only {
        return Ok(true);
    }
    let scored_case = |case: &Case, page_move_ns| {
        let [before, after] = [case.before, case.after].map(|side| recordings.paths(case.workload, &side));
        scored(freehold, folder, *case, [&before, &after], page_move_ns)
    };
    let page_move_ns = match cases.iter().find(|case| arguments.tidying && case.workload.name == MOVES) {
        Some(case) => scored_case(case, None)?.prediction.ok().and_then(|of| of.page_move_ns),
        None => None,
    };
    let mut all = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        all.push(scored_case(case, page_move_ns)?);
        let measures = all.last().and_then(|scored| scored.prediction.as_ref().ok()).map(|of| &of.measures);
        let said = measures.map_or("refused".to_owned(), |measures| {
            let score = Score::of(measures);
            format!("{} right of {} observed", score.right, score.observed())
        });
        eprintln!("{} of {}: {}: {said}", number + 1, cases.len(), case.name());
    }
    let costs = if arguments.tidying { Some(Costs::read(&sides, &recordings)?) } else { None };
    finish(arguments, root, &all, costs.as_ref())
}

/// Returns the sides to record for these cases.
fn sides_of(arguments: &CounterfactualArgs, cases: &[Case]) -> Vec<Sided> {
    let is_wanted = |(workload, _): &Sided| cases.iter().any(|case| case.workload.name == workload.name);
    if arguments.tidying { tidying_sides().into_iter().filter(is_wanted).collect() } else { sides(cases) }
}

/// The paths of the recordings, of the guests' images, and of the program that records.
struct Paths {
    folder: PathBuf,
    cache: PathBuf,
    freehold: PathBuf,
}

impl Paths {
    fn of(arguments: &CounterfactualArgs, root: &Path) -> Result<Self, String> {
        let whole = |path: PathBuf| {
            std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let name = if arguments.tidying { "target/counterfactual-tidying" } else { "target/counterfactual" };
        let cache = cache::cache().map_err(|error| error.to_string())?.join("guests");
        let freehold = arguments.freehold.clone().map_or_else(|| freehold(root), Ok)?;
        let folder = arguments.folder.clone().unwrap_or_else(|| root.join(name));
        Ok(Self { folder: whole(folder)?, cache, freehold: whole(freehold)? })
    }

    fn recordings<'a>(&'a self, root: &'a Path, arguments: &CounterfactualArgs) -> Recordings<'a> {
        let Self { folder, cache, freehold } = self;
        // Tidying has a budget of time. Counted instructions make that budget independent of the load on the host.
        let cpus = if arguments.tidying { Cpus::TwoCounting } else { Cpus::Two };
        let (rounds, is_drained, jobs) = (arguments.rounds, arguments.tidying, arguments.jobs);
        Recordings { root, folder, cache, freehold, rounds, cpus, jobs, is_drained }
    }
}

/// Returns true if `name` contains `text` as whole words: `memory-files` does not contain `files`, and `6.12` does not
/// contain `6.1`.
fn has_words(name: &str, text: &str) -> bool {
    let is_part = |next: char| next.is_alphanumeric() || matches!(next, '-' | '.');
    let goes_on = |after: &str| text.ends_with(is_part) && after.starts_with(is_part);
    name.match_indices(text)
        .any(|(at, _)| !name[..at].ends_with(is_part) && !goes_on(&name[at + text.len()..]))
}

/// Prints the page, or writes it and the values. Returns true if the score reaches the goals.
fn finish(
    arguments: &CounterfactualArgs,
    root: &Path,
    all: &[ScoredCase],
    costs: Option<&Costs>,
) -> Result<bool, String> {
    let commit = said(command("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root))?;
    let (subject, cases, [kept, values]) = if arguments.tidying {
        (TIDYING, tidying_cases().len(), TIDYING_KEPT)
    } else {
        (COUNTERFACTUALS, cases().len(), [PAGE, VALUES])
    };
    let text = page(all, &Made::here(subject, cases, arguments.rounds, commit.trim()), costs);
    if arguments.keep {
        for (path, bytes) in [(kept, text.into_bytes()), (values, parquet::file(all, costs)?)] {
            fs::write(root.join(path), bytes).map_err(|error| format!("{path}: {error}"))?;
        }
        println!("{} cases written to {kept} and {values}", all.len());
    } else {
        print!("{text}");
    }
    let measures =
        all.iter().filter_map(|scored| scored.prediction.as_ref().ok()).flat_map(|of| &of.measures);
    Ok(Score::of(measures).is_reached())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_selected_by_whole_words() {
        let name = "memory-files: 6.1 to 7.3+defrag_mode=1";
        for text in ["memory-files", "memory-files: 6.1", "7.3", "7.3+", "6.1 to", "defrag_mode"] {
            assert!(has_words(name, text), "{text}");
        }
        for text in ["files", "memory", "6.12", "6.1 to 7", "emory"] {
            assert!(!has_words(name, text), "{text}");
        }
    }
}
