//! The recorded works of guests, as data.

/// The work of a guest, as shell commands. `PATH` has the scripts and programs of `traces/workloads`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// A description of one line.
    pub(super) what: &'static str,
    /// The use of the guest's disk.
    pub(super) disk: Disk,
    /// The commands before the recording.
    pub(super) prepare: &'static [&'static str],
    /// The recorded command.
    pub(super) run: &'static str,
}

/// The use of a guest's disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Disk {
    /// There is no disk: all files are in memory.
    None,
    /// A file system at `/disk`.
    Files,
    /// Swap space.
    Swap,
}

impl Disk {
    /// Returns the commands that prepare the disk.
    pub(super) const fn commands(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Files => &["mke2fs -F /dev/nvme0n1 > /dev/null", "mkdir /disk", "mount /dev/nvme0n1 /disk"],
            Self::Swap => &["mkswap /dev/nvme0n1", "swapon /dev/nvme0n1"],
        }
    }
}

/// A work without a disk and without preparation, as a base for others.
const PLAIN: Work = Work { what: "", disk: Disk::None, prepare: &[], run: "" };

pub(super) static IDLE: Work =
    Work { what: "A machine that has just booted and is idle.", run: "idle.sh 20", ..PLAIN };

pub(super) static FORKS: Work =
    Work { what: "Two shells start processes that end at once.", run: "forks.sh 150", ..PLAIN };

pub(super) static NAMES: Work = Work {
    what: "Empty files are created and removed, which allocates dentries and inodes.",
    run: "names.sh 5000 3",
    ..PLAIN
};

pub(super) static CRUNCH: Work = Work {
    what: "Jobs of a build, three at a time, generate, sort, compress and checksum text.",
    run: "crunch.sh /dev/shm/crunch 24 3",
    ..PLAIN
};

pub(super) static MEMORY_FILES: Work =
    Work { what: "Two shells write and remove files in memory.", run: "memory-files.sh 45 3", ..PLAIN };

pub(super) static MARKS: Work = Work {
    what: "Files in memory take all but 24 MiB, while another file is written and removed.",
    prepare: &["mkdir -p /usr/lib /usr/share"],
    run: "near-the-marks.sh 24 3",
    ..PLAIN
};

pub(super) static HOLES: Work = Work {
    what: "Files in memory leave holes, in which the kernel must find room for its own pages.",
    run: "holes.sh",
    ..PLAIN
};

pub(super) static CACHED: Work = Work {
    what: "Two shells read files of 600 MiB repeatedly, while small files are created and removed.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 600"],
    run: "cached-files.sh run /disk/files 2",
};

pub(super) static PIPES: Work = Work {
    what: "Pipe buffers take 60 MiB after files of 600 MiB were written. A quarter of the buffers stays in use.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 600"],
    run: "unmovable 60 1 4",
};

pub(super) static SWAPPED: Work = Work {
    what: "Files in memory exceed the memory, and are swapped out and in.",
    disk: Disk::Swap,
    run: "swapped.sh 105 3",
    ..PLAIN
};

pub(super) static HUGE_PAGES: Work = Work {
    what: "Transparent huge pages are allocated in batches, while page cache is read.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 700"],
    run: "huge-pages.sh 60 96 /disk/files",
};

pub(super) static FREE_MUCH: Work = Work {
    what: "Processes with 224 MiB end one after the other, after files of 600 MiB were written.",
    disk: Disk::Files,
    prepare: &["cached-files.sh make /disk/files 600"],
    run: "free-much 8 28",
};

pub(super) static SERVE_CACHE: Work = Work {
    what: "A cache server allocates and frees slab objects and connections.",
    run: "serve-cache.sh 8 60 160 150",
    ..PLAIN
};
