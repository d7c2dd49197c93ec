//! Makes wheels of the Python package, and its source for pip.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::kernel::process::{command, require};
use crate::kernel::scratch::Scratch;

use super::libc::mapped;
use super::libraries::succeeds;
use super::processor::Processor;

/// The C library that a wheel needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Platform {
    /// glibc 2.17 and newer.
    Manylinux,
    /// musl 1.2 and newer.
    Musllinux,
}

impl Platform {
    pub(crate) const ALL: [Self; 2] = [Self::Manylinux, Self::Musllinux];

    /// Returns Python's name for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Manylinux => "manylinux_2_17",
            Self::Musllinux => "musllinux_1_2",
        }
    }

    /// Returns the compiler's target for it on a processor.
    pub(crate) const fn target(self, arch: Processor) -> &'static str {
        match (self, arch) {
            (Self::Manylinux, Processor::X86_64) => "x86_64-unknown-linux-gnu",
            (Self::Manylinux, Processor::Arm64) => "aarch64-unknown-linux-gnu",
            (Self::Musllinux, arch) => arch.target(),
        }
    }
}

/// Removes a file when dropped.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The tools that build wheels, in a virtual environment of Python.
#[derive(Debug)]
pub(crate) struct Tools {
    root: PathBuf,
    /// The folder of its programs.
    bin: PathBuf,
    /// The time of the commit.
    epoch: String,
}

impl Tools {
    /// Installs the tools of `python/wheel-tools.txt` unless they exist.
    ///
    /// # Errors
    /// If there is no Python, or a tool cannot be installed.
    pub(crate) fn new(root: &Path, epoch: &str) -> Result<Self, String> {
        require("python3", "python3-venv").map_err(|error| error.to_string())?;
        let place = root.join("target/wheel-tools");
        let bin = place.join("bin");
        succeeds(command("python3").args(["-m", "venv"]).arg(&place), "no virtual environment of Python")?;
        let mut pip = command(&bin.join("pip").to_string_lossy());
        pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]);
        succeeds(
            pip.arg(root.join("python/wheel-tools.txt")),
            "the tools that build wheels cannot be installed",
        )?;
        Ok(Self { root: root.to_owned(), bin, epoch: epoch.to_owned() })
    }

    /// Builds a wheel that contains the texts `licences`, and returns its file in `folder`.
    ///
    /// It contains no paths of this machine.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn wheel(
        &self,
        platform: Platform,
        arch: Processor,
        licences: &str,
        folder: &Path,
    ) -> Result<PathBuf, String> {
        let texts = Passing(self.root.join("python/freehold/licences.txt"));
        fs::write(&texts.0, licences).map_err(|error| format!("{}: {error}", texts.0.display()))?;
        let target = platform.target(arch);
        let mapped = mapped(&self.root)?;
        let maps = mapped.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
        let mut maturin = self.maturin("build")?;
        maturin.args(["--locked", "--profile=dist", "--zig", "--target", target]);
        maturin.args(["--compatibility", platform.name()]);
        maturin.env("CARGO_ENCODED_RUSTFLAGS", maps.join("\u{1f}"));
        made(&mut maturin, folder).map_err(|error| {
            format!(
                "the wheel for {} on {} does not build; `rustup target add {target}` gets what Rust needs for it: {error}",
                platform.name(),
                arch.name()
            )
        })
    }

    /// Packs the package's source, and returns its file in `folder`.
    ///
    /// # Errors
    /// If a file cannot be packed.
    pub(crate) fn source(&self, folder: &Path) -> Result<PathBuf, String> {
        made(&mut self.maturin("sdist")?, folder)
            .map_err(|error| format!("the source of the Python package cannot be packed: {error}"))
    }

    fn maturin(&self, what: &str) -> Result<Command, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([self.bin.clone()].into_iter().chain(env::split_paths(&path)));
        let mut maturin = command(&self.bin.join("maturin").to_string_lossy());
        maturin.args([what, "--manifest-path"]).arg(self.root.join("python/Cargo.toml"));
        maturin.env("PATH", path.map_err(|error| format!("PATH: {error}"))?);
        maturin.env("SOURCE_DATE_EPOCH", &self.epoch).stderr(Stdio::inherit());
        Ok(maturin)
    }
}

/// Runs maturin, and moves its output into `folder`.
fn made(maturin: &mut Command, folder: &Path) -> Result<PathBuf, String> {
    let scratch = Scratch::within(folder).map_err(|error| error.to_string())?;
    let status = maturin.arg("--out").arg(scratch.path()).status();
    let status = status.map_err(|error| format!("maturin cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("maturin ended with {status}"));
    }
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    let made = fs::read_dir(scratch.path()).map_err(said)?.next().ok_or("maturin made no file")?;
    let made = made.map_err(said)?;
    let place = folder.join(made.file_name());
    fs::rename(made.path(), &place).map_err(said)?;
    Ok(place)
}
