//! A boot: memory comes into use, and a hundred times more than 2 000 pages are freed at once.
//!
//! All memory is free at first. Each stage of the boot grows slabs and page cache that stay, and runs a process
//! that exits with 2 048 to 16 384 pages of anonymous memory, all freed on one CPU without a pause. More than a
//! hundred frees of more than 2 000 pages during one boot are the source's observation; the sizes above 2 000 are
//! ours. Source: "`mm/page_alloc`: Batch callers of `free_pcppages_bulk`", linux-mm, October 2025.

use super::files::Files;
use super::host::{Ask, Host, Task};
use super::load::Load;
use super::processes::Process;
use super::slabs::{Cache, SlabCaches};

/// Stages of the boot.
const STAGES: u64 = 100;

/// The fewest pages that a process frees at once.
pub(super) const FEWEST_PAGES: u64 = 2048;

/// The most pages that a process frees at once; on a small machine a sixteenth of memory.
const MOST_PAGES: u64 = 16_384;

/// The state of the boot.
#[derive(Debug, Default)]
pub(super) struct BootFree {
    slabs: SlabCaches,
    files: Files,
    stages: u64,
}

impl BootFree {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Allocates slabs and page cache that stay, as a share of the free memory.
    fn come_into_use(&mut self, host: &mut Host<'_, '_>, task: Task) {
        for cache in [Cache::Inode, Cache::Dentry, Cache::Mapping, Cache::Buffer] {
            for _ in 0..host.random.between(100, 1000) {
                self.slabs.take(host, task, cache);
            }
        }
        let room = (host.free_pages() / 400).max(1);
        let pages = host.random.between(room / 2, room);
        let file = self.files.add(pages);
        self.files.access(host, &mut self.slabs, task, (file, Ask::READAHEAD), 0..pages);
    }
}

impl Load for BootFree {
    fn settle(&mut self, _: &mut Host<'_, '_>) {}

    fn step(&mut self, host: &mut Host<'_, '_>) {
        let task = Task { cpu: host.any_cpu(), pid: 200 + self.stages as i32 };
        self.come_into_use(host, task);
        let most = MOST_PAGES.min(host.pages() / 16).max(FEWEST_PAGES);
        let pages = host.random.between(FEWEST_PAGES, most);
        let mut process = Process::start(host, &mut self.slabs, task);
        process.fault(host, pages);
        process.exit(host, &mut self.slabs);
        self.stages += 1;
    }

    fn is_done(&self) -> bool {
        self.stages >= STAGES
    }
}
