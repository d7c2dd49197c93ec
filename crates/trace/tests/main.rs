//! The tests of the trace format as one program.

mod common;
mod damage;
mod round_trip;
