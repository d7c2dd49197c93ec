//! `freehold sweep`: traces and settings come in, a table of every combination's measures goes out.

mod journal;
mod runs;

pub(crate) use runs::run;
