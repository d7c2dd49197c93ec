//! The tests of the oracle as one program.

mod golden;
mod scripts;
mod transcripts;
