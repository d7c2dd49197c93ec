//! The project's own series for Linux: applied, turned into mails, built, booted and measured.
//!
//! The way of a patch: [`series`] reads `kernel/series`, [`hunk`] the heads of its semantic patches;
//! [`apply`] lets Coccinelle change the files of a source tree, and [`place`] says where a file was
//! changed, so that a hunk that found too little or too much stops everything. [`command`] is the
//! command line.

pub mod apply;
pub mod command;
pub mod error;
pub mod hunk;
pub mod lines;
pub mod place;
pub mod scratch;
pub mod series;
pub mod variant;

pub use error::{LinuxError, Result};
pub use series::Series;
pub use variant::Variant;
