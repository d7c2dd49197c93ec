//! The arguments of `freehold fallbacks`.

use std::path::PathBuf;

use clap::Args;

pub(super) const LONG_ABOUT: &str = "\
Count the requests that were served from free blocks of another type (mm_page_alloc_extfrag): which type takes from \
which, at which orders, and which task.

The file is a trace, a text of ftrace, trace-cmd report or perf script (also as .gz, .xz or .zst), or a perf.data. It needs no \
other event and no state of the machine. A text has numbers for types, which --pagetypeinfo or --kernel-release \
names; without both they are those of Linux 4.4 and later.";

#[derive(Args, Debug)]
pub(crate) struct Fallbacks {
    /// The trace, the text or the perf.data.
    pub(crate) file: PathBuf,
    /// A copy of the machine's /proc/pagetypeinfo, whose rows name the types.
    #[arg(long, value_name = "FILE")]
    pub(crate) pagetypeinfo: Option<PathBuf>,
    /// The machine's `uname -r`, which decides the numbers of the types.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "RELEASE")]
    pub(crate) kernel_release: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
