//! Output: in come results and what is to be said, out they go to standard output, standard error and files that are
//! whole or not there.

mod csv;
mod environment;
mod in_place;
mod refusals;
mod said;
mod scratch;
mod scratch_folder;

pub(crate) use csv::csv;
pub(crate) use environment::environment;
pub(crate) use in_place::InPlace;
pub(crate) use refusals::{cannot_create, exists};
pub(crate) use said::{note, notes, print, print_json, report};
pub(crate) use scratch::Scratch;
pub(crate) use scratch_folder::ScratchFolder;
