//! `freehold explain`: why an allocation failed, by the kernel's own report.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::anyhow;
use freehold_explain::{Answer, Log};

use crate::args::Explain;
use crate::exit::{Cause, Failure};
use crate::output;

/// The bytes of the log that are read at a time.
const BUFFER: usize = 1 << 16;

pub(crate) fn run(args: &Explain) -> Result<(), Failure> {
    let log = read(&args.file).map_err(|error| {
        let context = format!("cannot read {}", name(&args.file));
        Failure::new(Cause::NoInput, anyhow::Error::new(error).context(context))
    })?;
    let Some(answer) = Answer::new(&log) else {
        return Err(Failure::new(Cause::Data, anyhow!("{}: {}", name(&args.file), log.nothing_found())));
    };
    if args.json { output::print_json(&answer.json()) } else { output::print(&answer.text()) }
}

fn read(file: &Path) -> io::Result<Log> {
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(BufReader::with_capacity(BUFFER, io::stdin().lock()))
    } else {
        Box::new(BufReader::with_capacity(BUFFER, File::open(file)?))
    };
    Log::read(input)
}

fn name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}
