//! The tests of the lab as one program: each program more is linked, and compiles what the tests share, once more.

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
