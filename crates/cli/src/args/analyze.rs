//! The arguments of `freehold analyze`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Form, Input};

pub(super) const LONG_ABOUT: &str = "\
Show what a trace asks of an allocator: requests by order and type, how long pages live, who allocates \
(told by the gfp flags, named as Linux prints them), how unevenly requests come, and which pageblocks \
hold pages of several types at the start and at the end.

Nothing is replayed. The trace is read once; memory depends on the size of the recorded machine (about \
17 bytes for each page that an event names), not on the number of events.

Lifetimes are of pages: of a block that is split and freed in parts each page counts when it is freed. \
Percentiles are up to an eighth too long. Pages from before the trace and pages that compaction moved \
have no known lifetime and are counted apart.";

#[derive(Args, Debug)]
pub(crate) struct Analyze {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Also draw lifetimes.svg, lifetimes-cdf.svg and allocations.svg into this folder, which is made
    /// where it is missing; older pictures of these names are replaced.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,
}
