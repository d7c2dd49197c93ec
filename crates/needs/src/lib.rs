//! What tests need of the machine that they run on.
//!
//! Every function takes the name of the test that calls it. If the machine lacks what the test needs, the function
//! returns false or `None`, and has called [`skip`] with the name and the reason. Only tests depend on this crate.
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
