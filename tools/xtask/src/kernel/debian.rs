//! Debian packages for any architecture: takes names, and unpacks the packages' files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::apt::Apt;
use super::process::{Job, command, require};

/// The name of the file that lists the unpacked packages.
const UNPACKED: &str = "packages";

/// The suites and the architecture of packages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packages<'a> {
    /// Suites on the machine's mirror; the newest version of all counts.
    pub(crate) suites: &'a [&'a str],
    /// Debian's name of the architecture.
    pub(crate) architecture: &'a str,
}

impl Packages<'_> {
    /// Unpacks packages into `folder` unless it was done before. Returns the names of the unpacked packages. A package
    /// without files is replaced by its first dependency.
    ///
    /// # Errors
    /// If a package cannot be fetched.
    pub(crate) fn unpack(&self, names: &[&str], folder: &Path) -> Result<Vec<String>, String> {
        self.unpack_found(&names.join(", "), folder, |_| {
            Ok(names.iter().map(|&name| name.to_owned()).collect())
        })
    }

    /// Unpacks the newest kernel of a release series and a flavour, as [`Self::unpack`] does.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn unpack_kernel(
        &self,
        series: &str,
        flavour: &str,
        folder: &Path,
    ) -> Result<Vec<String>, String> {
        let what = format!("Linux {series} {flavour}");
        self.unpack_found(&what, folder, |apt| Ok(with_modules(apt.newest_kernel(series, flavour)?)))
    }

    /// Unpacks the packages whose names `find` returns; `what` describes them.
    fn unpack_found(
        &self,
        what: &str,
        folder: &Path,
        find: impl FnOnce(&Apt<'_>) -> Result<Vec<String>, String>,
    ) -> Result<Vec<String>, String> {
        let done = folder.join(UNPACKED);
        if let Ok(text) = fs::read_to_string(&done) {
            return Ok(text.lines().map(str::to_owned).collect());
        }
        for program in ["apt-get", "dpkg", "dpkg-deb"] {
            require(program, "apt and dpkg").map_err(|error| error.to_string())?;
        }
        let io = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(io)?;
        let lock = File::create(folder.join("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        // Another process may have unpacked them in the meantime.
        if let Ok(text) = fs::read_to_string(&done) {
            return Ok(text.lines().map(str::to_owned).collect());
        }
        let room = folder.join("fetch");
        fs::create_dir_all(&room).map_err(io)?;
        let job = Job::new(lock, room.join("log")).map_err(|error| error.to_string())?;
        let apt = Apt::elsewhere(&room, self.suites, self.architecture, &job)?;
        let said = |detail: String| format!("{what} for {} cannot be fetched: {detail}", self.architecture);
        apt.update().map_err(said)?;
        let mut unpacked = Vec::new();
        for name in find(&apt).map_err(said)? {
            for archive in real(&apt, &name).map_err(said)? {
                job.run(command("dpkg").arg("-x").arg(&archive).arg(folder))
                    .map_err(|error| error.to_string())?;
                unpacked.push(stem(&archive));
            }
        }
        fs::remove_dir_all(&room).map_err(|error| format!("{}: {error}", room.display()))?;
        fs::write(&done, unpacked.join("\n")).map_err(|error| format!("{}: {error}", done.display()))?;
        Ok(unpacked)
    }
}

/// Returns the packages with a kernel and its modules, which some kernels have in a package of their own.
fn with_modules(kernel: String) -> Vec<String> {
    let modules = kernel.strip_prefix("linux-binary-").map(|rest| format!("linux-modules-{rest}"));
    [Some(kernel), modules].into_iter().flatten().collect()
}

/// Downloads a package, or its replacements.
fn real(apt: &Apt<'_>, name: &str) -> Result<Vec<PathBuf>, String> {
    let archive = apt.download(name)?;
    let depends = command("dpkg-deb").arg("-f").arg(&archive).arg("Depends").output();
    let depends = depends.map_err(|error| error.to_string())?.stdout;
    let others = stands_for(name, &String::from_utf8_lossy(&depends));
    if others.is_empty() { Ok(vec![archive]) } else { others.iter().map(|name| apt.download(name)).collect() }
}

/// Returns the packages that replace a kernel package without files: the first of `depends` with a version in its name, and
/// its modules.
fn stands_for(name: &str, depends: &str) -> Vec<String> {
    let mut names = depends.split(',').filter_map(|one| one.split_whitespace().next());
    let is_kernel = |name: &str| name.starts_with("linux-image-") || name.starts_with("linux-binary-");
    let is_versioned = |name: &str| name.bytes().any(|byte| byte == b'.');
    let first = names.next().filter(|first| {
        is_kernel(name) && is_kernel(first) && (!is_versioned(name) || first.starts_with("linux-binary-"))
    });
    first.map_or_else(Vec::new, |first| with_modules(first.to_owned()))
}

/// Returns the name, version and architecture of a package's file.
fn stem(archive: &Path) -> String {
    archive.file_stem().unwrap_or_default().to_string_lossy().replace("%3a", ":")
}

/// Returns the files below a folder whose names match, in order.
pub(crate) fn find(folder: &Path, fits: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                open.push(entry.path());
            } else if fits(&entry.file_name().to_string_lossy()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Returns the kernel in the folder of the unpacked package `name`.
///
/// # Errors
/// If there is none.
pub(crate) fn kernel_in(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let kernels = find(folder, &|name| name.starts_with("vmlinuz"));
    kernels.into_iter().next().ok_or_else(|| format!("{name} has no kernel in it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_without_files_is_replaced_by_its_kernel() {
        let real = "linux-image-6.12.117+deb13-arm64-16k";
        assert_eq!(stands_for("linux-image-arm64-16k", &format!("{real} (= 6.12.117-1)")), [real]);
        let depends = "linux-binary-7.3.4-cloud-amd64 (= 7.3.4-1), linux-modules-7.3.4-cloud-amd64";
        assert_eq!(
            stands_for("linux-image-7.3.4-cloud-amd64", depends),
            ["linux-binary-7.3.4-cloud-amd64", "linux-modules-7.3.4-cloud-amd64"]
        );
        assert!(stands_for(real, "kmod, linux-base (>= 4.3~)").is_empty());
        assert!(stands_for("busybox-static", "").is_empty());
    }

    #[test]
    fn stem_is_the_file_name_without_its_ending() {
        let file = Path::new("/x/busybox-static_1%3a1.37.0-6_arm64.deb");
        assert_eq!(stem(file), "busybox-static_1:1.37.0-6_arm64");
    }
}
