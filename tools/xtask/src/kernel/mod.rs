//! Linux kernels: takes a version, and provides its source, a folder for it and the commands that build it.
//!
//! [`source`] fetches the package of a [`version`] from Debian's mirror ([`apt`]), [`cache`] has a folder
//! for it, and [`process`] runs the commands that build it. [`crate::oracle`] and [`crate::series`] configure kernels.

pub(super) mod apt;
pub mod cache;
pub(super) mod debian;
pub mod error;
pub(super) mod files;
pub mod process;
pub(super) mod scratch;
pub mod source;
pub mod version;

pub use error::{KernelError, KernelResult};
pub use version::KernelVersion;
