//! Linux's own page allocator in a User-Mode Linux kernel: takes scripts, and returns transcripts.
//!
//! [`crate::kernel`] fetches kernels into a cache, [`tree`] builds them, and [`uml`] runs a script on one.
//! `kernel/oracle/README.md` describes the oracle in the kernel, and `docs/reference/oracle-format.md` the formats of
//! scripts and transcripts.

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
