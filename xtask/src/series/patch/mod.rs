//! Patches: in come `kernel/series` and a kernel's source, out come the files that the series changes, and mails.

pub mod apply;
mod changed;
pub mod git;
pub mod hunk;
pub mod lines;
pub mod mail;
pub mod patches;
