//! The commands of `cargo xtask live`.

use std::path::PathBuf;

use crate::dist::processor::Processor;
use crate::guest::kernel;

/// A live test program and what it does to the machine.
#[derive(Debug)]
pub(super) struct Command {
    /// The name on the command line.
    pub(super) name: &'static str,
    /// What it does to this machine, in a sentence.
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
        effect: "fragments and compacts this machine's memory, changes huge-page pools and per-CPU lists, records by \
                 tracefs, fills small file systems, and starts browsers, Prometheus and terminals",
        manifest: PRODUCT,
        folder: "crates/cli",
        package: "freehold-cli",
        features: "live,bpf",
        covers: &["crates/cli", "crates/monitor", "crates/linux", "contrib"],
    },
    Command {
        name: "linux",
        effect: "records this machine by tracefs, perf and bpftrace, reads its free lists by BPF, and compacts its memory",
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
        effect: "reads traces with PyArrow, which it installs from the Python registry in an environment of its own",
        manifest: PRODUCT,
        folder: "crates/trace",
        package: "freehold-trace",
        features: "live",
        covers: &["crates/trace"],
    },
    Command {
        name: "python",
        effect: "builds the wheel, installs it with its dependencies in an environment of its own, and tries it there",
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
        effect: "boots guests in QEMU, starts a browser, and installs the package of `cargo xtask dist` in a root of its own",
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
    /// Returns the variables of the environment that the tests need. What they name is fetched if it is missing.
    ///
    /// # Errors
    /// A sentence, if something cannot be had.
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
