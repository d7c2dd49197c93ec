//! The commands of `cargo xtask live`.

use std::path::PathBuf;

use crate::dist::processor::Processor;
use crate::guest::kernel;

/// A live test program, and its effects on the machine.
#[derive(Debug)]
pub(super) struct Command {
    /// The name on the command line.
    pub(super) name: &'static str,
    /// Its effects on this machine, as a verb phrase.
    pub(super) effect: &'static str,
    /// The manifest of its workspace.
    pub(super) manifest: &'static str,
    /// The crate's folder, whose `live` holds the tests.
    pub(super) folder: &'static str,
    /// The package.
    pub(super) package: &'static str,
    /// Features of the package.
    pub(super) features: &'static str,
    /// Paths whose changes make an old verdict stale.
    pub(super) covers: &'static [&'static str],
}

const PRODUCT: &str = "Cargo.toml";
const WORKSHOP: &str = "tools/Cargo.toml";

/// All commands.
pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "cli",
        effect: "fragments and compacts this machine's memory, changes huge-page pools and per-CPU lists, records with \
                 tracefs, fills small file systems, and starts browsers, Prometheus and terminals",
        manifest: PRODUCT,
        folder: "crates/cli",
        package: "freehold-cli",
        features: "live,bpf",
        covers: &["crates/cli", "crates/monitor", "crates/linux", "contrib"],
    },
    Command {
        name: "linux",
        effect: "records this machine with tracefs, perf and bpftrace, reads its free lists with BPF, and compacts its memory",
        manifest: PRODUCT,
        folder: "crates/linux",
        package: "freehold-linux",
        features: "live,bpf",
        covers: &["crates/linux", "contrib/bpftrace"],
    },
    Command {
        name: "capi",
        effect: "compiles a program in C++ against the C interface",
        manifest: PRODUCT,
        folder: "crates/capi",
        package: "freehold-capi",
        features: "live",
        covers: &["crates/capi"],
    },
    Command {
        name: "trace",
        effect: "reads traces with PyArrow, which it installs from the Python registry in a virtual environment",
        manifest: PRODUCT,
        folder: "crates/trace",
        package: "freehold-trace",
        features: "live",
        covers: &["crates/trace"],
    },
    Command {
        name: "python",
        effect: "builds the wheel, installs it with its dependencies in a virtual environment, and tests it there",
        manifest: PRODUCT,
        folder: "python",
        package: "freehold-python",
        features: "live",
        covers: &["python", "crates/lab"],
    },
    Command {
        name: "vm",
        effect: "fetches a kernel and busybox from Debian, and boots and saves guests in QEMU",
        manifest: PRODUCT,
        folder: "crates/vm",
        package: "freehold-vm",
        features: "live",
        covers: &["crates/vm"],
    },
    Command {
        name: "workshop",
        effect: "boots guests in QEMU, starts a browser, and installs the package of `cargo xtask dist` in an empty root",
        manifest: WORKSHOP,
        folder: "tools/xtask",
        package: "xtask",
        features: "live",
        covers: &["tools", "crates/web", "traces"],
    },
];

/// Returns the command of this name.
pub(super) fn command(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

impl Command {
    /// Returns the environment variables that the tests need. Fetches the files that they name if these are missing.
    ///
    /// # Errors
    /// If a file cannot be fetched.
    pub(super) fn variables(&self) -> Result<Vec<(&'static str, PathBuf)>, String> {
        match self.name {
            "vm" => kernel::vm_variables(Processor::X86_64).map(Vec::from),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns Cargo's arguments up to the filter of tests.
    pub(super) fn cargo(&self) -> Vec<&'static str> {
        let of = ["test", "--manifest-path", self.manifest, "--package", self.package, "--test", "live"];
        of.into_iter().chain(["--features", self.features]).collect()
    }
}
