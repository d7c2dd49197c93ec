//! Processes: what they take when they start, use while they run, and give back when they end.

use super::host::{Ask, HUGE, Host, Task};
use super::slabs::{Cache, Object, SlabCaches};
use super::users::Handle;

/// Pages of a kernel stack on x86-64. Linux counterpart: `THREAD_SIZE`.
const STACK_PAGES: usize = 4;

/// Page tables of a new process: the upper levels, and one each for its program, its libraries and its stack.
const FIRST_TABLES: usize = 7;

/// Pages that one page table maps.
const TABLE_PAGES: usize = 512;

/// A process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    /// Its task.
    pub(super) task: Task,
    anon: Vec<Handle>,
    kernel: Vec<Handle>,
    objects: Vec<Object>,
    tables: usize,
}

impl Process {
    /// Starts a process. Linux counterpart: `copy_process`, `execve`.
    pub(super) fn start(host: &mut Host<'_, '_>, slabs: &mut SlabCaches, task: Task) -> Self {
        let mut process = Self { task, anon: Vec::new(), kernel: Vec::new(), objects: Vec::new(), tables: 0 };
        process.take_object(host, slabs, Cache::Task);
        for _ in 0..STACK_PAGES {
            process.kernel.extend(host.alloc(task, Ask::STACK));
        }
        for _ in 0..FIRST_TABLES {
            process.kernel.extend(host.alloc(task, Ask::PAGE_TABLE));
        }
        for _ in 0..20 {
            process.take_object(host, slabs, Cache::Mapping);
        }
        for _ in 0..4 {
            process.take_object(host, slabs, Cache::OpenFile);
        }
        process
    }

    /// Allocates a slab object that lives as long as the process.
    pub(super) fn take_object(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches, cache: Cache) {
        self.objects.extend(slabs.take(host, self.task, cache));
    }

    /// Faults on `pages` new pages of anonymous memory.
    pub(super) fn fault(&mut self, host: &mut Host<'_, '_>, pages: u64) {
        for _ in 0..pages {
            if self.anon.len() >= self.tables * TABLE_PAGES {
                self.tables += 1;
                self.kernel.extend(host.alloc(self.task, Ask::PAGE_TABLE));
            }
            self.anon.extend(host.alloc(self.task, Ask::ANON));
        }
    }

    /// Faults on a range with `madvise(MADV_HUGEPAGE)`. Returns true if it got a huge page.
    pub(super) fn fault_huge(&mut self, host: &mut Host<'_, '_>) -> bool {
        // A page table is deposited for a later split of the huge page.
        self.kernel.extend(host.alloc(self.task, Ask::PAGE_TABLE));
        let before = host.direct_work();
        let huge = host.alloc(self.task, Ask::HUGE);
        let work = host.direct_work() - before;
        host.huge_work.add(work);
        let got_one = huge.is_some();
        host.counters.add(if got_one { "thp_fault_alloc" } else { "thp_fault_fallback" }, 1);
        match huge {
            Some(huge) => self.anon.push(huge),
            None => {
                for _ in 0..HUGE.pages() {
                    self.anon.extend(host.alloc(self.task, Ask::ANON));
                }
            }
        }
        got_one
    }

    /// Uses `pages` of its pages again; those swapped out are swapped in.
    pub(super) fn use_again(&mut self, host: &mut Host<'_, '_>, pages: u64) {
        for _ in 0..pages.min(self.anon.len() as u64) {
            let chosen = host.random.skewed(self.anon.len() as u64) as usize;
            let handle = self.anon[chosen];
            if host.users.is_present(handle) {
                host.users.touch(handle);
            } else if host.revive(self.task, Ask::ANON, handle) {
                host.counters.add("pswpin", 1);
            }
        }
    }

    /// Ends the process and frees all its memory. Linux counterpart: `exit_mmap`, `release_task`.
    pub(super) fn exit(self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches) {
        for handle in self.anon.into_iter().chain(self.kernel) {
            host.free(self.task, handle);
        }
        for object in self.objects {
            slabs.give_back(host, self.task, object);
        }
    }
}
