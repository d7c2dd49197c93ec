//! Writing: a path comes in, a file goes out that is complete, or the one that was there before.
//!
//! A file or folder is written as `NAME.freehold-partial` beside its place and renamed when it is complete and on the
//! device. That name is made by `create_new`, so nothing that lies there is ever opened for writing, and it is locked,
//! so two that write one file meet at it. The kernel unlocks it if its writer is killed: the next one takes it away.

mod claim;
mod finished_file;
mod finished_folder;
mod growing_file;
mod litter;
mod locks;
mod names;
mod refusals;
mod stream;
mod target;

pub(crate) use claim::open_locked;
pub(crate) use finished_file::FinishedFile;
pub(crate) use finished_folder::FinishedFolder;
pub(crate) use growing_file::GrowingFile;
pub(crate) use litter::remove_litter;
pub(crate) use names::{sync_folder_of, unnamed_file};
pub(crate) use refusals::cannot_create;
pub(crate) use target::refuse_input;
