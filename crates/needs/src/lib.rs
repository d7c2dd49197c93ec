//! The requirements of tests on the machine that they run on.
//!
//! Functions that check a requirement take the name of the test. If the machine lacks the requirement, they call
//! [`skip`] with the name and the reason, and return false or `None`. Only tests depend on this crate.
#![forbid(unsafe_code)]

mod browser;
mod control;
mod http;
mod machine;
mod memory_cgroup;
mod patience;
mod skip;
mod tmpfs;
mod unprivileged;

pub use browser::Browser;
pub use control::{Drift, Judgement, SMALLEST_WRONG, Tried};
pub use http::{request, request_json};
pub use machine::{can, has_file, has_program, is_root};
pub use memory_cgroup::MemoryCgroup;
pub use patience::{PATIENCE, wait_for};
pub use skip::{skip, too_busy};
pub use tmpfs::SmallTmpfs;
pub use unprivileged::unprivileged_command;
