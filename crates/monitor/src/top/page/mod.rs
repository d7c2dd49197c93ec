//! The page: in come model, history and view, out comes a screen of characters.

mod draw;
mod header;
mod map;
mod rates;
mod table;
mod trend;
mod words;
mod zones;

pub use draw::{LEAST, draw};
