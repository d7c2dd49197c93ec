//! Compares the engine with Linux's own page allocator.
//!
//! A [`Script`] is a list of page allocator calls. The oracle, built into a real kernel, plays it and
//! writes a transcript of every answer. [`check`] plays the same calls on the engine, from the state at
//! the start of the transcript, and stops at the first difference. `docs/reference/oracle-format.md` describes both
//! files.

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
