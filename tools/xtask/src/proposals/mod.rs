//! Reproduces the proposals' tables on real kernels: takes a workload and a kernel with and without a proposal's
//! change, and returns the proposal's figures next to the measured ones.
//!
//! [`list`] names the series, the kernel and the workload of a proposal. [`guest`] boots one side with the workload in
//! QEMU. [`figures`] parses the guest's output, [`rows`] computes the rows of a proposal's table from it, and [`table`]
//! writes them next to the proposal's own. [`command`] is the command line.

pub mod command;
pub(super) mod figures;
pub(super) mod guest;
pub mod list;
pub(super) mod rows;
pub(super) mod table;
