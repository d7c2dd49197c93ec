//! The tests that need nothing of the machine, as one program.

mod damage;
mod fixtures;
mod pageblocks;
mod perf_data;
mod perf_files;
mod roots;
mod samples;
