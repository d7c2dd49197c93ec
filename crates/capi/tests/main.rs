//! The tests of the C interface as one program.

mod header;
mod program;
