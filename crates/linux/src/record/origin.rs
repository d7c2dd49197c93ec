//! Where a recording comes from.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use freehold_trace::Origin;

/// The trace clock of recordings; its counterpart is `CLOCK_MONOTONIC`.
pub(super) const TRACE_CLOCK: &str = "mono";

/// The origin of a recording of `command` that starts now on this machine; `events` are those that it holds, and
/// those that this kernel does not have.
pub(super) fn live(command: &[String], (events, missing): (&[String], &[String])) -> Origin {
    let uname = rustix::system::uname();
    Origin {
        kernel_release: uname.release().to_string_lossy().into_owned(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        cpu_model: cpu_model(),
        cpus: online_cpus(Path::new("/")),
        page_bytes: rustix::param::page_size() as u64,
        command: command.to_vec(),
        recorder: format!("record, freehold {}", env!("CARGO_PKG_VERSION")),
        started_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        clock: TRACE_CLOCK.to_owned(),
        events: events.to_vec(),
        missing_events: missing.to_vec(),
    }
}

/// Returns the model of this machine's processor; empty where `/proc/cpuinfo` does not tell it.
pub fn cpu_model() -> String {
    model_in(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

fn model_in(cpuinfo: &str) -> String {
    let row = cpuinfo.lines().find(|row| row.starts_with("model name") || row.starts_with("Model"));
    row.and_then(|row| row.split_once(':')).map_or(String::new(), |(_, model)| model.trim().to_owned())
}

/// How many CPUs are online, or 1 where the kernel does not say.
pub(super) fn online_cpus(root: &Path) -> u32 {
    let list = fs::read_to_string(root.join("sys/devices/system/cpu/online")).unwrap_or_default();
    count(list.trim()).unwrap_or(1).max(1)
}

/// The length of a list like `0-3,8`.
fn count(list: &str) -> Option<u32> {
    list.split(',')
        .map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_counted() {
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3,8,10-11"), Some(7));
        assert_eq!(count("3-1"), None);
        assert_eq!(count(""), None);
    }

    #[test]
    fn the_cpu_model_is_found() {
        assert_eq!(model_in("processor\t: 0\nmodel name\t: Foo 3\n"), "Foo 3");
        assert_eq!(model_in(""), "");
    }
}
