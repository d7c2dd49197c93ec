//! The tests of the lab as one program, because each test program is linked separately and compiles the shared code
//! again.

mod analysis;
mod anonymize;
mod bound;
mod brought_rules;
mod common;
mod compaction;
mod exact;
mod gaps;
mod hindsight;
mod holes;
mod knobs;
mod places;
mod predict;
mod proactive;
mod random;
mod reclaim;
mod relocation;
mod rules;
mod start;
mod switches;
mod sysctls;
mod widths;
mod workloads;
