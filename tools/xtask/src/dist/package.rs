//! The Debian package: the program, its manual, completions, the systemd unit, and the list of contents.
//!
//! `cargo-deb` packs it. `crates/cli/Cargo.toml` says where each file of [`STAGE`] goes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel::process::{command, require};

use super::libraries::succeeds;
use super::processor::Processor;

/// The folder of those files of a package that are not in the repository.
const STAGE: &str = "target/deb";

/// The files that are the same in the packages of all processors.
#[derive(Debug)]
pub(crate) struct Texts {
    version: String,
    /// The time of the commit in seconds since 1970.
    epoch: String,
}

impl Texts {
    /// Runs `program`, or one built here, to write the manual and the completions.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn new(
        root: &Path,
        program: Option<&Path>,
        version: &str,
        epoch: &str,
    ) -> Result<Self, String> {
        let freehold = |words: &[&str]| {
            let mut run =
                command(program.map_or("cargo".as_ref(), Path::as_os_str).to_string_lossy().as_ref());
            run.current_dir(root);
            if program.is_none() {
                run.args(["run", "--locked", "--quiet", "--package=freehold-cli", "--"]);
            }
            run.args(words);
            succeeds(&mut run, "freehold does not print its command line")
        };
        let stage = root.join(STAGE);
        // The texts of an older program must not be in the package.
        let _ = fs::remove_dir_all(&stage);
        fs::create_dir_all(&stage).map_err(|error| format!("{}: {error}", stage.display()))?;
        freehold(&["dev", "man", &stage.join("man1").to_string_lossy()])?;
        for shell in ["bash", "zsh", "fish"] {
            put(&stage.join(shell), &freehold(&["dev", "completions", shell])?)?;
        }
        let unit = root.join("contrib/systemd/freehold.service");
        let unit = fs::read_to_string(&unit).map_err(|error| format!("{}: {error}", unit.display()))?;
        let unit = unit.replace("/usr/local/bin/freehold", "/usr/bin/freehold");
        put(&stage.join("freehold.service"), unit.as_bytes())?;
        Ok(Self { version: version.to_owned(), epoch: epoch.to_owned() })
    }
}

/// The parts of a package, in addition to [`Texts`].
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) arch: Processor,
    pub(crate) program: &'a Path,
    pub(crate) spdx: &'a str,
    pub(crate) licences: &'a str,
}

/// Makes the package in `folder`, and returns its file.
///
/// # Errors
/// If a file cannot be read or written, or `cargo-deb` is missing or fails.
pub(crate) fn make(
    root: &Path,
    texts: &Texts,
    contents: &Contents<'_>,
    folder: &Path,
) -> Result<PathBuf, String> {
    require("gzip", "gzip").map_err(|error| error.to_string())?;
    require("cargo-deb", "`cargo install cargo-deb --locked`").map_err(|error| error.to_string())?;
    let stage = root.join(STAGE);
    let program = stage.join("freehold");
    fs::copy(contents.program, &program).map_err(|error| format!("{}: {error}", program.display()))?;
    put(&stage.join("freehold.spdx.json"), contents.spdx.as_bytes())?;
    let licences = stage.join("licences.txt");
    put(&licences, contents.licences.as_bytes())?;
    // Without name and time in it.
    succeeds(command("gzip").arg("-9nf").arg(&licences), "gzip fails")?;
    let place = folder.join(format!("freehold_{}_{}.deb", texts.version, contents.arch.debian()));
    let mut pack = command("cargo");
    pack.current_dir(root).env("SOURCE_DATE_EPOCH", &texts.epoch);
    pack.args(["deb", "--no-build", "--no-strip", "--locked", "--quiet", "--package=freehold-cli"]);
    pack.args(["--target", contents.arch.target(), "--deb-version", &texts.version, "--output"]);
    succeeds(pack.arg(&place), "the package cannot be packed")?;
    Ok(place)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
