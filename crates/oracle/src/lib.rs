//! Compares the engine with Linux's page allocator.
//!
//! A [`Script`] is a list of calls to the page allocator. The oracle is C code in a real kernel. It plays the script,
//! and writes the result of every call to a transcript. [`check`] plays the same calls on the engine, from the start
//! state in the transcript, and stops at the first difference. `docs/reference/oracle-format.md` describes both files.

mod comparison;
mod engine;
pub mod families;
mod kernel;
pub mod script;
mod transcript;

pub use comparison::{CheckOptions, Divergence, Verdict, check};
pub use kernel::{KernelVersion, UnknownKernel};
pub use script::{FORMAT_VERSION, Op, Place, Script, ScriptError, Step, Tunable};
pub use transcript::{Digest, Golden, GoldenError, ORACLE_VERSION, Transcript, TranscriptError, Word};
