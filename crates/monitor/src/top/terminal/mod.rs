//! The terminal: in come keys, signals and the time, out go pages, until somebody ends it.

mod run;
mod screen;
mod signals;

pub use run::{Colour, TopError, TopOptions, run};
