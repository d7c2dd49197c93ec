//! Patches: takes `kernel/series` and a kernel's source, and makes the changed files and mails.

pub mod apply;
mod changed;
pub mod git;
pub mod hunk;
pub mod lines;
pub mod mail;
pub mod patches;
