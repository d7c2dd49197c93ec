//! The plan of a generated trace.

use freehold::Era;
use freehold_trace::Origin;

use super::host::Ground;
use super::zones;
use crate::error::LabError;
use crate::replay::Variant;

/// The size of a page in bytes.
const PAGE_BYTES: u64 = 4096;

/// The smallest memory of a machine: 64 MiB.
const LEAST_PAGES: u64 = 1 << 14;

/// The largest memory of a machine: 512 GiB, the same limit as for a replay.
const MOST_PAGES: u64 = 1 << 27;

/// The largest number of CPUs of a machine.
const MOST_CPUS: u16 = 1024;

/// A plan for a trace of the workload `mmap-read`. The same plan gives the same trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The allocator of the machine.
    pub variant: Variant,
    /// The number of pages of the machine.
    pub pages: u64,
    /// The number of CPUs of the machine.
    pub cpus: u16,
    /// The number of events after which the workload stops; `None` to stop at its end.
    pub events: Option<u64>,
}

impl Default for Plan {
    /// Seed 1 on a machine of 1 GiB with 4 CPUs and Linux 6.12, until the end of the workload.
    fn default() -> Self {
        Self { seed: 1, variant: Era::Linux6_12.into(), pages: 1 << 18, cpus: 4, events: None }
    }
}

impl Plan {
    /// Checks the sizes of the machine.
    ///
    /// # Errors
    /// [`LabError::Plan`] for too little or too much memory, or too few or too many CPUs.
    pub fn check(&self) -> Result<(), LabError> {
        let refuse = |what: String| Err(LabError::Plan { what });
        if !(LEAST_PAGES..=MOST_PAGES).contains(&self.pages) {
            let mib = |pages: u64| (pages * PAGE_BYTES) >> 20;
            return refuse(format!(
                "a machine of {} MiB; {} to {} MiB are possible",
                mib(self.pages),
                mib(LEAST_PAGES),
                mib(MOST_PAGES)
            ));
        }
        if !(1..=MOST_CPUS).contains(&self.cpus) {
            return refuse(format!("{} CPUs; 1 to {MOST_CPUS} are possible", self.cpus));
        }
        Ok(())
    }

    pub(super) fn ground(&self) -> Ground {
        Ground {
            start: zones::made_up(self.pages, self.cpus),
            switches: self.variant.switches(),
            seed: self.seed,
            // One event every three microseconds on each CPU.
            gap_ns: 3000 / u64::from(self.cpus),
            reclaims: true,
        }
    }

    /// Returns the command line of this plan, without the output file.
    pub fn command(&self) -> Vec<String> {
        let mut words =
            vec!["freehold".to_owned(), "dev".to_owned(), "generate".to_owned(), "mmap-read".to_owned()];
        let mib = (self.pages * PAGE_BYTES) >> 20;
        let options = [
            ("--seed", self.seed.to_string()),
            ("--era", self.variant.to_string()),
            ("--memory", format!("{mib}MiB")),
            ("--cpus", self.cpus.to_string()),
        ];
        let events = self.events.map(|events| ("--events", events.to_string()));
        for (name, value) in options.into_iter().chain(events) {
            words.extend([name.to_owned(), value]);
        }
        words
    }

    /// Returns the origin to write into the trace.
    pub(super) fn origin(&self) -> Origin {
        let kernel_release = match self.variant.era {
            Era::Linux6_1 => "6.1.0",
            Era::Linux6_12 => "6.12.30",
            _ => "7.3.0",
        };
        Origin {
            kernel_release: kernel_release.to_owned(),
            architecture: "x86_64".to_owned(),
            cpus: self.cpus.into(),
            page_bytes: PAGE_BYTES,
            command: self.command(),
            recorder: format!("generate, freehold {}", env!("CARGO_PKG_VERSION")),
            clock: "mono".to_owned(),
            ..Origin::default()
        }
    }
}
