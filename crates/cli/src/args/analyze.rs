//! The arguments of `freehold analyze`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Form, Input};

pub(super) const LONG_ABOUT: &str = "\
Show the requests of a trace: orders, types, lifetimes, callers by gfp flags, bursts, and pageblocks that contain \
pages of several types at the start and at the end.

The command replays nothing and reads the trace once. It needs about 17 bytes for each page that an event names.

Lifetimes belong to pages: if a block is freed in parts, each page counts when it is freed. Percentiles are at most \
an eighth too long. Pages from before the trace, and pages that compaction moved, have no known lifetime and are \
counted separately.";

#[derive(Args, Debug)]
pub(crate) struct Analyze {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Also draw SVG pictures into this folder; older ones are replaced.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,
}
