//! The package for Debian: the program, its manual, completions, the unit for systemd, and what is inside.
//!
//! `cargo-deb` packs it. What goes where is in `crates/cli/Cargo.toml`, which names the files of [`STAGE`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel::process::{command, require};

use super::libraries::succeeds;
use super::processor::Processor;

/// The folder of the files of a package that are not in the repository.
const STAGE: &str = "target/deb";

/// What packages of each architecture have alike, made once.
#[derive(Debug)]
pub(crate) struct Texts {
    version: String,
    /// The seconds since 1970 of the commit.
    epoch: String,
}

impl Texts {
    /// Lets a program of this machine write manual and completions: `program`, or the workspace's own.
    ///
    /// # Errors
    /// A sentence, if it does not build.
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
            succeeds(&mut run, "freehold does not tell its command line")
        };
        let stage = root.join(STAGE);
        // What an older program had to say is not in the package.
        let _ = fs::remove_dir_all(&stage);
        fs::create_dir_all(&stage).map_err(|error| format!("{}: {error}", stage.display()))?;
        freehold(&["man", &stage.join("man1").to_string_lossy()])?;
        for shell in ["bash", "zsh", "fish"] {
            put(&stage.join(shell), &freehold(&["completions", shell])?)?;
        }
        let unit = root.join("contrib/systemd/freehold.service");
        let unit = fs::read_to_string(&unit).map_err(|error| format!("{}: {error}", unit.display()))?;
        let unit = unit.replace("/usr/local/bin/freehold", "/usr/bin/freehold");
        put(&stage.join("freehold.service"), unit.as_bytes())?;
        Ok(Self { version: version.to_owned(), epoch: epoch.to_owned() })
    }
}

/// What a package is made of besides [`Texts`].
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) arch: Processor,
    pub(crate) program: &'a Path,
    pub(crate) spdx: &'a str,
    pub(crate) licences: &'a str,
}

/// Makes the package in `folder` and returns its file.
///
/// # Errors
/// A sentence, if a file cannot be read or written, or `cargo-deb` is missing or fails.
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
