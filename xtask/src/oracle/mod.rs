//! Linux's own page allocator, built into a User-Mode Linux kernel and asked: in come scripts, out come transcripts.
//!
//! [`crate::kernel`] knows where kernels come from and are kept, [`tree`] builds them, [`uml`] runs a
//! script on one.
//! `kernel/oracle/README.md` says what is built in, `docs/oracle-format.md` what is read and written.

pub mod campaign;
pub mod command;
pub mod error;
pub mod hunt;
pub mod keepsake;
pub mod prepare;
pub mod tree;
pub mod uml;

pub use error::{OracleError, OracleResult};
pub use tree::{BuiltKernel, Kernel};
