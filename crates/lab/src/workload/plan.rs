//! What to generate.

use std::fmt;
use std::sync::Arc;

use freehold::Era;
use freehold_trace::Origin;

use super::boot_free::BootFree;
use super::host::Ground;
use super::load::Load;
use super::memcache_kbuild_thp::MemcacheKbuildThp;
use super::mix::MixLoad;
use super::mix_fit::Mix;
use super::mmap_read::MmapRead;
use super::pagealloc::Pagealloc;
use super::zones;
use crate::error::LabError;
use crate::replay::Variant;

/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;

/// The least memory of a machine: 64 MiB.
const LEAST_PAGES: u64 = 1 << 14;

/// The most memory of a machine, the same limit as a replay's: 512 GiB.
const MOST_PAGES: u64 = 1 << 27;

/// The most CPUs of a machine.
const MOST_CPUS: u16 = 1024;

/// A workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// A cache server, parallel builds, and batches of huge page faults.
    MemcacheKbuildThp,
    /// Readers of mapped files on a fragmented memory.
    MmapRead,
    /// A boot that frees more than 2 000 pages at once, a hundred times.
    BootFree,
    /// Blocks of orders 4 and 0, N at a time, on one CPU.
    Pagealloc,
    /// Requests drawn from the distributions of a recorded trace.
    Mix,
}

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 5] =
        [Self::MemcacheKbuildThp, Self::MmapRead, Self::BootFree, Self::Pagealloc, Self::Mix];

    /// Returns the name used on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemcacheKbuildThp => "memcache-kbuild-thp",
            Self::MmapRead => "mmap-read",
            Self::BootFree => "boot-free",
            Self::Pagealloc => "pagealloc",
            Self::Mix => "mix",
        }
    }

    /// Returns the workload with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|workload| workload.name() == name)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What to generate. The same plan gives the same trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The workload.
    pub workload: Workload,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The allocator of the machine.
    pub variant: Variant,
    /// Pages of the machine.
    pub pages: u64,
    /// CPUs of the machine.
    pub cpus: u16,
    /// Stops after the step that records this many events; `None`: stops when the workload is done.
    pub events: Option<u64>,
    /// Builds of [`Workload::MemcacheKbuildThp`] until it is done.
    pub builds: u64,
    /// What [`Workload::Mix`] draws from.
    pub mix: Option<Arc<Mix>>,
}

impl Plan {
    /// Returns the plan of a workload by seed 1 on a machine of 1 GiB with 4 CPUs and Linux 6.12, until it is
    /// done.
    pub fn new(workload: Workload) -> Self {
        let variant = Era::Linux6_12.into();
        Self { workload, seed: 1, variant, pages: 1 << 18, cpus: 4, events: None, builds: 50, mix: None }
    }

    /// Returns the plan of requests drawn from a mix, on a machine like the recorded one.
    pub fn like(mix: Mix) -> Self {
        let pages = mix.pages().clamp(LEAST_PAGES, MOST_PAGES);
        let cpus = mix.cpus().clamp(1, MOST_CPUS);
        Self { pages, cpus, mix: Some(Arc::new(mix)), ..Self::new(Workload::Mix) }
    }

    /// Checks the sizes of the machine.
    ///
    /// # Errors
    /// [`LabError::Plan`] for too little or too much memory, or CPUs.
    pub fn check(&self) -> Result<(), LabError> {
        let refuse = |what: String| Err(LabError::Plan { what });
        if !(LEAST_PAGES..=MOST_PAGES).contains(&self.pages) {
            let mib = |pages: u64| (pages * PAGE_BYTES) >> 20;
            return refuse(format!(
                "a machine of {} MiB; {} to {} MiB can be made up",
                mib(self.pages),
                mib(LEAST_PAGES),
                mib(MOST_PAGES)
            ));
        }
        if !(1..=MOST_CPUS).contains(&self.cpus) {
            return refuse(format!("{} CPUs; 1 to {MOST_CPUS} can be made up", self.cpus));
        }
        if self.workload == Workload::Mix && self.mix.is_none() {
            return refuse("a mix without a recorded trace to draw from".to_owned());
        }
        Ok(())
    }

    pub(super) fn ground(&self) -> Ground {
        Ground {
            start: zones::made_up(self.pages, self.cpus),
            switches: self.variant.switches(),
            seed: self.seed,
            // An event every three microseconds on each CPU; a mix sets its own times.
            gap_ns: if self.mix.is_some() { 2 } else { 3000 / u64::from(self.cpus) },
            // The frees of a recorded machine include what it reclaimed.
            reclaims: self.mix.is_none(),
        }
    }

    pub(super) fn load(&self) -> Box<dyn Load> {
        match self.workload {
            Workload::MemcacheKbuildThp => Box::new(MemcacheKbuildThp::new(self.builds)),
            Workload::MmapRead => Box::new(MmapRead::new()),
            Workload::BootFree => Box::new(BootFree::new()),
            Workload::Pagealloc => Box::new(Pagealloc::new()),
            Workload::Mix => Box::new(MixLoad::new(self.mix.clone().unwrap_or_default())),
        }
    }

    /// Returns the command line of this plan, without the output file.
    pub fn command(&self) -> Vec<String> {
        let mut words = vec!["freehold".to_owned(), "generate".to_owned(), self.workload.to_string()];
        let mib = (self.pages * PAGE_BYTES) >> 20;
        let options = [
            ("--seed", self.seed.to_string()),
            ("--era", self.variant.to_string()),
            ("--memory", format!("{mib}MiB")),
            ("--cpus", self.cpus.to_string()),
        ];
        let builds =
            (self.workload == Workload::MemcacheKbuildThp).then(|| ("--builds", self.builds.to_string()));
        let events = self.events.map(|events| ("--events", events.to_string()));
        let like = self.mix.as_ref().map(|mix| ("--like", mix.name().to_owned()));
        for (name, value) in options.into_iter().chain(builds).chain(events).chain(like) {
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
