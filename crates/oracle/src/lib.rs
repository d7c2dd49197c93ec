//! Linux's own page allocator as the judge of the engine.
//!
//! A [`Script`] is a list of page allocator calls. The oracle, built into a real kernel,
//! plays it and writes a transcript of every answer; [`check`] plays the same calls on
//! the engine, started from the state that the transcript begins with, and stops at the
//! first difference. `docs/oracle-format.md` describes both files.

mod check;
pub mod families;
mod golden;
mod image;
mod kernel;
mod numbers;
mod player;
pub mod script;
mod script_file;
pub mod shrink;
mod state_summary;
mod transcript;
mod witness;
mod word;
mod writer;

pub use check::{Divergence, Options, Verdict, check};
pub use golden::{Golden, GoldenError};
pub use kernel::{KernelVersion, UnknownKernel};
pub use script::{Op, Place, Script, Step, Tunable};
pub use script_file::{FORMAT_VERSION, ScriptError};
pub use transcript::{ORACLE_VERSION, Transcript, TranscriptError};
pub use word::{Digest, Word};
