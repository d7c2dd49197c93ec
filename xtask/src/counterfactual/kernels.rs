//! Debian's own kernels for cloud machines: plain ones, with the kmem events and BTF.

use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel::apt::Apt;
use crate::kernel::process::{Job, command, require};

/// A kernel that Debian ships.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// The first two numbers of its version.
    pub(crate) version: &'static str,
    /// The suite that has it.
    suite: &'static str,
    /// The era nearest to it.
    pub(crate) era: &'static str,
}

/// Every kernel that is recorded, the oldest first.
pub(crate) static KERNELS: [Kernel; 4] = [
    Kernel { version: "6.1", suite: "bookworm", era: "linux-6.1" },
    Kernel { version: "6.12", suite: "trixie", era: "linux-6.12" },
    Kernel { version: "6.18", suite: "trixie-backports", era: "linux-7.3" },
    Kernel { version: "7.3", suite: "trixie-backports", era: "linux-7.3" },
];

impl Kernel {
    /// Returns the kernel by its version.
    pub(crate) fn from_version(version: &str) -> Option<&'static Self> {
        KERNELS.iter().find(|kernel| kernel.version == version)
    }

    /// Returns the path of the kernel below `folder`, and fetches it if it is not there yet.
    ///
    /// # Errors
    /// A sentence, if it cannot be had.
    pub(crate) fn fetch(&self, folder: &Path) -> Result<PathBuf, String> {
        let place = folder.join(format!("vmlinuz-{}", self.version));
        if place.is_file() {
            return Ok(place);
        }
        require("dpkg", "dpkg").map_err(|error| error.to_string())?;
        let room = folder.join(format!("fetch-{}", self.version));
        fs::create_dir_all(&room).map_err(|error| format!("{}: {error}", room.display()))?;
        let lock = fs::File::create(room.join("lock")).map_err(|error| error.to_string())?;
        let job = Job::new(lock, room.join("log")).map_err(|error| error.to_string())?;
        let said = |detail: String| format!("Linux {} cannot be had: {detail}", self.version);
        let apt = Apt::new(&room, Some(self.suite), &job).map_err(said)?;
        apt.update().map_err(said)?;
        let package = self.package(&apt).map_err(said)?;
        let archive = apt.download(&package).map_err(said)?;
        let unpacked = room.join("unpacked");
        job.run(command("dpkg").arg("-x").arg(&archive).arg(&unpacked)).map_err(|error| error.to_string())?;
        let found = found(&unpacked).ok_or_else(|| said(format!("{package} has no kernel in it")))?;
        fs::rename(&found, &place).map_err(|error| format!("{}: {error}", place.display()))?;
        let _ = fs::remove_dir_all(&room);
        Ok(place)
    }

    /// Returns the name of the newest package that has the kernel itself.
    fn package(&self, apt: &Apt<'_>) -> Result<String, String> {
        let version = self.version.replace('.', "\\.");
        for kind in ["binary", "image"] {
            let mut names = apt.names(&format!("^linux-{kind}-{version}\\..*-cloud-amd64$"))?;
            names.sort_by_key(|name| numbers(name));
            if let Some(name) = names.pop() {
                return Ok(name);
            }
        }
        Err(format!("{} has no package of it for cloud machines", self.suite))
    }
}

/// Returns the numbers in a package's name, by which names are in the order of their versions.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// Returns the kernel in an unpacked package: below `boot`, or beside its modules.
fn found(unpacked: &Path) -> Option<PathBuf> {
    let entries =
        |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let below_boot = entries(unpacked.join("boot"));
    let beside_modules = entries(unpacked.join("usr/lib/modules")).map(|folder| folder.join("vmlinuz"));
    let is_kernel = |path: &PathBuf| {
        path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz"))
    };
    below_boot.chain(beside_modules).find(is_kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_the_order_of_their_numbers() {
        let mut names = ["linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-50-cloud-amd64"];
        names.sort_by_key(|name| numbers(name));
        assert_eq!(names.last(), Some(&"linux-image-6.1.0-50-cloud-amd64"));
    }

    #[test]
    fn each_kernel_is_found_by_its_version() {
        for kernel in &KERNELS {
            assert_eq!(Kernel::from_version(kernel.version), Some(kernel));
        }
        assert_eq!(Kernel::from_version("2.6"), None);
    }
}
