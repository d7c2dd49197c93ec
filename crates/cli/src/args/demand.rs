//! The arguments of `freehold demand`.

use clap::Args;

use super::common::Input;

pub(super) const LONG_ABOUT: &str = "\
Print the requests of a trace as `freehold rehearse` reads them: what tasks had in use when they had the most.

Memory that was in use before the recording is not counted, and page cache is only a comment: the kernel takes it back. \
Without --pid the requests are those of all tasks, also of those that only ran meanwhile.";

#[derive(Args, Debug)]
pub(crate) struct Demand {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Only requests of this task, as the trace numbers it; again for others.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Vec<i32>,
}
