//! The workloads, as data.

/// The work of a side, as shell commands. `PATH` has the programs of `traces/workloads`. `$WORK` is a folder for files,
/// which is empty before `prepare`.
#[derive(Debug)]
pub(crate) struct Workload {
    /// The name.
    pub(crate) name: &'static str,
    /// A description of one line.
    pub(crate) what: &'static str,
    /// Fills and ages the memory, then leaves the same amount of free memory on each kernel, so that all sides begin
    /// alike.
    pub(crate) prepare: &'static str,
    /// The recorded commands.
    pub(crate) run: &'static str,
}

/// Every workload.
pub(crate) static WORKLOADS: [Workload; 7] = [
    Workload {
        name: "build",
        what: "gcc compiles small files, three at a time",
        prepare: "read-files.sh; build.sh make \"$WORK/one\" 6; build.sh make \"$WORK/two\" 9; build.sh run \"$WORK/one\" 3; leave.sh 160",
        run: "build.sh run \"$WORK/two\" 3",
    },
    Workload {
        name: "files",
        what: "small files are copied and removed, large ones are read",
        prepare: "read-files.sh; file-churn.sh \"$WORK/warm\" 2 /usr/include; leave.sh 100",
        run: "file-churn.sh \"$WORK/files\" 5 /usr/include",
    },
    Workload {
        name: "forks",
        what: "programs start and end at once, from two shells",
        prepare: "read-files.sh; forks.sh 20; leave.sh 100",
        run: "forks.sh 150",
    },
    Workload {
        name: "memory-files",
        what: "files in memory are written and removed, from two shells",
        prepare: "read-files.sh; memory-files.sh 60 1; leave.sh 130",
        run: "memory-files.sh 45 12",
    },
    Workload {
        name: "huge-pages",
        what: "transparent huge pages in batches, beside page cache",
        // Linux turns huge pages off where there is less than 512 MiB.
        prepare: "echo always > /sys/kernel/mm/transparent_hugepage/enabled; read-files.sh; thp-churn 6 64 $(large-files.sh); echo never > /sys/kernel/mm/transparent_hugepage/enabled; leave.sh 260; echo always > /sys/kernel/mm/transparent_hugepage/enabled",
        run: "thp-churn 160 64 $(large-files.sh)",
    },
    Workload {
        name: "database",
        what: "two SQLite databases: rows are added, sorted, changed, removed",
        prepare: "read-files.sh; tables.sh \"$WORK/warm\" 2000; leave.sh 96",
        run: "tables.sh \"$WORK/tables\" 20000",
    },
    Workload {
        name: "memory-short",
        what: "files in memory leave little, grow and go, while page cache is read",
        prepare: "read-files.sh; near-the-marks.sh 50 1; leave.sh 300",
        run: "near-the-marks.sh 50 5",
    },
];
