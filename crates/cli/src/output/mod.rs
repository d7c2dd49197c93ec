//! Output: in come results and what is to be said, out they go to standard output, standard error and files that are
//! whole or not there.

mod csv;
mod environment;
mod in_place;
mod refusals;
mod said;
mod scratch;
mod scratch_folder;

pub(super) use csv::csv;
pub(super) use environment::environment;
pub(super) use in_place::InPlace;
pub(super) use refusals::{cannot_create, exists};
pub(super) use said::{note, notes, print, print_json, report};
pub(super) use scratch::Scratch;
pub(super) use scratch_folder::ScratchFolder;
