//! `cargo xtask dist`: builds the release of a commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::{Args, ValueEnum};

use crate::kernel::process::{command, require};
use crate::kernel::scratch::Scratch;

use super::inside::Whole;
use super::libraries::succeeds;
use super::package::{self, Contents, Texts};
use super::processor::Processor;
use super::wheel::{Platform, Tools};
use super::{contents, inside, program, source};

/// The largest permitted program.
///
/// Units: bytes.
const LARGEST: u64 = 12_000_000;

/// The version of the release, which is that of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Build a release: static programs, packages, wheels, sources, lists of contents
#[derive(Args, Debug)]
pub struct DistArgs {
    /// Processors to build for; by default, both
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Processor::X86_64, Processor::Arm64])]
    arch: Vec<Processor>,
    /// Folder for the files; existing files are replaced
    #[arg(long, default_value = "target/handed-out", value_name = "FOLDER")]
    folder: PathBuf,
    /// Build only this part
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Build everything except the sources
    #[arg(long)]
    without_source: bool,
    /// Build again from a clone in another folder, and compare every byte
    #[arg(long)]
    twice: bool,
}

/// A part of the release.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Only {
    /// The programs without packages, from the files as they are
    Programs,
    /// The wheels of the Python package, and its source
    Wheels,
}

/// A commit as the release names it.
struct Commit {
    name: String,
    /// Seconds since 1970.
    epoch: String,
    /// The same time in the format of RFC 3339.
    time: String,
}

/// Builds the release. Returns false if a program is too large, or a second build differs.
///
/// # Errors
/// If something cannot be built.
pub fn run(arguments: &DistArgs, root: &Path) -> Result<bool, String> {
    let folder = std::path::absolute(&arguments.folder).map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let commit = commit(root)?;
    let only_programs = arguments.only == Some(Only::Programs);
    if only_programs && arguments.twice {
        return Err(
            "a second build needs a commit, and --only programs takes the files as they are".to_owned()
        );
    }
    if !only_programs {
        refuse_changes(root)?;
    }
    let mut names = Vec::new();
    let mut fits = true;
    let programs = if arguments.only == Some(Only::Wheels) { &[] } else { arguments.arch.as_slice() };
    for &arch in programs {
        let built = program::build(arch, root, &commit.epoch)?;
        let name = format!("freehold-{VERSION}-{}", arch.name());
        let place = folder.join(&name);
        let bytes = fs::copy(&built, &place).map_err(|error| format!("{}: {error}", place.display()))?;
        println!("{name}: {bytes} bytes");
        if bytes > LARGEST {
            println!("{name}: more than {LARGEST} bytes");
            fits = false;
        }
        names.push(name);
    }
    if only_programs {
        sum_up(&folder, &mut names)?;
        return Ok(fits);
    }
    if !programs.is_empty() {
        let own = programs.iter().find(|arch| arch.is_this_machine());
        let own = own.map(|arch| folder.join(format!("freehold-{VERSION}-{}", arch.name())));
        let texts = Texts::new(root, own.as_deref(), VERSION, &commit.epoch)?;
        for &arch in programs {
            let program = folder.join(format!("freehold-{VERSION}-{}", arch.name()));
            names.extend(packed(arch, root, &texts, &program, &commit, &folder)?);
        }
        if !arguments.without_source {
            names.push(file_name(&source::pack(root, VERSION, &commit.name, &commit.epoch, &folder)?));
        }
    }
    names.extend(wheels(arguments, root, &commit, &folder)?);
    sum_up(&folder, &mut names)?;
    if arguments.twice {
        fits &= is_the_same_again(arguments, root, &folder)?;
    }
    Ok(fits)
}

/// Makes the package and the list of contents for a processor. Returns the names of the files.
fn packed(
    arch: Processor,
    root: &Path,
    texts: &Texts,
    program: &Path,
    commit: &Commit,
    folder: &Path,
) -> Result<Vec<String>, String> {
    let parts = inside::parts(Whole::Program, arch.target(), root)?;
    let name = format!("freehold-{VERSION}-{}", arch.name());
    let what = format!("The static program for {}", arch.name());
    let spdx = contents::spdx(&parts, &name, &what, VERSION, &commit.name, &commit.time);
    let spdx = format!("{spdx:#}\n");
    let list = folder.join(format!("{name}.spdx.json"));
    fs::write(&list, &spdx).map_err(|error| format!("{}: {error}", list.display()))?;
    let licences = contents::licences(&parts);
    let contents = Contents { arch, program, spdx: &spdx, licences: &licences };
    let package = package::make(root, texts, &contents, folder)?;
    println!("{}: {} parts inside", file_name(&package), parts.len());
    Ok(vec![file_name(&list), file_name(&package)])
}

/// Makes the wheels, their lists of contents and the package's source. Returns the names of the files.
fn wheels(arguments: &DistArgs, root: &Path, commit: &Commit, folder: &Path) -> Result<Vec<String>, String> {
    let tools = Tools::new(root, &commit.epoch)?;
    let mut names = Vec::new();
    for (&arch, platform) in arguments.arch.iter().flat_map(|arch| Platform::ALL.map(|of| (arch, of))) {
        let parts = inside::parts(Whole::Wheel, platform.target(arch), root)?;
        let wheel = tools.wheel(platform, arch, &contents::licences(&parts), folder)?;
        let name = file_name(&wheel);
        let bytes = fs::metadata(&wheel).map_err(|error| format!("{}: {error}", wheel.display()))?.len();
        println!("{name}: {bytes} bytes, {} parts inside", parts.len());
        let what = format!("The wheel for {} on {}", platform.name(), arch.name());
        let spdx = contents::spdx(&parts, &name, &what, VERSION, &commit.name, &commit.time);
        let list = folder.join(format!("{name}.spdx.json"));
        fs::write(&list, format!("{spdx:#}\n")).map_err(|error| format!("{}: {error}", list.display()))?;
        names.extend([name, file_name(&list)]);
    }
    if !arguments.without_source {
        names.push(file_name(&tools.source(folder)?));
    }
    Ok(names)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the commit that is checked out.
fn commit(root: &Path) -> Result<Commit, String> {
    require("git", "git").map_err(|error| error.to_string())?;
    let git = |words: &[&str]| {
        let said = succeeds(command("git").current_dir(root).args(words), "git does not know the commit")?;
        Ok::<_, String>(String::from_utf8_lossy(&said).trim().to_owned())
    };
    Ok(Commit {
        name: git(&["describe", "--always", "--abbrev=12"])?,
        epoch: git(&["log", "-1", "--format=%ct"])?,
        time: {
            let mut date = command("git");
            date.env("TZ", "UTC").current_dir(root);
            date.args(["log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd"]);
            String::from_utf8_lossy(&succeeds(&mut date, "git does not know the commit")?).trim().to_owned()
        },
    })
}

/// Fails if there are uncommitted changes.
fn refuse_changes(root: &Path) -> Result<(), String> {
    let mut git = command("git");
    git.current_dir(root).args(["status", "--porcelain"]);
    let said = succeeds(&mut git, "git does not list the changes")?;
    if said.is_empty() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&said).into_owned();
    Err(format!(
        "a release is built from a commit, and there are uncommitted changes; commit them first, or build \
         --only programs:\n{said}"
    ))
}

/// Writes the checksums of the files. Keeps the checksums of the folder's older files.
fn sum_up(folder: &Path, names: &mut Vec<String>) -> Result<(), String> {
    let place = folder.join("SHA256SUMS");
    let before = fs::read_to_string(&place).unwrap_or_default();
    let still = before.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name.to_owned());
    names.extend(still.filter(|name| folder.join(name).is_file()));
    names.sort();
    names.dedup();
    let mut sum = command("sha256sum");
    let sums = succeeds(sum.current_dir(folder).arg("--").args(names.iter()), "sha256sum fails")?;
    fs::write(&place, &sums).map_err(|error| format!("{}: {error}", place.display()))?;
    print!("{}", String::from_utf8_lossy(&sums));
    Ok(())
}

/// Builds in a clone. Returns true if all checksums are the same.
fn is_the_same_again(arguments: &DistArgs, root: &Path, folder: &Path) -> Result<bool, String> {
    let scratch = Scratch::new().map_err(|error| error.to_string())?;
    let clone = scratch.path().join("again");
    let mut git = command("git");
    git.args(["clone", "--quiet", "--no-hardlinks"]).arg(root).arg(&clone);
    succeeds(&mut git, "the commit cannot be cloned")?;
    let mut again = command("cargo");
    again.current_dir(&clone).env_remove("CARGO_TARGET_DIR").stdout(Stdio::null()).stderr(Stdio::inherit());
    again.args(["run", "--locked", "--quiet", "--package=xtask", "--", "dist", "--folder", "again"]);
    for arch in &arguments.arch {
        again.args(["--arch", arch.name()]);
    }
    again.args(arguments.without_source.then_some("--without-source"));
    again.args((arguments.only == Some(Only::Wheels)).then_some("--only=wheels"));
    let status = again.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err("the second build failed".to_owned());
    }
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let (first, second) = (read(&folder.join("SHA256SUMS"))?, read(&clone.join("again/SHA256SUMS"))?);
    let differ = differing(&second, &first);
    for name in &differ {
        println!("{name}: the second build differs");
    }
    if differ.is_empty() {
        println!("a second build in another folder has the same bytes");
    }
    Ok(differ.is_empty())
}

/// Returns the lines of `first` that `second` does not have.
fn differing<'a>(first: &'a str, second: &str) -> Vec<&'a str> {
    first.lines().filter(|line| !second.lines().any(|other| other == *line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_existing_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["program", "wheel"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::write(folder.path().join("SHA256SUMS"), "0  gone\n0  program\n0  wheel\n").unwrap();
        sum_up(folder.path(), &mut vec!["wheel".to_owned()]).unwrap();
        let sums = fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap();
        let names: Vec<_> = sums.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
        assert_eq!(names, ["program", "wheel"]);
        assert!(!sums.contains("0  "), "{sums}");
    }

    #[test]
    fn differing_finds_changed_checksums() {
        assert_eq!(differing("ab  one\ncd  two\n", "ab  one\nce  two\n"), ["cd  two"]);
        assert!(differing("ab  one\n", "ab  one\n").is_empty());
    }
}
