//! The page: model, history and view come in, a screen of characters goes out.

mod draw;
mod gigabytes;
mod header;
mod map;
mod rates;
mod table;
mod trend;
mod words;
mod zones;

pub use draw::{LEAST, draw};
