//! The pages that nothing moves, frame by frame.

use std::path::Path;
use std::sync::Arc;

use crate::error::{BpfError, Error};
use crate::pageblocks::{
    Pageblock, PageblockMap, PerCpuFrames, PinnedFrames, Unflagged, UnmovableKind, Use, Uses, ZonePageblocks,
    cgroup_names,
};
use crate::procfs::{FrameWords, WORD_BYTES, kpf, words};
use crate::sensor::{BpfSensor, PageKind};

/// What unmovable pages are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// Slab objects; of this cache, where BPF tells it.
    Slab(Option<Arc<str>>),
    /// Page tables.
    PageTable,
    /// A task's kernel stack.
    KernelStack,
    /// Compressed pages.
    Zsmalloc,
    /// A kmalloc that is larger than slab caches serve.
    LargeKmalloc,
    /// hugetlb pages.
    Hugetlb,
    /// Ballooned or unplugged.
    Offline,
    /// Movable but for a pin.
    Pinned(Pin),
    /// The kernel's own, and charged to this cgroup.
    Charged(Arc<str>),
    /// The kernel's own, of which nothing more is known.
    Kernel,
}

/// What keeps a page that could be moved otherwise.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pin {
    /// True if it is one of `pin_user_pages`, as `io_uring`, RDMA and direct I/O take; otherwise a reference, as of a pipe.
    pub is_user_pin: bool,
    /// Whose page it is.
    pub owner: Option<Arc<PinOwner>>,
}

/// Whose a pinned page is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PinOwner {
    /// Mapped by this process.
    Process {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// Mapped by no process that could be read, and charged to this cgroup.
    Cgroup(String),
}

/// A run of unmovable pages: a compound page, or a single page. A compound page is several runs where pageblocks border.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnmovablePages {
    /// Its first frame.
    pub pfn: u64,
    /// Its pages.
    pub pages: u32,
    /// What they are.
    pub what: What,
}

impl UnmovablePages {
    /// Returns true if nothing is known of what it is.
    pub fn is_unnamed(&self) -> bool {
        self.what == What::Kernel
    }
}

/// Reads the unmovable pages of the `wanted` zones of `map`, by ascending frames, from `proc/kpageflags` below `root`. Pages that
/// were reserved at boot are not among them, and none that is free on a per-CPU list.
///
/// Memory: 40 bytes a run.
///
/// # Errors
/// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
pub fn read_unmovable_pages(
    root: &Path,
    map: &PageblockMap,
    unflagged: Unflagged<'_>,
    wanted: impl Fn(&ZonePageblocks) -> bool,
) -> Result<Vec<UnmovablePages>, Error> {
    let file = FrameWords::kpageflags(root)?;
    let pages = map.pageblock_pages();
    let mut buffer = vec![0; pages as usize * WORD_BYTES];
    let mut unmovable = Vec::new();
    for zone in map.zones.iter().filter(|zone| wanted(zone)) {
        let starts = (zone.start_pfn..).step_by(pages as usize);
        for (start, block) in starts.zip(&zone.blocks).filter(|(_, block)| holds(block)) {
            let filled = file.read(start, &mut buffer).map_err(|e| file.failed(e))?;
            let pinned = match block.pages_of(UnmovableKind::Pinned) {
                0 => PinnedFrames::default(),
                _ => (unflagged.pinned)(start, pages),
            };
            runs(words(&buffer[..filled]), start, unflagged.listed, &pinned, &mut unmovable);
        }
    }
    Ok(unmovable)
}

/// Returns true if a pageblock has pages that code allocated and nothing moves.
fn holds(block: &Pageblock) -> bool {
    let why = [
        UnmovableKind::Slab,
        UnmovableKind::PageTable,
        UnmovableKind::Kernel,
        UnmovableKind::Hugetlb,
        UnmovableKind::Offline,
        UnmovableKind::Pinned,
    ];
    why.into_iter().map(|why| block.pages_of(why)).sum::<u32>() > u32::from(block.listed)
}

/// Adds the runs of unmovable pages of a pageblock.
fn runs(
    words: impl Iterator<Item = u64>,
    start: u64,
    listed: &PerCpuFrames,
    pinned: &PinnedFrames,
    unmovable: &mut Vec<UnmovablePages>,
) {
    let mut uses = Uses::default();
    let mut open = false;
    for (pfn, flags) in (start..).zip(words) {
        let what = match uses.next(flags) {
            Use::Blank if listed.has(pfn) => None,
            Use::Blank | Use::Unmovable(UnmovableKind::Kernel) => Some(What::Kernel),
            Use::Unmovable(UnmovableKind::Slab) => Some(What::Slab(None)),
            Use::Unmovable(UnmovableKind::PageTable) => Some(What::PageTable),
            Use::Unmovable(UnmovableKind::Hugetlb) => Some(What::Hugetlb),
            Use::Unmovable(UnmovableKind::Offline) => Some(What::Offline),
            movable if movable.is_movable() && pinned.has(pfn) => Some(What::Pinned(Pin::default())),
            _ => None,
        };
        let Some(what) = what else {
            open = false;
            continue;
        };
        match unmovable.last_mut() {
            Some(last) if open && flags & kpf::COMPOUND_TAIL != 0 && last.what == what => last.pages += 1,
            _ => unmovable.push(UnmovablePages { pfn, pages: 1, what }),
        }
        open = true;
    }
}

/// Tells slab caches, kernel stacks, what the types of pages tell, and how pages are pinned. A page that was freed meanwhile keeps what it was.
///
/// # Errors
/// If frame numbers cannot be determined.
pub fn name_by_bpf(sensor: &mut BpfSensor, unmovable: &mut [UnmovablePages]) -> Result<(), BpfError> {
    let stacks = sensor.kernel_stacks()?;
    let of = |unmovable: &[UnmovablePages], what: &What| -> Vec<usize> {
        unmovable.iter().enumerate().filter(|(_, run)| run.what == *what).map(|(at, _)| at).collect()
    };
    let frames = |unmovable: &[UnmovablePages], runs: &[usize]| -> Vec<u64> {
        runs.iter().map(|&at| unmovable[at].pfn).collect()
    };
    let slabs = of(unmovable, &What::Slab(None));
    let mut names: Vec<Arc<str>> = Vec::new();
    for (&at, name) in slabs.iter().zip(sensor.slab_names(&frames(unmovable, &slabs))?) {
        let Some(name) = name else { continue };
        let known = names.iter().find(|known| ***known == *name).cloned();
        let name = known.unwrap_or_else(|| {
            names.push(name.into());
            names[names.len() - 1].clone()
        });
        unmovable[at].what = What::Slab(Some(name));
    }
    let kernel = of(unmovable, &What::Kernel);
    for (&at, kind) in kernel.iter().zip(sensor.page_kinds(&frames(unmovable, &kernel))?) {
        unmovable[at].what = match kind {
            Some(PageKind::Zsmalloc) => What::Zsmalloc,
            Some(PageKind::LargeKmalloc) => What::LargeKmalloc,
            None if stacks.binary_search(&unmovable[at].pfn).is_ok() => What::KernelStack,
            None => What::Kernel,
        };
    }
    let pinned = of(unmovable, &What::Pinned(Pin::default()));
    for (&at, is_user_pin) in pinned.iter().zip(sensor.user_pins(&frames(unmovable, &pinned))?) {
        unmovable[at].what = What::Pinned(Pin { is_user_pin, owner: None });
    }
    Ok(())
}

/// Tells the cgroups that the kernel's other pages are charged to, and pinned pages without an owner, by `proc/kpagecgroup` below `root`.
///
/// # Errors
/// If the kernel has no memory cgroups, or access is refused.
pub fn name_by_cgroup(root: &Path, unmovable: &mut [UnmovablePages]) -> Result<(), Error> {
    let file = FrameWords::open(&root.join("proc/kpagecgroup"))?;
    let names = cgroup_names(root);
    let mut word = [0; WORD_BYTES];
    for run in unmovable.iter_mut() {
        if !matches!(run.what, What::Kernel | What::Pinned(Pin { owner: None, .. })) {
            continue;
        }
        if file.read(run.pfn, &mut word).map_err(|e| file.failed(e))? < WORD_BYTES {
            continue;
        }
        let inode = u64::from_le_bytes(word);
        if inode != 0 {
            let name = names.get(&inode).cloned().unwrap_or_else(|| format!("inode {inode}"));
            run.what = match run.what {
                What::Pinned(Pin { is_user_pin, .. }) => {
                    What::Pinned(Pin { is_user_pin, owner: Some(Arc::new(PinOwner::Cgroup(name))) })
                }
                _ => What::Charged(name.into()),
            };
        }
    }
    Ok(())
}

/// Leaves out pages of no known kind that `proc/kpageflags` below `root` shows as something else by now: they were on their way from a
/// per-CPU list to somebody, or back. By then they may be charged to a cgroup, so this comes last.
///
/// # Errors
/// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
pub fn leave_out_passing(root: &Path, unmovable: &mut Vec<UnmovablePages>) -> Result<(), Error> {
    let file = FrameWords::kpageflags(root)?;
    let mut word = [0; WORD_BYTES];
    let mut failed = Ok(());
    unmovable.retain(|run| {
        if !matches!(run.what, What::Kernel | What::Charged(_)) {
            return true;
        }
        match file.read(run.pfn, &mut word) {
            Ok(WORD_BYTES) => {
                matches!(
                    Uses::default().next(u64::from_le_bytes(word)),
                    Use::Blank | Use::Unmovable(UnmovableKind::Kernel)
                )
            }
            Ok(_) => true,
            Err(error) => {
                failed = Err(file.failed(error));
                true
            }
        }
    });
    failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_compound_pages_or_single_ones() {
        let (head, tail) = (kpf::COMPOUND_HEAD, kpf::COMPOUND_TAIL);
        let words = [
            kpf::SLAB | head,
            kpf::SLAB | tail,
            tail,
            kpf::SLAB,
            kpf::LRU,
            0,
            0,
            kpf::PGTABLE,
            kpf::RESERVED,
            kpf::LRU | head,
            tail,
            head,
            tail,
            kpf::BUDDY,
        ];
        let mut unmovable = Vec::new();
        let pinned = PinnedFrames::new(512, vec![1 << 4 | 1 << 5 | 1 << 9 | 1 << 10]);
        runs(words.into_iter(), 512, &PerCpuFrames::new([(518, 0)]), &pinned, &mut unmovable);
        let shape: Vec<_> =
            unmovable.iter().map(|run| (run.pfn - 512, run.pages, run.what.clone())).collect();
        let (slab, pinned) = (|| What::Slab(None), || What::Pinned(Pin::default()));
        assert_eq!(
            shape,
            [
                (0, 3, slab()),
                (3, 1, slab()),
                (4, 1, pinned()),
                (5, 1, What::Kernel),
                (7, 1, What::PageTable),
                (9, 2, pinned()),
                (11, 2, What::Kernel)
            ]
        );
    }

    #[test]
    fn what_is_something_else_by_now_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let words = [0, kpf::BUDDY, kpf::LRU | kpf::ANON, 0, kpf::COMPOUND_TAIL, kpf::BUDDY];
        let bytes = words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<_>>();
        std::fs::write(root.path().join("proc/kpageflags"), bytes).unwrap();
        let kinds = [What::Kernel, What::Kernel, What::Charged("a".into()), What::Charged("a".into())];
        let kinds = kinds.into_iter().chain([What::Kernel, What::PageTable]);
        let mut unmovable: Vec<_> =
            (0..).zip(kinds).map(|(pfn, what)| UnmovablePages { pfn, pages: 1, what }).collect();
        leave_out_passing(root.path(), &mut unmovable).unwrap();
        assert_eq!(unmovable.iter().map(|run| run.pfn).collect::<Vec<_>>(), [0, 3, 4, 5]);
    }

    #[test]
    fn pageblocks_of_free_or_movable_pages_are_not_looked_into() {
        let block = |why: UnmovableKind, pages: u16, listed: u16| {
            let mut block = Pageblock { listed, ..Pageblock::default() };
            block.unmovable[why as usize] = pages;
            block
        };
        assert!(holds(&block(UnmovableKind::Kernel, 2, 1)) && holds(&block(UnmovableKind::PageTable, 1, 0)));
        assert!(holds(&block(UnmovableKind::Pinned, 1, 0)));
        assert!(!holds(&block(UnmovableKind::Kernel, 2, 2)) && !holds(&block(UnmovableKind::Absent, 2, 0)));
        assert!(!holds(&block(UnmovableKind::Reserved, 2, 0)));
    }
}
