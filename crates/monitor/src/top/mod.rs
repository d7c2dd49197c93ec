//! `freehold top`: samples and keys come in, pages in a terminal go out.
//!
//! [`draw`] makes a page of a model and of a [`View`]; [`keys`] change the view; [`run`] takes samples,
//! reads keys and restores the terminal at the end.

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
