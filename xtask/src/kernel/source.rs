//! Gets a kernel's source: Debian's package, or a folder that the user named.

use std::fs;
use std::path::{Path, PathBuf};

use super::apt::Apt;
use super::error::{KernelError, KernelResult};
use super::files::read;
use super::process::{Job, command, is_on_path, require};
use super::version::{KernelVersion, package_of, suite_of};

/// Puts the source of a kernel into `tree`, which does not exist yet or is complete.
///
/// `room` is a folder for temporary files.
pub(crate) fn unpack(
    version: KernelVersion,
    source: Option<&Path>,
    tree: &Path,
    room: &Path,
    job: &Job,
) -> KernelResult<()> {
    if tree.is_dir() {
        return Ok(());
    }
    // An interrupted run may have left files.
    if room.exists() {
        fs::remove_dir_all(room).map_err(KernelError::file(room))?;
    }
    fs::create_dir_all(room).map_err(KernelError::file(room))?;
    let unpacked = match source {
        Some(folder) => copy(version, folder, room, job)?,
        None => extract(version, &fetch(version, room, job)?, room, job)?,
    };
    check(version, &unpacked)?;
    fs::rename(&unpacked, tree).map_err(KernelError::file(tree))?;
    fs::remove_dir_all(room).map_err(KernelError::file(room))
}

/// Fails if a folder does not contain the source of this kernel.
pub(crate) fn check(version: KernelVersion, folder: &Path) -> KernelResult<()> {
    let bad = |detail: String| KernelError::BadSource { path: folder.to_owned(), version, detail };
    let makefile = read(&folder.join("Makefile")).map_err(|_| bad("it has no Makefile".to_owned()))?;
    let found = series(&makefile).ok_or_else(|| bad("its Makefile names no version".to_owned()))?;
    if found == version.name() { Ok(()) } else { Err(bad(format!("it is Linux {found}"))) }
}

/// Returns the full version in a source's Makefile.
pub(crate) fn release(version: KernelVersion, folder: &Path) -> KernelResult<String> {
    check(version, folder)?;
    let makefile = read(&folder.join("Makefile"))?;
    let sublevel = number(&makefile, "SUBLEVEL").unwrap_or_default();
    Ok(format!("{version}.{sublevel}{}", number(&makefile, "EXTRAVERSION").unwrap_or_default()))
}

/// Returns the first two numbers of the version in a kernel's Makefile.
fn series(makefile: &str) -> Option<String> {
    Some(format!("{}.{}", number(makefile, "VERSION")?, number(makefile, "PATCHLEVEL")?))
}

/// Returns a part of the version in a kernel's Makefile.
fn number(makefile: &str, name: &str) -> Option<String> {
    makefile.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn copy(version: KernelVersion, folder: &Path, room: &Path, job: &Job) -> KernelResult<PathBuf> {
    check(version, folder)?;
    let copied = room.join("linux");
    job.run(command("cp").args(["-a", "--reflink=auto"]).arg(folder).arg(&copied))?;
    // Objects of another configuration would break the build.
    job.run(command("make").current_dir(&copied).args(["ARCH=um", "-s", "mrproper"]))?;
    Ok(copied)
}

fn extract(version: KernelVersion, package: &Path, room: &Path, job: &Job) -> KernelResult<PathBuf> {
    require("dpkg", "dpkg")?;
    require("xz", "xz-utils")?;
    job.run(command("dpkg").arg("-x").arg(package).arg(room.join("package")))?;
    let archive = room.join("package/usr/src").join(format!("{}.tar.xz", package_of(version)));
    job.run(command("tar").arg("-C").arg(room).arg("-xf").arg(archive))?;
    Ok(room.join(package_of(version)))
}

/// Downloads Debian's package, from the machine's own suites or from the suite that has it.
fn fetch(version: KernelVersion, room: &Path, job: &Job) -> KernelResult<PathBuf> {
    let mut said = "apt-get is not on this machine".to_owned();
    let machines_own = match version {
        KernelVersion::V6_1 | KernelVersion::V6_12 => Some(None),
        KernelVersion::V7_3 => None,
    };
    let attempts = machines_own.into_iter().chain([Some(suite_of(version))]);
    for suite in attempts.filter(|_| is_on_path("apt-get")) {
        match download(version, suite, room, job) {
            Ok(package) => return Ok(package),
            Err(detail) => said = detail,
        }
    }
    Err(KernelError::NoPackage { package: package_of(version), detail: said })
}

/// Returns the downloaded file, or apt's error.
fn download(version: KernelVersion, suite: Option<&str>, room: &Path, job: &Job) -> Result<PathBuf, String> {
    let apt = Apt::new(room, suite, job)?;
    // Another index may have the package, so a failure is ignored.
    let update = apt.update();
    apt.download(&package_of(version)).map_err(|error| update.err().unwrap_or(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_is_read_from_the_makefile() {
        let makefile = "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n";
        assert_eq!(series(makefile).as_deref(), Some("6.12"));
        assert_eq!(series("all:\n"), None);
    }

    #[test]
    fn a_folder_that_is_no_source_is_refused() {
        let folder = std::env::temp_dir().join(format!("freehold-source-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let error = check(KernelVersion::V6_1, &folder).unwrap_err().to_string();
        assert!(error.ends_with("is not an unpacked source of Linux 6.1: it has no Makefile"), "{error}");
        fs::write(folder.join("Makefile"), "VERSION = 5\nPATCHLEVEL = 4\n").unwrap();
        let error = check(KernelVersion::V6_1, &folder).unwrap_err().to_string();
        assert!(error.ends_with("is not an unpacked source of Linux 6.1: it is Linux 5.4"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
