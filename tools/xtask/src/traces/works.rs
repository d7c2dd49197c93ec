//! What guests do while they are recorded, as data.

/// What a guest does: commands of its shell, which finds the scripts and programs of `traces/workloads` on its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// What it is, in one line.
    pub(super) what: &'static str,
    /// What the guest's disk is for.
    pub(super) disk: Disk,
    /// What runs before the recording, a command each.
    pub(super) prepare: &'static [&'static str],
    /// What is recorded.
    pub(super) run: &'static str,
}

/// What a guest's disk is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Disk {
    /// There is none: all files are in memory.
    None,
    /// Files, below `/disk`.
    Files,
    /// Swap.
    Swap,
}

impl Disk {
    /// Returns what makes the disk what it is for.
    pub(super) const fn commands(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Files => &["mke2fs -F /dev/nvme0n1 > /dev/null", "mkdir /disk", "mount /dev/nvme0n1 /disk"],
            Self::Swap => &["mkswap /dev/nvme0n1", "swapon /dev/nvme0n1"],
        }
    }
}

/// Commands without a disk and without preparation, on which others are built.
const PLAIN: Work = Work { what: "", disk: Disk::None, prepare: &[], run: "" };

pub(super) static IDLE: Work =
    Work { what: "A machine that has just started and does nothing.", run: "idle.sh 20", ..PLAIN };

pub(super) static FORKS: Work =
    Work { what: "Programs that start and end at once, from two shells.", run: "forks.sh 150", ..PLAIN };

pub(super) static NAMES: Work =
    Work { what: "Empty files that come and go: dentries and inodes.", run: "names.sh 5000 3", ..PLAIN };

pub(super) static CRUNCH: Work = Work {
    what: "What a build does: texts are made, sorted, compressed and summed up, three at a time.",
    run: "crunch.sh /dev/shm/crunch 24 3",
    ..PLAIN
};

pub(super) static MEMORY_FILES: Work = Work {
    what: "Files in memory that are written and removed, from two shells.",
    run: "memory-files.sh 45 3",
    ..PLAIN
};

pub(super) static MARKS: Work = Work {
    what: "Files in memory take all but 24 MiB, grow and go.",
    prepare: &["mkdir -p /usr/lib /usr/share"],
    run: "near-the-marks.sh 24 3",
    ..PLAIN
};

pub(super) static HOLES: Work = Work {
    what: "Files in memory with holes between them, in which the kernel's own pages must find room.",
    run: "holes.sh",
    ..PLAIN
};

pub(super) static CACHED: Work = Work {
    what: "Two shells read files of 600 MiB again and again, while small ones come and go.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 600"],
    run: "cached-files.sh run /disk/files 2",
};

pub(super) static PIPES: Work = Work {
    what: "Buffers of pipes take 60 MiB after files of 600 MiB were written; a quarter of them stays.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 600"],
    run: "unmovable 60 1 4",
};

pub(super) static SWAPPED: Work = Work {
    what: "Files in memory that need more than there is, and are swapped out and in.",
    disk: Disk::Swap,
    run: "swapped.sh 105 3",
    ..PLAIN
};

pub(super) static HUGE_PAGES: Work = Work {
    what: "Transparent huge pages in batches, while page cache is read.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 700"],
    run: "huge-pages.sh 60 96 /disk/files",
};

pub(super) static FREE_MUCH: Work = Work {
    what: "Processes that hold 224 MiB end one after the other, after files of 600 MiB were written.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 600"],
    run: "free-much 8 28",
};

pub(super) static SERVE_CACHE: Work = Work {
    what: "A cache server, whose slabs and connections come and go.",
    run: "serve-cache.sh 8 60 160 150",
    ..PLAIN
};
