//! What is to be generated.

use std::fmt;

use freehold::Era;
use freehold_trace::Origin;

use super::boot_free::BootFree;
use super::host::Ground;
use super::mmap_read::MmapRead;
use super::pagealloc::Pagealloc;
use super::{Load, zones};
use crate::{LabError, Variant};

/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;

/// The least memory of a machine: 64 MiB.
const LEAST_PAGES: u64 = 1 << 14;

/// The most memory of a machine, which is what the lab replays: 512 GiB.
const MOST_PAGES: u64 = 1 << 27;

/// The most CPUs of a machine.
const MOST_CPUS: u16 = 1024;

/// A workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// Readers of mapped files fill the page cache under fragmentation.
    MmapRead,
    /// A boot that frees more than 2 000 pages at once, a hundred times.
    BootFree,
    /// Blocks of orders 4 and 0, N at a time, on one CPU.
    Pagealloc,
}

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 3] = [Self::MmapRead, Self::BootFree, Self::Pagealloc];

    /// The name used on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MmapRead => "mmap-read",
            Self::BootFree => "boot-free",
            Self::Pagealloc => "pagealloc",
        }
    }

    /// The workload with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|workload| workload.name() == name)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is to be generated. The same plan gives the same trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// What keeps the machine busy.
    pub workload: Workload,
    /// Another seed, another trace.
    pub seed: u64,
    /// The allocator of the machine.
    pub variant: Variant,
    /// Pages of the machine.
    pub pages: u64,
    /// CPUs of the machine.
    pub cpus: u16,
    /// Stop behind the first step that has recorded so many events; `None` for when the
    /// workload is done.
    pub events: Option<u64>,
}

impl Plan {
    /// A workload by seed 1 on a machine of 4 GiB with 4 CPUs and Linux 6.12, until it is done.
    pub fn new(workload: Workload) -> Self {
        Self { workload, seed: 1, variant: Era::Linux6_12.into(), pages: 1 << 20, cpus: 4, events: None }
    }

    /// Whether such a machine can be made up.
    ///
    /// # Errors
    /// [`LabError::OutOfRange`] for too little or too much memory, or CPUs.
    pub fn check(&self) -> Result<(), LabError> {
        let out_of_range = |what: String| Err(LabError::OutOfRange { what });
        if !(LEAST_PAGES..=MOST_PAGES).contains(&self.pages) {
            let mib = |pages: u64| pages * PAGE_BYTES >> 20;
            return out_of_range(format!(
                "a machine of {} MiB; {} to {} MiB can be made up",
                mib(self.pages),
                mib(LEAST_PAGES),
                mib(MOST_PAGES)
            ));
        }
        if !(1..=MOST_CPUS).contains(&self.cpus) {
            return out_of_range(format!("{} CPUs; 1 to {MOST_CPUS} can be made up", self.cpus));
        }
        Ok(())
    }

    pub(super) fn ground(&self) -> Ground {
        Ground {
            start: zones::made_up(self.pages, self.cpus),
            switches: self.variant.switches(),
            seed: self.seed,
            // An event every three microseconds on each CPU.
            gap_ns: 3000 / u64::from(self.cpus),
        }
    }

    pub(super) fn load(&self) -> Box<dyn Load> {
        match self.workload {
            Workload::MmapRead => Box::new(MmapRead::new()),
            Workload::BootFree => Box::new(BootFree::new()),
            Workload::Pagealloc => Box::new(Pagealloc::new()),
        }
    }

    /// The command line that leads to this plan, without where the trace goes.
    pub fn command(&self) -> Vec<String> {
        let mut words = vec!["freehold".to_owned(), "generate".to_owned(), self.workload.to_string()];
        let mib = self.pages * PAGE_BYTES >> 20;
        let options = [
            ("--seed", self.seed.to_string()),
            ("--era", self.variant.to_string()),
            ("--memory", format!("{mib}MiB")),
            ("--cpus", self.cpus.to_string()),
        ];
        for (name, value) in options.into_iter().chain(self.events.map(|n| ("--events", n.to_string()))) {
            words.extend([name.to_owned(), value]);
        }
        words
    }

    /// Where the trace comes from.
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
