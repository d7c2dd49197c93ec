//! The kernel of a guest: a package of Debian's, or a file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dist::libraries::succeeds;
use crate::dist::processor::Processor;
use crate::kernel::cache;
use crate::kernel::debian::{Packages, find, kernel_in};
use crate::kernel::process::command;

/// The suites that kernels and busybox come from.
const SUITES: [&str; 3] = ["bookworm", "trixie", "trixie-backports"];

/// The modules by which a guest has a network, in the order in which they are loaded. Kernels that have one built in
/// have no file of it. Which of the first two needs the other depends on the kernel.
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

/// A kernel, with the modules that a guest loads.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// What it is, for people.
    pub(crate) name: String,
    pub(crate) image: PathBuf,
    /// Names and bytes, in the order of loading.
    pub(crate) modules: Vec<(String, Vec<u8>)>,
}

impl Kernel {
    /// Takes a file that exists, or gets a package of that name.
    ///
    /// # Errors
    /// A sentence, if there is neither.
    pub(crate) fn new(arch: Processor, named: &str) -> Result<Self, String> {
        let file = Path::new(named);
        if file.is_file() {
            return Ok(Self { name: named.to_owned(), image: file.to_owned(), modules: Vec::new() });
        }
        if named.contains('/') {
            return Err(format!(
                "{named}: there is no such file; give a kernel's file or the name of a package"
            ));
        }
        let (observed, folder) = unpacked(arch, named)?;
        Self::in_package(observed, &folder)
    }

    /// Gets the newest kernel of a series, such as 6.12, and a flavour of Debian's, such as `arm64-16k`.
    ///
    /// # Errors
    /// A sentence, if it cannot be had.
    pub(crate) fn newest(arch: Processor, series: &str, flavour: &str) -> Result<Self, String> {
        let folder = place(arch, &format!("linux-{series}-{flavour}"))?;
        let observed = packages(arch).unpack_kernel(series, flavour, &folder)?;
        Self::in_package(observed.join(" "), &folder)
    }

    fn in_package(observed: String, folder: &Path) -> Result<Self, String> {
        Ok(Self { image: kernel_in(folder, &observed)?, name: observed, modules: modules(folder)? })
    }
}

/// Returns busybox for a processor.
///
/// # Errors
/// A sentence, if it cannot be had.
pub(crate) fn busybox(arch: Processor) -> Result<Vec<u8>, String> {
    let file = busybox_path(arch)?;
    fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
}

fn busybox_path(arch: Processor) -> Result<PathBuf, String> {
    let (observed, folder) = unpacked(arch, "busybox-static")?;
    let file = find(&folder, &|name| name == "busybox").into_iter().next();
    file.ok_or_else(|| format!("{observed} has no busybox in it"))
}

/// Returns the variables of the environment that the live tests of `crates/vm` need: the path of a kernel, whose modules lie
/// beside it, and that of busybox. Both are fetched if they are not in the cache.
///
/// # Errors
/// A sentence, if one of them cannot be had.
pub fn vm_variables(arch: Processor) -> Result<[(&'static str, PathBuf); 2], String> {
    let kernel = Kernel::newest(arch, "6.1", &format!("cloud-{}", arch.debian()))?;
    Ok([("FREEHOLD_KERNEL", kernel.image), ("FREEHOLD_BUSYBOX", busybox_path(arch)?)])
}

/// Gets a package into the cache. Returns its full name and the folder of its files.
fn unpacked(arch: Processor, package: &str) -> Result<(String, PathBuf), String> {
    let folder = place(arch, package)?;
    let observed = packages(arch).unpack(&[package], &folder)?;
    Ok((observed.join(" "), folder))
}

const fn packages(arch: Processor) -> Packages<'static> {
    Packages { suites: &SUITES, architecture: arch.debian() }
}

/// Returns the folder in the cache for what is unpacked under a name.
fn place(arch: Processor, name: &str) -> Result<PathBuf, String> {
    let cache = cache::cache().map_err(|error| error.to_string())?;
    Ok(cache.join("packages").join(arch.debian()).join(name))
}

/// Returns the modules of a package that guests load, unpacked.
fn modules(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut found = Vec::new();
    for module in MODULES {
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
    fn a_path_that_leads_nowhere_is_no_package() {
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
        let names: Vec<_> = modules(folder.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["virtio", "virtio_ring", "virtio", "failover", "virtio_net"]);
    }
}
