//! Linux's own page allocator, built into a User-Mode Linux kernel and asked.
//!
//! [`tree`] gets and builds the kernels, [`uml`] runs a script on one.
//! `kernel/oracle/README.md` says what is built in, `docs/oracle-format.md` what is read and written.

pub mod campaign;
pub mod command;
pub mod error;
pub mod hunt;
pub mod keepsake;
pub mod mirror;
pub mod prepare;
pub mod process;
pub mod source;
pub mod tree;
pub mod uml;
pub mod version;

pub use error::{OracleError, Result};
pub use tree::{BuiltKernel, Kernel};
pub use version::KernelVersion;
