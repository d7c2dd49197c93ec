//! The description of the machine in a trace, without identifying texts. Only texts from fixed lists of Linux's own
//! names stay; all others are removed.

use std::collections::{BTreeMap, HashMap};

use freehold::ZoneType;
use freehold_trace::{
    Disturbance, Ending, ExactPart, ExactState, ExactZone, KernelTypes, Origin, PageTypeInfo, PageTypeZone,
    SYSCTLS, Snapshot, ZoneSnapshot, event_names,
};

use super::shared_times::SharedClock;
use crate::recorded::RecordedCounters;

/// Groups of trace events.
const GROUPS: [&str; 5] = ["kmem", "compaction", "vmscan", "page_isolation", "cma"];

/// The clocks of tracefs.
const CLOCKS: [&str; 10] =
    ["local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai", "x86-tsc"];

/// The architectures that `uname -m` prints.
const ARCHITECTURES: [&str; 14] = [
    "x86_64",
    "i686",
    "aarch64",
    "armv7l",
    "armv8l",
    "riscv64",
    "ppc64",
    "ppc64le",
    "s390x",
    "loongarch64",
    "mips64",
    "parisc64",
    "sparc64",
    "alpha",
];

/// The replacement of a removed text.
const LEFT_OUT: &str = "left out";

/// The new numbers of tasks, in the order of their first events: 1, 2, 3 and so on.
#[derive(Debug, Default)]
pub(super) struct Tasks(HashMap<i32, i32>);

impl Tasks {
    /// Returns the new number of a task; 0 for an unknown task.
    pub(super) fn number(&mut self, pid: i32) -> i32 {
        if pid == 0 {
            return 0;
        }
        let next = i32::try_from(self.0.len() + 1).unwrap_or(i32::MAX);
        *self.0.entry(pid).or_insert(next)
    }
}

/// Returns the origin without kernel build, processor, command and date.
pub(super) fn origin(origin: &Origin, blur_ns: u64) -> Origin {
    let command = if origin.command.is_empty() { Vec::new() } else { vec![LEFT_OUT.to_owned()] };
    let recorder = format!(
        "trace anonymize, freehold {}: times moved by up to {} us",
        env!("CARGO_PKG_VERSION"),
        blur_ns / 1000
    );
    Origin {
        kernel_release: version(&origin.kernel_release),
        architecture: one_of(&ARCHITECTURES, &origin.architecture),
        cpu_model: String::new(),
        cpus: origin.cpus,
        page_bytes: origin.page_bytes,
        command,
        recorder,
        started_unix_s: 0,
        clock: one_of(&CLOCKS, &origin.clock),
        events: known_events(&origin.events),
        missing_events: known_events(&origin.missing_events),
    }
}

/// Returns a text if a list contains it, otherwise an empty text.
fn one_of(list: &[&str], text: &str) -> String {
    list.iter().find(|&&known| known == text).map_or_else(String::new, |&known| known.to_owned())
}

/// Returns the numbers at the start of a release, three at most.
fn version(release: &str) -> String {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    let numbers = release[..end].split('.').filter(|number| !number.is_empty());
    numbers.take(3).collect::<Vec<_>>().join(".")
}

fn known_events(events: &[String]) -> Vec<String> {
    let is_known = |event: &&String| {
        let parts = event.split_once(':');
        parts.is_some_and(|(group, name)| GROUPS.contains(&group) && event_names().any(|known| known == name))
    };
    events.iter().filter(is_known).cloned().collect()
}

/// Returns a snapshot without identifying texts, on the shared clock. Its counters start at 0 in `start`.
pub(super) fn snapshot(snapshot: &Snapshot, start: &Snapshot, clock: SharedClock) -> Snapshot {
    let Snapshot { time_ns, zones, pagetypeinfo, vmstat, sysctl, occupancy, exact } = snapshot;
    let mut sysctl = sysctl.clone();
    sysctl.retain(|name, value| SYSCTLS.contains(&name.as_str()) && is_of_numbers(value));
    Snapshot {
        time_ns: clock.time_ns(*time_ns),
        zones: zones
            .iter()
            .map(|zone| ZoneSnapshot { name: zone_name(&zone.name), ..zone.clone() })
            .collect(),
        pagetypeinfo: PageTypeInfo {
            pageblock_order: pagetypeinfo.pageblock_order,
            zones: pagetypeinfo.zones.iter().map(type_zone).collect(),
            types: unnamed_types(&pagetypeinfo.types),
        },
        vmstat: since(vmstat, &start.vmstat),
        sysctl,
        occupancy: occupancy.clone(),
        exact: exact_part(exact, clock),
    }
}

fn type_zone(zone: &PageTypeZone) -> PageTypeZone {
    PageTypeZone { name: zone_name(&zone.name), ..zone.clone() }
}

fn exact_part(exact: &ExactPart, clock: SharedClock) -> ExactPart {
    match exact {
        ExactPart::Taken(exact) => {
            let zones = exact.zones.iter();
            let zones = zones.map(|zone| ExactZone { name: zone_name(&zone.name), ..zone.clone() });
            ExactPart::Taken(Box::new(ExactState {
                begin_ns: clock.time_ns(exact.begin_ns),
                end_ns: clock.time_ns(exact.end_ns),
                zones: zones.collect(),
                ..**exact
            }))
        }
        ExactPart::Missing { missing } => {
            let missing = if missing.is_empty() { String::new() } else { LEFT_OUT.to_owned() };
            ExactPart::Missing { missing }
        }
    }
}

/// Returns the name of a zone if Linux has such a zone.
fn zone_name(name: &str) -> String {
    if ZoneType::from_name(name).is_some() { name.to_owned() } else { LEFT_OUT.to_owned() }
}

/// Returns the types. Types of vendors get numbers instead of names.
fn unnamed_types(types: &KernelTypes) -> KernelTypes {
    let numbered = types.iter().enumerate();
    let names: Vec<_> = numbered
        .map(|(at, kind)| kind.linux().map_or_else(|| format!("Vendor{at}"), |kind| kind.name().to_owned()))
        .collect();
    KernelTypes::from_names(names.iter().map(String::as_str)).unwrap_or_default()
}

/// Returns the growth of the measured counters since the start.
fn since(counters: &BTreeMap<String, u64>, start: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let grown = |(name, count): (&String, &u64)| {
        RecordedCounters::NAMES
            .contains(&name.as_str())
            .then(|| Some((name.clone(), count.saturating_sub(*start.get(name)?))))?
    };
    counters.iter().filter_map(grown).collect()
}

fn is_of_numbers(value: &str) -> bool {
    value.split_ascii_whitespace().all(|word| word.parse::<i64>().is_ok())
}

/// Returns the ending without the exit code of the command, the trigger, and the cost of the recording.
pub(super) fn ending(ending: &Ending, start: &Snapshot, clock: SharedClock) -> Ending {
    let Disturbance { own_events, buffer_pages, .. } = ending.disturbance;
    Ending {
        snapshot: ending.snapshot.as_ref().map(|end| snapshot(end, start, clock)),
        lost_by_cpu: ending.lost_by_cpu.clone(),
        command_exit: None,
        disturbance: Disturbance { own_events, buffer_pages, ..Disturbance::default() },
        stopped_by: ending.stopped_by,
        trigger: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymized_releases_keep_their_version() {
        let known = ["6.18.44", "6.1.0-18-amd64", "6.12.3-acme+", "6.6.30-rc2", "acme-6.1", "", "7.3.0.5"];
        assert_eq!(known.map(version), ["6.18.44", "6.1.0", "6.12.3", "6.6.30", "", "", "7.3.0"]);
    }

    #[test]
    fn tasks_are_numbered_by_first_event() {
        let mut tasks = Tasks::default();
        assert_eq!([70, 0, 5, 70, -3].map(|pid| tasks.number(pid)), [1, 0, 2, 1, 3]);
    }

    #[test]
    fn events_unknown_to_linux_are_removed() {
        let events = ["kmem:mm_page_alloc", "acme:mm_page_alloc", "kmem:acme", "kmem", "kmem:lost"];
        assert_eq!(known_events(&events.map(str::to_owned)), ["kmem:mm_page_alloc"]);
    }
}
