//! Patches: `kernel/series` and a kernel's source come in, the changed files and mails go out.

pub mod apply;
mod changed;
pub mod git;
pub mod hunk;
pub mod lines;
pub mod mail;
pub mod patches;
