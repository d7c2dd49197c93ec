//! Files and their pages in the page cache.

use super::host::{Host, PageRequest, Task};
use super::slabs::{Cache, SlabCaches};
use super::users::Handle;

/// The number of pages that one node of the page cache's tree indexes. Linux counterpart: `XA_CHUNK_SIZE`.
const NODE_PAGES: usize = 64;

/// One file.
#[derive(Clone, Debug, Default)]
struct File {
    /// The pages of the file; `None` for a page that was never read.
    pages: Vec<Option<Handle>>,
    /// True for each node of the tree that is in memory.
    nodes: Vec<bool>,
    has_inode: bool,
}

/// All files of a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(Vec<File>);

/// The number of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileId(u32);

impl Files {
    /// Adds a file without pages in memory.
    pub(super) fn add(&mut self, pages: u64) -> FileId {
        let file = File { pages: vec![None; pages as usize], ..File::default() };
        self.0.push(file);
        FileId(self.0.len() as u32 - 1)
    }

    /// Returns the size of a file in pages.
    pub(super) fn pages(&self, file: FileId) -> u64 {
        self.0[file.0 as usize].pages.len() as u64
    }

    /// Reads or writes pages of a file; `page_request` is the request for a missing page. Pages in memory are only
    /// marked as used.
    pub(super) fn access(
        &mut self,
        host: &mut Host<'_, '_>,
        slabs: &mut SlabCaches,
        task: Task,
        (id, page_request): (FileId, PageRequest),
        pages: std::ops::Range<u64>,
    ) {
        let file = &mut self.0[id.0 as usize];
        if !file.has_inode {
            file.has_inode = slabs.take(host, task, Cache::Inode);
            slabs.take(host, task, Cache::Dentry);
        }
        let end = (pages.end as usize).min(file.pages.len());
        for page in pages.start as usize..end {
            match file.pages[page] {
                Some(handle) if host.users.is_present(handle) => host.users.touch(handle),
                absent => {
                    let node = page / NODE_PAGES;
                    file.nodes.resize(file.nodes.len().max(node + 1), false);
                    if !file.nodes[node] {
                        file.nodes[node] = slabs.take(host, task, Cache::RadixTreeNode);
                    }
                    match absent {
                        Some(handle) if host.revive(task, page_request, handle) => {
                            host.counters.add("workingset_refault_file", 1);
                        }
                        Some(_) => {}
                        None => file.pages[page] = host.alloc(task, page_request),
                    }
                }
            }
        }
    }
}
