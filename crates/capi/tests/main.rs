//! The tests of the C interface in one program.

mod header;
mod program;
