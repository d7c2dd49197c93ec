//! The origin of a recording.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use freehold_trace::Origin;

use crate::procfs::{Processors, read_processors};
use crate::tracefs::TRACE_CLOCK;

/// Returns the origin of a recording of `command` that starts now. The pair holds the recorded events and
/// the events that this kernel lacks.
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

/// Returns the number of online CPUs, or 1 if the kernel does not list them.
pub(super) fn online_cpus() -> u32 {
    processors().online
}

/// Returns the processors of this machine, at least one.
fn processors() -> Processors {
    let found = read_processors(Path::new("/")).unwrap_or_default();
    Processors { online: found.online.max(1), ..found }
}
