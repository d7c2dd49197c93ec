//! The kernel of a guest: a Debian package, or a file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dist::libraries::succeeds;
use crate::dist::processor::Processor;
use crate::kernel::cache;
use crate::kernel::debian::{Packages, find, kernel_in};
use crate::kernel::process::command;

/// The suites that kernels and busybox come from.
const SUITES: [&str; 3] = ["bookworm", "trixie", "trixie-backports"];

/// The network modules of a guest, in the order of loading. A kernel with a built-in module has no file of it. The
/// dependency between the first two modules differs between kernels.
const MODULES: [&str; 11] = [
    "virtio",
    "virtio_ring",
    "virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "failover",
    "net_failover",
    "virtio_net",
    "af_packet",
    "crc32c_generic",
];

/// A kernel with the modules that a guest loads.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Its name for people.
    pub(crate) name: String,
    pub(crate) image: PathBuf,
    /// The modules' names and bytes, in the order of loading.
    pub(crate) modules: Vec<(String, Vec<u8>)>,
}

impl Kernel {
    /// Takes the file `named`, or fetches the package of that name.
    ///
    /// # Errors
    /// If there is no such file or package.
    pub(crate) fn new(arch: Processor, named: &str) -> Result<Self, String> {
        let file = Path::new(named);
        if file.is_file() {
            return Ok(Self { name: named.to_owned(), image: file.to_owned(), modules: Vec::new() });
        }
        if named.contains('/') {
            return Err(format!(
                "{named}: there is no such file; give a kernel file or the name of a package"
            ));
        }
        let (name, folder) = unpacked(arch, named)?;
        Self::in_package(name, &folder, &MODULES)
    }

    /// Fetches the newest kernel of a release series, such as 6.12, and a Debian flavour, such as `arm64-16k`.
    ///
    /// # Errors
    /// If it cannot be fetched.
    pub(crate) fn newest(arch: Processor, series: &str, flavour: &str) -> Result<Self, String> {
        Self::newest_with(arch, series, flavour, &MODULES)
    }

    /// Does the same, and takes other modules, in this order.
    ///
    /// # Errors
    /// If it cannot be fetched.
    pub(crate) fn newest_with(
        arch: Processor,
        series: &str,
        flavour: &str,
        modules: &[&str],
    ) -> Result<Self, String> {
        let folder = place(arch, &format!("linux-{series}-{flavour}"))?;
        let names = packages(arch).unpack_kernel(series, flavour, &folder)?;
        Self::in_package(names.join(" "), &folder, modules)
    }

    fn in_package(name: String, folder: &Path, wanted: &[&str]) -> Result<Self, String> {
        Ok(Self { image: kernel_in(folder, &name)?, name, modules: modules(folder, wanted)? })
    }
}

/// Returns busybox for a processor.
///
/// # Errors
/// If it cannot be fetched.
pub(crate) fn busybox(arch: Processor) -> Result<Vec<u8>, String> {
    let file = busybox_path(arch)?;
    fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
}

fn busybox_path(arch: Processor) -> Result<PathBuf, String> {
    let (name, folder) = unpacked(arch, "busybox-static")?;
    let file = find(&folder, &|name| name == "busybox").into_iter().next();
    file.ok_or_else(|| format!("{name} has no busybox in it"))
}

/// Returns the environment variables of the live tests in `crates/vm`: the path of a kernel with its modules beside it,
/// and the path of busybox. Both are fetched if they are not in the cache.
///
/// # Errors
/// If one of them cannot be fetched.
pub fn vm_variables(arch: Processor) -> Result<[(&'static str, PathBuf); 2], String> {
    let kernel = Kernel::newest(arch, "6.1", &format!("cloud-{}", arch.debian()))?;
    Ok([("FREEHOLD_KERNEL", kernel.image), ("FREEHOLD_BUSYBOX", busybox_path(arch)?)])
}

/// Fetches a package into the cache. Returns its full name and the folder of its files.
fn unpacked(arch: Processor, package: &str) -> Result<(String, PathBuf), String> {
    let folder = place(arch, package)?;
    let names = packages(arch).unpack(&[package], &folder)?;
    Ok((names.join(" "), folder))
}

const fn packages(arch: Processor) -> Packages<'static> {
    Packages { suites: &SUITES, architecture: arch.debian() }
}

/// Returns the folder in the cache of the unpacked package `name`.
fn place(arch: Processor, name: &str) -> Result<PathBuf, String> {
    let cache = cache::cache().map_err(|error| error.to_string())?;
    Ok(cache.join("packages").join(arch.debian()).join(name))
}

/// Returns the modules of a package that guests load, decompressed.
fn modules(folder: &Path, wanted: &[&str]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut found = Vec::new();
    for &module in wanted {
        let is_it = |name: &str| name.split_once(".ko").is_some_and(|(stem, _)| stem == module);
        let Some(file) = find(folder, &is_it).into_iter().next() else { continue };
        let bytes = if file.extension().is_some_and(|end| end == "xz") {
            succeeds(command("xz").arg("-dc").arg(&file), "a module cannot be unpacked")?
        } else {
            fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?
        };
        found.push((module.to_owned(), bytes));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_file_is_not_taken_for_a_package() {
        let error = Kernel::new(Processor::Arm64, "/no/such/vmlinuz").unwrap_err();
        assert!(error.contains("there is no such file"), "{error}");
    }

    #[test]
    fn modules_are_found_in_the_order_of_loading() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["net/virtio_net.ko", "net/failover.ko", "net/virtio_net_other.ko", "virtio.ko", "virtio_ring.ko"]
        {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let names: Vec<_> =
            modules(folder.path(), &MODULES).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["virtio", "virtio_ring", "virtio", "failover", "virtio_net"]);
    }
}
