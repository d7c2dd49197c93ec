//! Predicted and observed: takes a workload under two settings, and scores `freehold predict`.
//!
//! [`cases`] says which [`workloads`] run under which sides. [`recordings`] makes what is missing, in turns, in
//! QEMU ([`guest`], which boots the image of [`root`] with a kernel of [`kernels`]).
//! [`predicted`] runs `freehold predict --against`, and [`score`] counts its verdicts. [`costs`] reads the state after
//! the work and its cost, and [`apart`] compares the sides in both. [`over_time`] compares free pageblocks over time
//! with the replays. [`page`] and [`parquet`] write the results.

mod apart;
pub(super) mod cases;
pub mod command;
mod costs;
pub(crate) mod guest;
pub(super) mod kernels;
mod over_time;
pub(super) mod page;
pub(super) mod parquet;
pub(super) mod predicted;
pub(crate) mod programs;
pub(super) mod recordings;
pub(crate) mod root;
pub(super) mod score;
pub(super) mod workloads;
