//! `freehold top`: the page in a terminal.
//!
//! [`draw`] makes a page of a model and of a [`View`]; [`keys`] say what changes the view; [`run`] takes
//! samples, reads keys and gives the terminal back as it was.

mod ascii;
mod draw;
mod header;
pub mod keys;
mod map;
mod numbers;
mod pages;
mod rates;
mod rows;
mod run;
mod screen;
mod signals;
mod table;
mod theme;
mod trend;
mod view;
mod zones;

pub use draw::{LEAST, draw};
pub use run::{Colour, Options, TopError, run};
pub use theme::Theme;
pub use view::{Effect, Page, View};

/// The shortest and the longest time between samples, in seconds.
pub const INTERVAL_SECONDS: std::ops::RangeInclusive<f64> = 0.1..=60.0;
