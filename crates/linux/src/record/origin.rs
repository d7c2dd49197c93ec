//! Where a recording comes from.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use freehold_trace::Origin;

use crate::procfs::{Processors, read_processors};

/// The trace clock of recordings; its counterpart is `CLOCK_MONOTONIC`.
pub(super) const TRACE_CLOCK: &str = "mono";

/// The origin of a recording of `command` that starts now on this machine; `events` are those that it holds, and
/// those that this kernel does not have.
pub(super) fn live(command: &[String], (events, missing): (&[String], &[String])) -> Origin {
    let uname = rustix::system::uname();
    let processors = processors();
    Origin {
        kernel_release: uname.release().to_string_lossy().into_owned(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        cpu_model: processors.model,
        cpus: processors.online,
        page_bytes: rustix::param::page_size() as u64,
        command: command.to_vec(),
        recorder: format!("record, freehold {}", env!("CARGO_PKG_VERSION")),
        started_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        clock: TRACE_CLOCK.to_owned(),
        events: events.to_vec(),
        missing_events: missing.to_vec(),
    }
}

/// How many CPUs are online, or 1 where the kernel does not say.
pub(super) fn online_cpus() -> u32 {
    processors().online
}

/// The processors of this machine, at least one.
fn processors() -> Processors {
    let found = read_processors(Path::new("/")).unwrap_or_default();
    Processors { online: found.online.max(1), ..found }
}
