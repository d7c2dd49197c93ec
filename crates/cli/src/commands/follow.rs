//! `freehold snapshot --follow`: a text that is printed or written once, or again and again.

use std::path::Path;
use std::thread;
use std::time::Instant;

use crate::args::Snapshot;
use crate::exit::Failure;
use crate::output::{self, FinishedFile};

/// Prints or writes what `read` returns, once, or with `--follow` again and again. `read` is told whether more follows.
///
/// A file that cannot be written the first time is an error; later it stays as it is, and is tried again.
pub(super) fn follow(
    args: &Snapshot,
    mut read: impl FnMut(bool) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let first = read(args.follow.is_some())?;
    match &args.output {
        Some(path) => write(path, args.force, &first)?,
        None => output::print(&first)?,
    }
    let Some(interval) = args.follow else { return Ok(()) };
    let mut due = Instant::now() + interval;
    let mut trouble = Trouble::default();
    loop {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        // Times that were missed, because the machine slept or a reading took long, are not made up for.
        due = (due + interval).max(Instant::now());
        let text = read(true)?;
        match &args.output {
            Some(path) => trouble.tell(write(path, true, &text)),
            None => output::print(&text)?,
        }
    }
}

fn write(path: &Path, force: bool, text: &str) -> Result<(), Failure> {
    let mut file = FinishedFile::create(path, force)?;
    file.write_text(text)?;
    file.keep()
}

/// Whether the file could not be written the last time.
#[derive(Default)]
struct Trouble {
    since: Option<Instant>,
}

impl Trouble {
    /// Tells of the first of several failures, and of their end. The file stays as it last was meanwhile.
    fn tell(&mut self, written: Result<(), Failure>) {
        match (written, self.since) {
            (Ok(()), Some(since)) => {
                self.since = None;
                let seconds = since.elapsed().as_secs();
                output::note(&format!("freehold: the file is written again, after {seconds} seconds"));
            }
            (Err(failure), None) => {
                self.since = Some(Instant::now());
                output::note(&format!("freehold: {failure}; it is tried again"));
            }
            (Ok(()), None) | (Err(_), Some(_)) => {}
        }
    }
}
