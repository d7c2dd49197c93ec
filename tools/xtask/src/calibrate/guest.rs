//! Guests: makes a state, saves it, and goes on from it with each request.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use freehold_vm::{Arch, Disk, Entry, Guest, Machine, State as Saved, VmError, archive};

use super::requests::{Range, Requester, requests};
use super::rows::Row;
use super::states::State;
use crate::counterfactual::programs::said;
use crate::dist::libraries::succeeds;
use crate::dist::processor::Processor;
use crate::guest::given::given;
use crate::guest::kernel::{Kernel, busybox};
use crate::kernel::process::{command, require};

/// The first process.
const INIT: &str = include_str!("init.sh");

/// The modules of both disks, in the order of loading.
const MODULES: [&str; 13] = [
    "virtio",
    "virtio_ring",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "virtio_blk",
    "crc16",
    "crc32c_generic",
    "libcrc32c",
    "mbcache",
    "jbd2",
    "ext4",
    "xfs",
];

/// The size of each disk in MiB. The images are sparse.
const DISK_MIB: u64 = 1536;

/// How long a state may take.
const STATE: Duration = Duration::from_mins(5);

/// How long a request may take.
const REQUEST: Duration = Duration::from_mins(2);

/// The files that every guest needs.
#[derive(Debug)]
pub(super) struct Guests {
    /// A folder for images and roots.
    folder: PathBuf,
    /// The static program that fragments.
    fragment: Vec<u8>,
    busybox: Vec<u8>,
}

/// The files of a state, and what was served.
#[derive(Debug)]
pub(super) struct Observed {
    /// Paths below the root, with contents.
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) rows: Vec<Row>,
}

impl Guests {
    /// Builds the program and the disks in `folder`.
    ///
    /// # Errors
    /// If a program is missing or fails.
    pub(super) fn new(root: &Path, folder: &Path) -> Result<Self, String> {
        Arch::X86_64.check().map_err(|error| error.to_string())?;
        for (program, package) in [("mkfs.ext4", "e2fsprogs"), ("mkfs.xfs", "xfsprogs")] {
            require(program, package).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for (kind, options) in [("ext4", &["-q", "-F"][..]), ("xfs", &["-q", "-f"])] {
            let image = folder.join(kind);
            let file = fs::File::create(&image).and_then(|file| file.set_len(DISK_MIB << 20));
            file.map_err(|error| format!("{}: {error}", image.display()))?;
            said(command(&format!("mkfs.{kind}")).args(options).arg(&image))?;
        }
        let fragment = fragment(root)?;
        Ok(Self { folder: folder.to_owned(), fragment, busybox: busybox(Processor::X86_64)? })
    }

    /// Makes a state, and makes each request from it.
    ///
    /// # Errors
    /// If the state cannot be made or saved.
    pub(super) fn observe(&self, state: &State) -> Result<Observed, String> {
        let text = |error: VmError| error.to_string();
        let mut guest = Guest::boot(&self.machine(state)?).map_err(text)?;
        let console = guest.console();
        let mut made = console.until("READY", STATE).map_err(text)?;
        console.send(&format!("{}; sleep 1", state.recipe)).map_err(text)?;
        made += &console.until("DONE", STATE).map_err(text)?;
        if let Some(failed) = made.lines().find(|line| line.starts_with("FAILED")) {
            return Err(failed.to_owned());
        }
        let saved = self.folder.join(format!("saved-{}", state.name));
        let saved_state = Saved::save(guest, &saved).map_err(text)?;
        let observed = observe_saved(state, &saved_state);
        let _ = fs::remove_dir_all(&saved);
        let _ = fs::remove_file(self.root_of(state));
        observed
    }

    fn root_of(&self, state: &State) -> PathBuf {
        self.folder.join(format!("root-{}", state.name))
    }

    fn machine(&self, state: &State) -> Result<Machine, String> {
        let kernel = Kernel::newest_with(Processor::X86_64, &state.kernel, "cloud-amd64", &MODULES)?;
        let modules = kernel.modules.iter().enumerate();
        let modules: Vec<_> =
            modules.map(|(at, (name, bytes))| (format!("modules/{at:02}-{name}.ko"), bytes)).collect();
        let folders = ["bin", "dev", "modules", "proc", "sys", "tmp", "usr", "usr/bin"];
        let mut entries: Vec<_> = folders.iter().map(|name| Entry::folder(name)).collect();
        entries.extend(modules.iter().map(|(name, bytes)| Entry::file(name, bytes)));
        entries.extend([
            Entry::program("bin/busybox", &self.busybox),
            Entry::program("usr/bin/fragment", &self.fragment),
            Entry::program("init", INIT.as_bytes()),
        ]);
        let packed = archive(&entries).map_err(|error| error.to_string())?;
        let root = self.root_of(state);
        fs::write(&root, packed).map_err(|error| format!("{}: {error}", root.display()))?;
        let mut machine = Machine::new(Arch::X86_64, &kernel.image);
        (machine.cpus, machine.memory_mib) = (state.cpus, state.memory_mib);
        machine.initramfs = Some(root);
        machine.disks = ["ext4", "xfs"].map(|kind| Disk::Virtio { image: self.folder.join(kind) }).to_vec();
        machine.is_savable = true;
        machine.limit = Duration::from_mins(12);
        "console=ttyS0 quiet loglevel=1 panic=-1".clone_into(&mut machine.parameters);
        Ok(machine)
    }
}

/// Reads the files of a saved state, and makes its requests.
fn observe_saved(state: &State, saved: &Saved) -> Result<Observed, String> {
    let console = run(saved, "files")?;
    let given = given(&console).into_iter();
    let files: Result<Vec<_>, String> = given
        .map(|(name, bytes)| Ok((name.trim_start_matches('/').to_owned(), unpacked(&bytes?)?)))
        .collect();
    let files = files?;
    let text = |name: &str| {
        let file = files.iter().find(|(path, _)| path == name);
        file.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).ok_or(format!("no {name}"))
    };
    let range = range(&text("proc/buddyinfo")?, &text("proc/meminfo")?);
    let mut rows = Vec::new();
    for (by, blocks) in requests(&state.name, range) {
        let mut row = Row::unanswered(state, by, blocks);
        match run(saved, &format!("{} {blocks}", by.name())) {
            Ok(console) => row.served = served(&console),
            Err(error) => eprintln!("{}: {} {blocks}: {error}", state.name, by.name()),
        }
        rows.push(row);
    }
    debug_assert!(rows.iter().any(|row| row.by == Requester::Hugetlb.name()));
    Ok(Observed { files, rows })
}

/// Goes on from the state with a line of shell, and returns what the guest printed.
fn run(saved: &Saved, line: &str) -> Result<String, String> {
    let text = |error: VmError| error.to_string();
    let mut guest = saved.resume("", "").map_err(text)?;
    let console = guest.console();
    console.until("DONE", REQUEST).map_err(text)?;
    console.send(line).map_err(text)?;
    console.until("DONE", REQUEST).map_err(text)
}

/// Returns the numbers of the line with what was served.
fn served(console: &str) -> Vec<u64> {
    let line = console.lines().find_map(|line| line.strip_prefix("served"));
    line.map_or_else(Vec::new, |line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
}

/// Returns the blocks of 2 MiB that are free, and that all memory would make.
fn range(buddyinfo: &str, meminfo: &str) -> Range {
    const FIRST_COUNT: usize = 4;
    let free = buddyinfo.lines().map(|line| {
        let counts = line.split_whitespace().skip(FIRST_COUNT).enumerate().skip(9);
        counts.map(|(order, count)| count.parse::<u64>().unwrap_or(0) << (order - 9)).sum::<u64>()
    });
    let kib = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = kib.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0);
    Range { free: free.sum(), all: kib >> 11 }
}

/// Unpacks a file.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let io = |error: std::io::Error| format!("{}: {error}", file.path().display());
    fs::write(&file, bytes).map_err(io)?;
    succeeds(command("gzip").arg("-dc").stdin(file.reopen().map_err(io)?), "the guest's file is damaged")
}

/// Builds the static program that fragments, and returns it.
fn fragment(root: &Path) -> Result<Vec<u8>, String> {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    let mut cargo = command("cargo");
    cargo.current_dir(root).env("RUSTFLAGS", "-C target-feature=+crt-static");
    cargo.args(["build", "--locked", "--quiet", "--release", "--package=freehold-cli", "--features=live"]);
    said(cargo.args(["--example=fragment", "--target", TARGET]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let program = target.join(TARGET).join("release/examples/fragment");
    fs::read(&program).map_err(|error| format!("{}: {error}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_what_a_guest_prints() {
        assert_eq!(served("x\nserved 70 71 90\n"), [70, 71, 90]);
        assert!(served("Killed\n").is_empty());
        let buddyinfo = "Node 0, zone    DMA32      5      0      1      1      1      1      1      1      1      3      2\n";
        let found = range(buddyinfo, "MemTotal:         480000 kB\n");
        assert_eq!((found.free, found.all), (7, 234));
    }
}
