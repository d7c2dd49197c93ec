//! Linux's own page allocator, built into a User-Mode Linux kernel: scripts come in, transcripts go out.
//!
//! [`crate::kernel`] gets kernels and has a cache of them, [`tree`] builds them, [`uml`] runs a script on
//! one. `kernel/oracle/README.md` says what is built in, `docs/reference/oracle-format.md` what is read and
//! written.

pub mod campaign;
pub mod command;
pub mod error;
pub mod kept_transcripts;
mod patched;
pub mod prepare;
pub mod shrink_failure;
pub mod tree;
pub mod uml;

pub use error::{OracleError, OracleResult};
pub use tree::{BuiltKernel, Kernel};
