//! The code that allocated the pages, from `page_owner`, a watch, or both.

use std::path::Path;
use std::time::Duration;

use freehold_linux::Error;
use freehold_linux::blame::{
    Allocation, Allocations, PageOwner, Share, Stacks, Symbols, UnmovablePages, Watched,
};
use freehold_linux::pageblocks::PageblockMap;
use freehold_linux::sensor::BpfSensor;

use super::report::WatchReport;
use super::watching;
use crate::args::Blame;
use crate::exit::Failure;

/// How long is watched unless it is said.
const USUAL_WATCH: Duration = Duration::from_secs(10);

/// The allocations that are known.
pub(super) struct Made {
    pub(super) allocations: Allocations,
    pub(super) stacks: Stacks,
    pub(super) has_page_owner: bool,
    /// True if time was let pass, with a watch or without.
    pub(super) has_waited: bool,
    /// The end of the watch, or now: nanoseconds since the boot.
    pub(super) now_ns: u64,
    watched: Option<Watched>,
}

impl Made {
    /// Watches, unless the kernel itself keeps who allocated each page and the arguments name nothing else. Runs the command meanwhile.
    pub(super) fn gather(
        args: &Blame,
        sensor: Option<&mut BpfSensor>,
        notes: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        let root = args.sensing.root.as_path();
        let has_page_owner = match PageOwner::open(root) {
            Ok(found) => found.is_some(),
            Err(error) => {
                notes.push(error.to_string());
                false
            }
        };
        let mut made = Self {
            allocations: Allocations::default(),
            stacks: Stacks::default(),
            has_page_owner,
            has_waited: false,
            now_ns: freehold_linux::blame::now_ns(),
            watched: None,
        };
        let is_requested = args.duration.is_some() || !args.command.is_empty();
        let most = args.duration.or(if args.command.is_empty() { Some(USUAL_WATCH) } else { None });
        match sensor {
            Some(sensor) if is_requested || !has_page_owner => {
                if Symbols::read(root)?.is_empty() {
                    notes.push(
                        "/proc/kallsyms shows no addresses, so functions are numbers; set kernel.kptr_restrict to 1 or 0"
                            .to_owned(),
                    );
                }
                let watched = watching::watch(sensor, most, &args.command, root, &mut made.stacks)?;
                made.now_ns = freehold_linux::blame::now_ns();
                made.has_waited = true;
                made.allocations = watched.live.clone();
                made.watched = Some(watched);
            }
            _ if is_requested => {
                notes.push("allocations are not watched: this needs BPF on the running machine".to_owned());
                watching::only_run(most, &args.command)?;
                made.has_waited = true;
            }
            _ => {}
        }
        Ok(made)
    }

    /// Adds what `page_owner` keeps of the pages of `unmovable`. It is believed before the watch.
    pub(super) fn add_page_owner(
        &mut self,
        root: &Path,
        map: &PageblockMap,
        unmovable: &[UnmovablePages],
        notes: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Some(owner) = PageOwner::open(root).ok().flatten() else { return Ok(()) };
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for run in unmovable {
            let start = run.pfn >> map.pageblock_order << map.pageblock_order;
            if ranges.last().is_none_or(|(last, _)| *last != start) {
                ranges.push((start, start + map.pageblock_pages()));
            }
        }
        match owner.read(&ranges, &mut self.stacks) {
            Ok(kept) => {
                let watched: Vec<Allocation> = self.allocations.iter().copied().collect();
                let kept_too = Allocations::new(kept.clone());
                let others = watched.into_iter().filter(|made| kept_too.of(made.pfn).is_none());
                self.allocations = Allocations::new(others.chain(kept).collect());
            }
            Err(error @ Error::Malformed { .. }) => return Err(error.into()),
            Err(error) => {
                self.has_page_owner = false;
                notes.push(error.to_string());
            }
        }
        Ok(())
    }

    /// Returns the pageblocks of which the allocations are complete since the watch began.
    pub(super) fn share(&self) -> Share {
        match &self.watched {
            Some(watched) if !self.has_page_owner => watched.share,
            _ => Share::ALL,
        }
    }

    pub(super) fn watch(&self) -> Option<WatchReport> {
        self.watched.as_ref().map(WatchReport::of)
    }
}
