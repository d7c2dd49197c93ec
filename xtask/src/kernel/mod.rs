//! Linux kernels as such: in comes a version, out come its source, a place to keep it and what builds it.
//!
//! [`source`] asks Debian's mirror ([`mirror`]) for the package of a [`version`], [`cache`] has a
//! folder for it, [`process`] runs what builds it. What is built in is not known here: that is
//! [`crate::oracle`]'s and [`crate::series`]'s.

pub mod cache;
pub mod error;
pub(super) mod files;
pub mod mirror;
pub mod process;
pub(super) mod scratch;
pub mod source;
pub mod version;

pub use error::{KernelError, KernelResult};
pub use version::KernelVersion;
