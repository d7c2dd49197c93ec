//! Opens traces and reads whole traces.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use freehold_lab::analysis::{Analysis, analyze};
use freehold_lab::{Lab, LabError, Loaded, note_if_cut_short};
use freehold_trace::{ReadOptions, TraceError, TraceReader};

use crate::args::Input;
use crate::exit::Failure;
use crate::output;

/// The reader of a trace file.
pub(super) type Reader = TraceReader<BufReader<File>>;

/// Returns the name of a file, or of standard input, as messages have it.
pub(super) fn input_name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

/// Opens a trace and reads its header.
pub(super) fn open(input: &Input) -> Result<Reader, Failure> {
    let name = input.name();
    let file =
        File::open(&input.trace).map_err(|source| TraceError::Unopened { file: name.clone(), source })?;
    let mut options = ReadOptions::new(&name);
    options.partial = input.partial;
    Ok(TraceReader::open(BufReader::with_capacity(1 << 20, file), options)?)
}

/// Prints a note on a trace on standard error.
fn note(text: &str) {
    output::note(&format!("freehold: {text}"));
}

/// Warns on standard error if the recording was cut short. Must be called after all events were read.
pub(super) fn warn_if_cut_short(reader: &Reader, input: &Input) {
    note_if_cut_short(&input.name(), reader, note);
}

/// Analyses a trace.
pub(super) fn analysis(input: &Input) -> Result<Analysis, Failure> {
    analyze(&input.name(), || open(input), note, |error| failure(&input.name(), error))
}

/// Reads a whole trace.
pub(super) fn whole(input: &Input) -> Result<Loaded, Failure> {
    Loaded::read(&input.name(), || open(input), note)
}

/// Returns the lab for a trace.
pub(super) fn lab(loaded: &Loaded) -> Result<Lab<'_>, Failure> {
    loaded.lab().map_err(|error| failure(&loaded.name, error))
}

/// Returns a failure that names the trace.
pub(super) fn failure(name: &str, error: LabError) -> Failure {
    let mut failure = Failure::from(error);
    failure.error = failure.error.context(name.to_owned());
    failure
}
