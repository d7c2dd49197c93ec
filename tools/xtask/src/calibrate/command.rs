//! `cargo xtask calibrate`: observes states.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use clap::Args;

use super::guest::{Guests, Observed};
use super::rows::{COLUMNS, Row};
use super::score;
use super::states::{State, all};
use crate::counterfactual::programs::freehold;

/// The file with what was served, in the folder of each state.
const ROWS: &str = "rows.tsv";

/// Make states of memory in guests, and request blocks from each
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// States to observe, by a part of their names; by default, all
    #[arg(value_name = "PART")]
    states: Vec<String>,
    /// Only score the states that were observed
    #[arg(long)]
    score: bool,
    /// Score the states that are kept for proof, instead of the others
    #[arg(long, requires = "score")]
    kept: bool,
    /// Guests that run at once
    #[arg(long, default_value_t = 1, value_name = "N")]
    jobs: usize,
}

/// Observes the states that were not observed yet, or scores them. Returns true if all are observed.
///
/// # Errors
/// If a program is missing, or a file cannot be written.
pub fn run(arguments: &CalibrateArgs, root: &Path) -> Result<bool, String> {
    let folder = root.join("target/calibrate");
    let is_wanted = |state: &State| {
        arguments.states.is_empty() || arguments.states.iter().any(|part| state.name.contains(part))
    };
    let states: Vec<_> = all().into_iter().filter(is_wanted).collect();
    if arguments.score {
        return score_all(&states, &folder, arguments.kept, root);
    }
    observe(&states, &folder, arguments.jobs, root)?;
    let missing: Vec<_> =
        states.iter().filter(|state| !folder.join(&state.name).join(ROWS).is_file()).collect();
    for state in &missing {
        println!("{}: not observed", state.name);
    }
    let kept = states.iter().filter(|state| state.is_kept()).count();
    println!("{} states, of which {kept} are kept for proof", states.len());
    Ok(missing.is_empty())
}

/// Scores the states that were observed, and writes the rows.
fn score_all(states: &[State], folder: &Path, is_kept: bool, root: &Path) -> Result<bool, String> {
    let program = freehold(root)?;
    let (mut scored, mut unanswered, mut missing) = (Vec::new(), 0, 0);
    for state in states.iter().filter(|state| state.is_kept() == is_kept) {
        let place = folder.join(&state.name);
        let Ok(text) = fs::read_to_string(place.join(ROWS)) else {
            missing += 1;
            continue;
        };
        for line in text.lines().skip(1) {
            let row = Row::parse(line).ok_or_else(|| format!("{}: damaged row {line}", place.display()))?;
            if row.served.is_empty() {
                unanswered += 1;
            } else {
                scored.push(score::ask(&program, &place.join("root"), row)?);
            }
        }
    }
    let which = if is_kept { "kept" } else { "other" };
    score::write(&scored, &folder.join(format!("{which}.tsv")))?;
    println!("{}\n{missing} states were not observed.", score::tables(&scored, unanswered));
    Ok(missing == 0)
}

/// Observes states, `jobs` at once.
fn observe(states: &[State], folder: &Path, jobs: usize, root: &Path) -> Result<(), String> {
    let is_left = |state: &&State| !folder.join(&state.name).join(ROWS).is_file();
    let left: VecDeque<_> = states.iter().filter(is_left).collect();
    if left.is_empty() {
        return Ok(());
    }
    let guests = Guests::new(root, &folder.join("guests"))?;
    let left = Mutex::new(left);
    let work = || {
        while let Some(state) = left.lock().ok().and_then(|mut left| left.pop_front()) {
            match guests.observe(state).and_then(|observed| keep(&observed, &folder.join(&state.name))) {
                Ok(()) => println!("{}: observed", state.name),
                Err(error) => println!("{}: {error}", state.name),
            }
        }
    };
    thread::scope(|scope| {
        (0..jobs.max(1)).for_each(|_| {
            scope.spawn(work);
        });
    });
    Ok(())
}

/// Writes the files of a state, and what was served.
fn keep(observed: &Observed, folder: &Path) -> Result<(), String> {
    let write = |path: &Path, bytes: &[u8]| {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(path, bytes)).map_err(|error| format!("{}: {error}", path.display()))
    };
    for (name, bytes) in &observed.files {
        write(&folder.join("root").join(name), bytes)?;
    }
    let rows: Vec<_> = observed.rows.iter().map(Row::to_string).collect();
    write(&folder.join(ROWS), format!("{COLUMNS}\n{}\n", rows.join("\n")).as_bytes())
}
