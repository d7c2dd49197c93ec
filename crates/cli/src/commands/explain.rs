//! `freehold explain`: why an allocation failed, by the kernel's own report.

use std::io;
use std::path::Path;

use anyhow::anyhow;
use freehold_explain::{Answer, Log};
use freehold_linux::{Excerpt, open_log};

use crate::args::Explain;
use crate::exit::{Cause, Failure};
use crate::load::input_name;
use crate::output;

/// The largest file that is searched for a machine's free memory. Units: bytes.
const MAX_EXCERPT_BYTES: u64 = 32 << 20;

pub(crate) fn run(args: &Explain) -> Result<(), Failure> {
    let log = read(&args.file)?;
    let Some(answer) = Answer::new(&log) else {
        let (name, nothing) = (input_name(&args.file), log.nothing_found());
        let other = other_command(&args.file);
        return Err(Failure::new(Cause::Data, anyhow!("{name}: {nothing}{other}")));
    };
    if args.json { output::print_json(&answer.json()) } else { output::print(&answer.text()) }
}

fn read(file: &Path) -> Result<Log, Failure> {
    let failed = |error| {
        let context = format!("cannot read {}", input_name(file));
        Failure::new(Cause::NoInput, anyhow::Error::new(error).context(context))
    };
    if file == Path::new("-") {
        return Log::read(io::stdin().lock()).map_err(failed);
    }
    let text = open_log(file, |error| {
        output::note(&format!("freehold: {}", freehold_lab::sentence(error.as_ref())));
    })
    .map_err(|error| Failure::new(Cause::NoInput, error))?;
    Log::read(text).map_err(failed)
}

/// Returns a sentence on the command that reads a file without a report, if it has a machine's free memory.
fn other_command(file: &Path) -> String {
    let is_small = file.metadata().is_ok_and(|file| file.is_file() && file.len() < MAX_EXCERPT_BYTES);
    let has_free_memory = is_small && Excerpt::read(file).is_ok_and(|excerpt| excerpt.has_free_memory());
    let place = file.display();
    if has_free_memory || file.join("proc").is_dir() {
        format!(
            ". It has free blocks by zone: see `freehold check --order 3 --root {place}` and `freehold snapshot --root {place}`"
        )
    } else {
        String::new()
    }
}
