//! Transcripts: the bytes that the oracle wrote come in; words go out.
//!
//! `golden.rs` reads and writes the golden files of the tests.

mod golden;
mod reader;
mod word;

pub use golden::{Golden, GoldenError};
pub use reader::{ORACLE_VERSION, Transcript, TranscriptError};
pub use word::{Digest, Word};
