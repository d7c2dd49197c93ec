//! `freehold sweep`: in come traces and settings, out comes a table of every combination's measures.

mod journal;
mod runs;

pub(crate) use runs::run;
