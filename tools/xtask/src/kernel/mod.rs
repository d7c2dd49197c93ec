//! Linux kernels: a version comes in; its source, a folder for it and the commands that build it go out.
//!
//! [`source`] gets the package of a [`version`] from Debian's mirror ([`apt`]), [`cache`] has a folder
//! for it, [`process`] runs the commands that build it. What is built into a kernel is decided in
//! [`crate::oracle`] and [`crate::series`].

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
