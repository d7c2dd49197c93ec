//! The kernels of guests: Debian's own for cloud machines, with the kmem events and BTF, and those with a series.

use std::path::{Path, PathBuf};

use crate::kernel::KernelVersion;
use crate::kernel::debian::{Packages, kernel_in};
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::Workshop;

/// A kernel for guests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// The first two numbers of its version, and a suffix for a special build.
    pub(crate) version: &'static str,
    origin: Origin,
    /// The era nearest to it.
    pub(crate) era: &'static str,
}

/// The origin of a kernel.
#[derive(Debug, PartialEq, Eq)]
enum Origin {
    /// The suite of Debian that has it.
    Debian(&'static str),
    /// Built from Debian's source, as it is or with the series `tidying`.
    Built(Variant),
}

/// Every kernel for guests, the oldest first.
pub(crate) static KERNELS: [Kernel; 6] = [
    Kernel { version: "6.1", origin: Origin::Debian("bookworm"), era: "linux-6.1" },
    Kernel { version: "6.12", origin: Origin::Debian("trixie"), era: "linux-6.12" },
    Kernel { version: "6.18", origin: Origin::Debian("trixie-backports"), era: "linux-7.3" },
    Kernel { version: "7.3", origin: Origin::Debian("trixie-backports"), era: "linux-7.3" },
    Kernel { version: "7.3-built", origin: Origin::Built(Variant::Vanilla), era: "linux-7.3" },
    Kernel { version: "7.3-tidying", origin: Origin::Built(Variant::Patched), era: "linux-7.3-tidying" },
];

/// The fragments of the configuration of kernels that are built for guests.
const CONFIG: [&str; 2] = ["qemu", "qemu-guest"];

impl Kernel {
    /// Returns the kernel by its version.
    pub(crate) fn from_version(version: &str) -> Option<&'static Self> {
        KERNELS.iter().find(|kernel| kernel.version == version)
    }

    /// Returns the path of the kernel. Builds it, or fetches it into `folder`, unless it exists.
    ///
    /// # Errors
    /// If it cannot be built or fetched.
    pub(crate) fn fetch(&self, root: &Path, folder: &Path) -> Result<PathBuf, String> {
        match self.origin {
            Origin::Debian(suite) => self.fetch_from(suite, folder),
            Origin::Built(variant) => {
                let workshop = Workshop::new(root, "tidying", KernelVersion::V7_3, None);
                let recipe = Recipe::new(Arch::X86_64, &CONFIG, variant);
                let built = workshop.and_then(|workshop| workshop.kernel(&recipe));
                Ok(built.map_err(|error| error.to_string())?.program)
            }
        }
    }

    fn fetch_from(&self, suite: &str, folder: &Path) -> Result<PathBuf, String> {
        let place = folder.join(format!("linux-{}", self.version));
        let packages = Packages { suites: &[suite], architecture: "amd64" };
        let observed = packages.unpack_kernel(self.version, "cloud-amd64", &place)?;
        kernel_in(&place, &observed.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_is_found_by_its_version() {
        for kernel in &KERNELS {
            assert_eq!(Kernel::from_version(kernel.version), Some(kernel));
        }
        assert_eq!(Kernel::from_version("2.6"), None);
    }
}
