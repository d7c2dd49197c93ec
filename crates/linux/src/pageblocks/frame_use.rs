//! What a frame is used for, by its word of `/proc/kpageflags`.

use super::block::UnmovableKind;
use crate::procfs::kpf;

/// The use of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// No flag: no memory, memory that is not set up, or in use without a flag.
    Blank,
    /// On a free list.
    Free,
    /// Anonymous memory or tmpfs.
    Anon,
    /// Page cache that reclaim can drop.
    FileClean,
    /// Page cache that is dirty, under writeback or mapped.
    FileBusy,
    /// mlocked and the like.
    Unevictable,
    /// Nothing moves it.
    Unmovable(UnmovableKind),
}

impl Use {
    /// Returns true if the kernel can move the page, unless somebody pinned it.
    pub(crate) fn is_movable(self) -> bool {
        matches!(self, Self::Anon | Self::FileClean | Self::FileBusy | Self::Unevictable)
    }
}

/// Tells the uses of frames one after the other: a tail page of a compound page has its head's.
#[derive(Default)]
pub(crate) struct Uses {
    head: Option<Use>,
}

impl Uses {
    /// Returns the use of the next frame by its flags.
    pub(crate) fn next(&mut self, flags: u64) -> Use {
        if flags == 0 {
            self.head = None;
            return Use::Blank;
        }
        // On tail pages kernels show different sets of the head's flags.
        if flags & (kpf::COMPOUND_TAIL | kpf::BUDDY | kpf::NOPAGE) == kpf::COMPOUND_TAIL {
            return self.head.unwrap_or_else(|| frame_use(flags));
        }
        let used_for = frame_use(flags);
        self.head = (flags & kpf::COMPOUND_HEAD != 0).then_some(used_for);
        used_for
    }
}

/// Returns the use that a frame's flags show; the first match decides.
fn frame_use(flags: u64) -> Use {
    let unmovable = [
        (kpf::NOPAGE, UnmovableKind::Absent),
        (kpf::HWPOISON, UnmovableKind::Reserved),
        (kpf::RESERVED, UnmovableKind::Reserved),
        (kpf::OFFLINE, UnmovableKind::Offline),
        (kpf::HUGE, UnmovableKind::Hugetlb),
        (kpf::PGTABLE, UnmovableKind::PageTable),
        // Slab comes before the LRU's flags: the kernel shows KPF_ANON on some slab pages.
        (kpf::SLAB, UnmovableKind::Slab),
    ];
    if flags & (kpf::BUDDY | kpf::NOPAGE) == kpf::BUDDY {
        return Use::Free;
    }
    if let Some(&(_, why)) = unmovable.iter().find(|(bit, _)| flags & bit != 0) {
        return Use::Unmovable(why);
    }
    if flags & kpf::UNEVICTABLE != 0 {
        return Use::Unevictable;
    }
    // New LRU pages wait in per-CPU batches, which compaction drains first; a file's page there is up to date or
    // backed by swap. A mapped page that is nothing of all this is a driver's.
    if flags & (kpf::LRU | kpf::ANON | kpf::SWAPBACKED | kpf::UPTODATE) == 0 {
        return Use::Unmovable(UnmovableKind::Kernel);
    }
    if flags & (kpf::ANON | kpf::SWAPBACKED) != 0 {
        return Use::Anon;
    }
    if flags & (kpf::DIRTY | kpf::WRITEBACK | kpf::MMAP) != 0 { Use::FileBusy } else { Use::FileClean }
}
