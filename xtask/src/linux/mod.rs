//! The project's own series for Linux: applied, turned into mails, built, booted and measured.
//!
//! The way of a patch: [`series`] reads `kernel/series`, [`hunk`] the heads of its semantic patches;
//! [`apply`] lets Coccinelle change the files of a source tree, and [`place`] says where a file was
//! changed, so that a hunk that found too little or too much stops everything. [`mail`] turns the
//! outcome into mails for `git am`.
//!
//! The way of a kernel: [`workshop`] unpacks the source, keeps a tree with the series and one without,
//! and builds what a [`recipe`] asks for in one of its variants ([`variant`]). [`command`] is the command
//! line.
//!
//! The way of a figure: [`guest`] packs the only process of a booted kernel, [`boot`] runs both under
//! User-Mode Linux, [`console`] reads what they said, [`ktap`] what `KUnit` said; [`test`] looks for what is
//! wrong, [`bench`] takes turns with the variants, and [`figures`] and [`report`] make tables of it.
//! [`qemu`] runs them on an emulated machine: [`load`] from all sides, [`instructions`] to count those.

pub mod apply;
pub mod bench;
pub mod boot;
pub mod command;
mod config;
pub mod console;
pub mod error;
pub mod figures;
pub mod git;
pub mod guest;
pub mod hunk;
pub mod identity;
pub mod instructions;
pub mod ktap;
pub mod lines;
pub mod load;
pub mod mail;
pub mod place;
pub mod qemu;
pub mod recipe;
pub mod report;
pub(crate) mod scratch;
pub mod series;
pub mod test;
mod tree;
pub mod variant;
pub mod workshop;

pub use error::{LinuxError, Result};
pub use recipe::{Arch, Recipe};
pub use series::Series;
pub use variant::Variant;
pub use workshop::{Built, Workshop};
