//! The workload `mmap-read`: readers of mapped files fill the page cache of a fragmented memory until it is reclaimed.
//!
//! At the start, half of memory is free, almost none of it in movable pageblocks: pages of reclaimable and unmovable
//! requests were freed one by one. One reader on each CPU reads its own file from front to back repeatedly, 32 pages
//! at a time. The files together are one and a half times as large as memory. Each refill of a per-CPU list without a
//! movable block must fall back. No pageblock has enough free pages to be claimed, so it falls back page by page.
//! Source: the thread of "speed up fallbacks in `rmqueue_bulk`", linux-mm, April 2025, which
//! measures with `lru-file-mmap-read` of vm-scalability.

use super::files::{FileId, Files};
use super::fragments::{fill, free_here_and_there};
use super::host::{Host, PageRequest, Task};
use super::slabs::SlabCaches;
use super::users::Handle;

/// The number of pages in one readahead. Linux counterpart: `VM_READAHEAD_PAGES`.
const READAHEAD: u64 = 32;

/// The number of pages that one page table maps.
const TABLE_PAGES: u64 = 512;

/// The workload ends after the readers have read this multiple of the size of memory.
const READS_OF_MEMORY: u64 = 3;

#[derive(Debug)]
struct Reader {
    task: Task,
    file: FileId,
    at: u64,
    tables: Vec<Handle>,
}

/// The readers and their files.
#[derive(Debug)]
pub(super) struct MmapRead {
    readers: Vec<Reader>,
    slabs: SlabCaches,
    files: Files,
    read: u64,
    enough: u64,
}

impl MmapRead {
    /// Brings the machine into the start state of the trace, and returns its readers.
    pub(super) fn settled(host: &mut Host<'_, '_>) -> Self {
        let mut files = Files::default();
        let keep_free = host.pages() / 20;
        let [_movable, mut reclaimable, mut unmovable] = fill(host, [2, 3, 3], keep_free);
        for pages in [&mut reclaimable, &mut unmovable] {
            free_here_and_there(host, pages, 2);
        }
        let cpus = host.memory.cpus();
        let pages = (host.pages() * 3 / 2 / u64::from(cpus)).max(READAHEAD);
        let readers = (0..cpus)
            .map(|cpu| {
                let task = Task { cpu, pid: 1000 + i32::from(cpu) };
                Reader { task, file: files.add(pages), at: 0, tables: Vec::new() }
            })
            .collect();
        let enough = host.pages() * READS_OF_MEMORY;
        Self { readers, slabs: SlabCaches::default(), files, read: 0, enough }
    }

    /// Lets one reader read some pages. Records at least one event.
    pub(super) fn step(&mut self, host: &mut Host<'_, '_>) {
        let chosen = host.random.below(self.readers.len() as u64) as usize;
        let reader = &mut self.readers[chosen];
        if reader.at >= self.files.pages(reader.file) {
            reader.at = 0;
            for table in reader.tables.drain(..) {
                host.free(reader.task, table);
            }
        }
        if reader.at / TABLE_PAGES >= reader.tables.len() as u64 {
            reader.tables.extend(host.alloc(reader.task, PageRequest::PAGE_TABLE));
        }
        let pages = reader.at..reader.at + READAHEAD;
        self.files.access(host, &mut self.slabs, reader.task, (reader.file, PageRequest::READAHEAD), pages);
        reader.at += READAHEAD;
        self.read += READAHEAD;
    }

    /// Returns true if the workload has ended. Further steps repeat its work.
    pub(super) fn is_done(&self) -> bool {
        self.read >= self.enough
    }
}
