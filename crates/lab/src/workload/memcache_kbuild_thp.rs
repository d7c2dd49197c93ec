//! A cache server, one parallel build after the other, and batches of huge page faults in between.
//!
//! A closed loop: what reclaim and compaction take, the workload reads, faults on or swaps in again. The cache
//! server's arena takes 60 % of memory; a build compiles 400 files, two at a time for each CPU, with
//! 4 to 64 MiB of anonymous memory for each compiler and GiB of memory; after every twentieth compilation a
//! process faults on huge pages in a quarter of memory, keeps them for ten compilations and
//! exits. Together that is a little more than there is, so that memory is reclaimed and swapped as in the
//! source, which names neither its machine's memory nor the sizes of its batches: these are ours.
//! Source: "mm: `page_alloc`: freelist migratetype hygiene" v3, linux-mm, March 2024.

use super::cache_server::CacheServer;
use super::files::Files;
use super::host::{HUGE, Host, Task};
use super::kbuild::Kbuild;
use super::load::Load;
use super::processes::Process;
use super::slabs::SlabCaches;

/// The cache server's part of memory, in hundredths.
const ARENA: u64 = 60;

/// Compilations from one batch of huge pages to the next.
const BATCH_EVERY: u64 = 20;

/// Compilations for which a batch is kept.
const BATCH_KEPT: u64 = 10;

/// A batch's part of memory, as its denominator.
const BATCH_PART: u64 = 4;

/// The workload.
#[derive(Debug, Default)]
pub(super) struct MemcacheKbuildThp {
    builds: u64,
    slabs: SlabCaches,
    files: Files,
    server: Option<CacheServer>,
    kbuild: Option<Kbuild>,
    batch: Option<Process>,
    /// Compilations at the last call of [`Self::look_after_batch`].
    batch_at: u64,
    built: u64,
}

impl MemcacheKbuildThp {
    /// Returns the workload of `builds` builds.
    pub(super) fn new(builds: u64) -> Self {
        Self { builds, ..Self::default() }
    }

    /// Returns the finished builds.
    pub(super) fn built(&self) -> u64 {
        self.built
    }

    /// Starts a process that faults on huge pages, or ends the one that holds them, when it is due.
    fn look_after_batch(&mut self, host: &mut Host<'_, '_>, finished: u64) {
        if finished == self.batch_at {
            return;
        }
        self.batch_at = finished;
        if finished.is_multiple_of(BATCH_EVERY) && self.batch.is_none() {
            let task = Task { cpu: host.any_cpu(), pid: 700 };
            let mut process = Process::start(host, &mut self.slabs, task);
            for _ in 0..host.pages() / BATCH_PART / HUGE.pages() {
                process.fault_huge(host);
            }
            self.batch = Some(process);
        } else if finished % BATCH_EVERY == BATCH_KEPT
            && let Some(process) = self.batch.take()
        {
            process.exit(host, &mut self.slabs);
        }
    }
}

impl Load for MemcacheKbuildThp {
    fn settle(&mut self, host: &mut Host<'_, '_>) {
        let arena = host.pages() * ARENA / 100;
        self.server = Some(CacheServer::start(host, &mut self.slabs, arena));
        self.kbuild = Some(Kbuild::new(host, &mut self.files));
    }

    fn step(&mut self, host: &mut Host<'_, '_>) {
        let (Some(server), Some(kbuild)) = (&mut self.server, &mut self.kbuild) else { return };
        server.serve(host, &mut self.slabs);
        self.built += u64::from(kbuild.step(host, &mut self.slabs, &mut self.files));
        self.files.prune(host, &mut self.slabs, Task { cpu: 0, pid: 60 });
        let finished = kbuild.finished();
        self.look_after_batch(host, finished);
    }

    fn is_done(&self) -> bool {
        self.built >= self.builds
    }
}
