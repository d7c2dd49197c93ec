//! The difference of two snapshots: two pictures of free memory come in, what changed goes out as text or JSON.
//!
//! A `picture.rs` is read from the JSON of `freehold snapshot`, so that files and live machines are compared alike. `change.rs`
//! compares two of them zone by zone, and `text.rs` prints the result on one screen.

mod change;
mod picture;
mod text;

pub use change::{Change, Difference, ZoneChange};
pub use picture::{Picture, PictureError, ZonePicture};
