//! Output: results and messages come in; they go to standard output, to standard error, and to files that
//! are complete or absent. Nothing that a terminal obeys goes there.

mod console;
mod plugin;
mod write;

pub(super) use console::{
    csv, environment, json, note, notes, print, print_json, print_json_text, print_path_as, report,
};
pub(super) use plugin::{plugin, with_code};
pub(super) use write::{
    FinishedFile, FinishedFolder, GrowingFile, cannot_create, open_locked, refuse_input, remove_litter,
    sync_folder_of, unnamed_file,
};
