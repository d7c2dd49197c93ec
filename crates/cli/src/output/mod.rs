//! Output: results and messages come in; they go to standard output, to standard error, and to files that
//! are complete or absent. Nothing that a terminal obeys goes there.

mod console;
mod csv;
mod environment;
mod growing_file;
mod refusals;
mod scratch;
mod scratch_folder;

pub(super) use console::{note, notes, print, print_json, print_json_text, report};
pub(super) use csv::csv;
pub(super) use environment::environment;
pub(super) use growing_file::GrowingFile;
pub(super) use refusals::{cannot_create, exists};
pub(super) use scratch::Scratch;
pub(super) use scratch_folder::ScratchFolder;
