//! The properties of a trace's file: a row of the index.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use freehold_lab::{Loaded, RecordedCounters, sentence};
use freehold_trace::{Ending, ExactPart, ReadOptions, Snapshot, TraceError, TraceReader, TraceSummary};
use serde::{Deserialize, Serialize};

use crate::kernel::files::sha256;

/// A row of the index: the properties of a trace's file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The trace's name.
    pub name: String,
    /// Its file in the repository, or the command that makes it.
    pub place: String,
    /// The SHA-256 of the file in hexadecimal digits.
    pub sha256: String,
    /// The file's size.
    pub bytes: i64,
    /// `uname -r` of the recorded machine.
    pub kernel: String,
    /// `uname -m` of the recorded machine.
    pub architecture: String,
    /// The processor's name from the machine; empty for an emulated arm64 machine.
    pub processor: String,
    /// The number of online CPUs.
    pub cpus: i64,
    /// The size of a page.
    pub page_bytes: i64,
    /// The order of a pageblock.
    pub pageblock_order: i64,
    /// The memory of the allocator in all zones.
    pub memory_bytes: i64,
    /// The number of nodes with memory.
    pub nodes: i64,
    /// The memory in CMA areas.
    pub cma_bytes: i64,
    /// The recorded command.
    pub workload: String,
    /// The memory pressure: see [`Pressure`].
    pub pressure: String,
    /// The number of events of all kinds.
    pub events: i64,
    /// The number of allocations, including failed ones.
    pub allocations: i64,
    /// The number of frees.
    pub frees: i64,
    /// The number of allocations that took a block of another type.
    pub fallbacks: i64,
    /// The time from the first event to the last one.
    pub seconds: f64,
    /// The number of events that the kernel lost.
    pub lost: i64,
    /// True if the recording has every free block at its start; otherwise a replay fits a start to the counts.
    pub start_is_exact: bool,
    /// The era nearest to the recorded kernel.
    pub era: String,
    /// The number of parts in which the replay of that era agrees with the machine within the bounds.
    pub trust_kept: i64,
    /// The number of compared parts.
    pub trust_parts: i64,
}

/// The memory pressure, by the machine's strongest reaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Pressure {
    /// No reclaim.
    None,
    /// Reclaim by kswapd.
    Kswapd,
    /// Direct reclaim by requests.
    DirectReclaim,
}

impl Pressure {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Kswapd => "kswapd",
            Self::DirectReclaim => "direct reclaim",
        }
    }

    /// Returns the pressure according to the events or, if such events were not recorded, the machine's counters.
    fn new(summary: &TraceSummary, start: &Snapshot, ending: Option<&Ending>) -> Self {
        let end = ending.and_then(|ending| ending.snapshot.as_ref());
        let grown = end.map(|end| RecordedCounters::between(&start.vmstat, &end.vmstat)).unwrap_or_default();
        if summary.kinds.direct_reclaim > 0 || grown.allocstall.is_some_and(|count| count > 0) {
            Self::DirectReclaim
        } else if summary.kinds.kswapd_wake > 0 || grown.pgscan_kswapd.is_some_and(|pages| pages > 0) {
            Self::Kswapd
        } else {
            Self::None
        }
    }
}

impl Row {
    /// Reads a trace, and replays it in the era nearest to its kernel.
    ///
    /// # Errors
    /// If the file cannot be read or replayed.
    pub fn read(name: &str, file: &Path, place: String) -> Result<Self, String> {
        let failed =
            |error: &(dyn std::error::Error + 'static)| format!("{}: {}", file.display(), sentence(error));
        let mut reader = open(name, file).map_err(|error| failed(&error))?;
        let summary = TraceSummary::read(&mut reader).map_err(|error| failed(&error))?;
        let (origin, start) = (reader.origin(), reader.start());
        let pages = |of: fn(&freehold_trace::ZoneSnapshot) -> u64| start.zones.iter().map(of).sum::<u64>();
        let mut nodes: Vec<_> =
            start.zones.iter().filter(|zone| zone.managed > 0).map(|zone| zone.node).collect();
        nodes.dedup();
        let loaded = Loaded::read(name, || open(name, file), |_| {}).map_err(|error| failed(&error))?;
        let trust = loaded.lab().and_then(|lab| lab.trust()).map_err(|error| failed(&error))?;
        let parts = trust.iter().flat_map(|trust| &trust.parts);
        Ok(Self {
            name: name.to_owned(),
            place,
            sha256: sha256(file).map_err(|error| error.to_string())?,
            bytes: count(summary.bytes),
            kernel: origin.kernel_release.clone(),
            architecture: origin.architecture.clone(),
            processor: origin.cpu_model.clone(),
            cpus: i64::from(origin.cpus),
            page_bytes: count(origin.page_bytes),
            pageblock_order: i64::from(start.pagetypeinfo.pageblock_order),
            memory_bytes: count(pages(|zone| zone.managed) * origin.page_bytes),
            nodes: nodes.len() as i64,
            cma_bytes: count(pages(|zone| zone.cma) * origin.page_bytes),
            workload: origin.command.join(" "),
            pressure: Pressure::new(&summary, start, reader.ending()).name().to_owned(),
            events: count(summary.events),
            allocations: count(summary.kinds.alloc),
            frees: count(summary.kinds.free),
            fallbacks: count(summary.kinds.extfrag),
            seconds: summary.duration_ns() as f64 / 1e9,
            lost: count(summary.lost.max(summary.lost_at_end)),
            start_is_exact: matches!(start.exact, ExactPart::Taken(_)),
            era: trust.as_ref().map(|trust| trust.variant.clone()).unwrap_or_default(),
            trust_kept: parts.clone().filter(|part| part.is_kept()).count() as i64,
            trust_parts: parts.count() as i64,
        })
    }
}

fn open(name: &str, file: &Path) -> Result<TraceReader<BufReader<File>>, TraceError> {
    let opened = File::open(file).map_err(|source| TraceError::Unopened { file: name.to_owned(), source })?;
    TraceReader::open(BufReader::with_capacity(1 << 20, opened), ReadOptions::new(name))
}

fn count(number: u64) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_the_strongest_reaction() {
        let pressure = |kswapd_wake, direct_reclaim, scanned: u64| {
            let mut summary = TraceSummary::default();
            (summary.kinds.kswapd_wake, summary.kinds.direct_reclaim) = (kswapd_wake, direct_reclaim);
            let reading = |pages| {
                let vmstat = [("pgscan_kswapd".to_owned(), pages)].into();
                Snapshot { vmstat, ..Snapshot::default() }
            };
            let ending = Ending { snapshot: Some(reading(7 + scanned)), ..Ending::default() };
            Pressure::new(&summary, &reading(7), Some(&ending))
        };
        assert_eq!(pressure(0, 0, 0), Pressure::None);
        assert_eq!(pressure(1, 0, 0), Pressure::Kswapd);
        assert_eq!(pressure(0, 0, 5), Pressure::Kswapd);
        assert_eq!(pressure(1, 1, 5), Pressure::DirectReclaim);
    }
}
