//! The arguments of `freehold explain`.

use std::path::PathBuf;

use clap::Args;

pub(super) const LONG_ABOUT: &str = "\
Explain why an allocation failed, from the kernel's own report: a page allocation failure, an OOM kill, or a \
failure of vmalloc, CMA, a pool of huge pages or a slab cache.

The text may come from dmesg, journalctl, a syslog, a serial console or a quoted mail; lines that belong to no \
report are skipped. Of a folder or a tar archive of a support tool the kernel logs are read: dmesg, messages, syslog, \
journalctl and their like. Memory does not grow with the length of the log. If it has several reports, a table of \
their kinds comes first, then the answer to the newest of each kind; --json has only the newest of all.

The answer's first two lines name the class: shortage, fragmentation, reserve, lowmem, node policy, cgroup \
limit, address space, a size no zone can have, or undecided. A line for each zone follows.

Exit codes: 0 explained, also if undecided; 65 the text has no report; 66 the file cannot be read.";

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// A log (plain, .gz, .xz, .zst), a folder or a tar archive; `-` or none is stdin.
    #[arg(default_value = "-", hide_default_value = true)]
    pub(crate) file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
