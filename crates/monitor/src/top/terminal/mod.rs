//! The terminal: keys, signals and the time come in, pages go out.

mod run;
mod screen;
mod signals;

pub use run::{Colour, TopError, TopOptions, run};
