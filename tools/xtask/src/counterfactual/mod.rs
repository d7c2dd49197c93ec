//! Foretold and came: a workload under two settings comes in; how `freehold predict` did goes out.
//!
//! [`cases`] says which [`workloads`] run under which sides. [`recordings`] makes what is missing, in turns, in
//! QEMU ([`guest`], which boots the image of [`root`] with a kernel of [`kernels`]). [`predicted`] asks `freehold predict --against`,
//! [`score`] counts its verdicts, [`costs`] tells what the work left and took, [`apart`] how far sides are apart in that,
//! [`over_time`] holds free pageblocks over time against the replays';
//! [`page`] and [`parquet`] keep them.

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
