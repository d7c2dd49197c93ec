//! Provides a kernel's source: Debian's package, or a folder that the user named.

use std::fs;
use std::path::{Path, PathBuf};

use super::apt::Apt;
use super::error::{KernelError, KernelResult};
use super::files::{read, sha256};
use super::process::{Job, command, is_on_path, require};
use super::version::{KernelVersion, PoolFile, Shelf, package_of, shelf_of};

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

/// Downloads Debian's package from a suite or from the archive's pool.
fn fetch(version: KernelVersion, room: &Path, job: &Job) -> KernelResult<PathBuf> {
    let package = package_of(version);
    let said = match shelf_of(version) {
        _ if !is_on_path("apt-get") => "apt-get is not on this machine".to_owned(),
        Shelf::Pool(file) => return fetch_from_pool(version, file, room, job),
        Shelf::Suites(suites) => {
            let mut said = String::new();
            for suite in suites {
                match download(&package, *suite, room, job) {
                    Ok(file) => return Ok(file),
                    Err(detail) => said = detail,
                }
            }
            said
        }
    };
    Err(KernelError::NoPackage { package, detail: said })
}

/// Downloads a file of the pool, and refuses one with another checksum.
fn fetch_from_pool(version: KernelVersion, file: PoolFile, room: &Path, job: &Job) -> KernelResult<PathBuf> {
    let fetched = Apt::new(room, None, job).and_then(|apt| apt.download_file(file.path));
    let path = fetched.map_err(|detail| KernelError::NoPackage { package: package_of(version), detail })?;
    check_sum(&path, file.sha256)?;
    Ok(path)
}

/// Fails if a file has another SHA-256 than `wanted`.
fn check_sum(path: &Path, wanted: &'static str) -> KernelResult<()> {
    let found = sha256(path)?;
    if found == wanted { Ok(()) } else { Err(KernelError::BadSum { path: path.to_owned(), wanted, found }) }
}

/// Returns the downloaded file, or apt's error.
fn download(package: &str, suite: Option<&str>, room: &Path, job: &Job) -> Result<PathBuf, String> {
    let apt = Apt::new(room, suite, job)?;
    // Another index may have the package, so a failure is ignored.
    let update = apt.update();
    apt.download(package).map_err(|error| update.err().unwrap_or(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::scratch::Scratch;

    #[test]
    fn the_series_is_read_from_the_makefile() {
        let makefile = "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n";
        assert_eq!(series(makefile).as_deref(), Some("6.12"));
        assert_eq!(series("all:\n"), None);
    }

    #[test]
    fn folder_without_the_source_is_refused() {
        let folder = std::env::temp_dir().join(format!("freehold-source-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let error = check(KernelVersion::V6_1, &folder).unwrap_err().to_string();
        assert!(error.ends_with("is not an unpacked source of Linux 6.1: it has no Makefile"), "{error}");
        fs::write(folder.join("Makefile"), "VERSION = 5\nPATCHLEVEL = 4\n").unwrap();
        let error = check(KernelVersion::V6_1, &folder).unwrap_err().to_string();
        assert!(error.ends_with("is not an unpacked source of Linux 6.1: it is Linux 5.4"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_with_another_checksum_is_refused() {
        let scratch = Scratch::new().unwrap();
        let package = scratch.write("linux.deb", "abc").unwrap();
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check_sum(&package, of_abc).unwrap();
        scratch.write("linux.deb", "abd").unwrap();
        let error = check_sum(&package, of_abc).unwrap_err().to_string();
        assert!(error.contains("linux.deb has the SHA-256 a52d159f"), "{error}");
        assert!(error.contains(&format!("instead of {of_abc} and is not used")), "{error}");
    }
}
