//! The tests of the oracle in one program.

mod golden;
mod scripts;
mod transcripts;
