//! Files, and which of their pages are in the page cache.

use super::host::{Ask, Host, Task};
use super::slabs::{Cache, Object, SlabCaches};
use super::users::Handle;

/// Pages that one node of the page cache's tree indexes. Linux counterpart: `XA_CHUNK_SIZE`.
const NODE_PAGES: usize = 64;

/// One file.
#[derive(Clone, Debug, Default)]
struct File {
    /// Its pages; `None` for a page that was never read.
    pages: Vec<Option<Handle>>,
    nodes: Vec<Option<Object>>,
    inode: Option<Object>,
    dentry: Option<Object>,
}

/// All files of a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    all: Vec<File>,
    vacant: Vec<u32>,
    /// The file at which pruning continues.
    pruned: usize,
}

/// The number of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileId(u32);

impl Files {
    /// Adds a file of which nothing is in memory.
    pub(super) fn add(&mut self, pages: u64) -> FileId {
        let file = File { pages: vec![None; pages as usize], ..File::default() };
        if let Some(number) = self.vacant.pop() {
            self.all[number as usize] = file;
            return FileId(number);
        }
        self.all.push(file);
        FileId(self.all.len() as u32 - 1)
    }

    /// Returns the size of a file in pages.
    pub(super) fn pages(&self, file: FileId) -> u64 {
        self.all[file.0 as usize].pages.len() as u64
    }

    /// Reads or writes pages of a file, as `ask` says. Pages in memory are only marked as used.
    pub(super) fn access(
        &mut self,
        host: &mut Host<'_, '_>,
        slabs: &mut SlabCaches,
        task: Task,
        (id, ask): (FileId, Ask),
        pages: std::ops::Range<u64>,
    ) {
        let file = &mut self.all[id.0 as usize];
        if file.inode.is_none() {
            file.inode = slabs.take(host, task, Cache::Inode);
            file.dentry = slabs.take(host, task, Cache::Dentry);
        }
        let end = (pages.end as usize).min(file.pages.len());
        for page in pages.start as usize..end {
            match file.pages[page] {
                Some(handle) if host.users.is_present(handle) => host.users.touch(handle),
                absent => {
                    let node = page / NODE_PAGES;
                    file.nodes.resize(file.nodes.len().max(node + 1), None);
                    if file.nodes[node].is_none() {
                        file.nodes[node] = slabs.take(host, task, Cache::RadixTreeNode);
                    }
                    match absent {
                        Some(handle) if host.revive(task, ask, handle) => {
                            host.counters.add("workingset_refault_file", 1);
                        }
                        Some(_) => {}
                        None => file.pages[page] = host.alloc(task, ask),
                    }
                }
            }
        }
    }

    /// Frees the slab objects of files without pages in memory. Looks at as many files as reclaim asked for
    /// objects.
    ///
    /// Linux counterpart: `shrink_slab` for inodes, dentries and nodes of shadow entries.
    pub(super) fn prune(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches, task: Task) {
        let wanted = host.take_slab_pressure().min(self.all.len() as u64);
        for _ in 0..wanted {
            self.pruned = (self.pruned + 1) % self.all.len();
            let file = &mut self.all[self.pruned];
            let is_cached = file.pages.iter().flatten().any(|&page| host.users.is_present(page));
            if is_cached || file.inode.is_none() {
                continue;
            }
            let objects = file.nodes.drain(..).flatten().chain(file.inode.take()).chain(file.dentry.take());
            for object in objects {
                slabs.give_back(host, task, object);
            }
        }
    }

    /// Removes a file and frees its pages.
    pub(super) fn remove(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches, task: Task, id: FileId) {
        let File { pages, nodes, inode, dentry } = std::mem::take(&mut self.all[id.0 as usize]);
        for page in pages.into_iter().flatten() {
            host.free(task, page);
        }
        for object in nodes.into_iter().flatten().chain(inode).chain(dentry) {
            slabs.give_back(host, task, object);
        }
        self.vacant.push(id.0);
    }
}
