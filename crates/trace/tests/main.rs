//! The tests of the trace format in one program.

mod common;
mod damage;
mod round_trip;
