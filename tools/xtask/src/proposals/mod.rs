//! The proposals' own tables on real kernels: a workload and a kernel with and without what a proposal is about come in; the proposal's
//! figures beside those that came go out.
//!
//! [`list`] says which series, kernel and workload a proposal needs. [`guest`] boots one side with the workload in QEMU.
//! [`figures`] reads what the guest said, [`rows`] takes the rows of a proposal's table from it, [`table`] puts them beside the
//! proposal's own. [`command`] is the command line.

pub mod command;
pub(super) mod figures;
pub(super) mod guest;
pub mod list;
pub(super) mod rows;
pub(super) mod table;
