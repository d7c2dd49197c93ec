//! `freehold top`: in come samples and keys, out comes a page in a terminal.
//!
//! [`draw`] makes a page of a model and of a [`View`]; [`keys`] say what changes the view; [`run`] takes
//! samples, reads keys and gives the terminal back as it was.

mod action;
pub mod keys;
mod page;
mod terminal;
mod text;
mod theme;
mod view;

pub use action::{Action, Page};
pub use page::{LEAST, draw};
pub use terminal::{Colour, TopError, TopOptions, run};
pub use theme::Theme;
pub use view::{Effect, View};

/// The shortest and the longest time between samples, in seconds.
pub const INTERVAL_SECONDS: std::ops::RangeInclusive<f64> = 0.1..=60.0;
