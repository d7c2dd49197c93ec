//! The guests' file system: a small Debian, the workloads, and `freehold`.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::programs::{compile, said};
use super::workloads::WORKLOADS;
use crate::kernel::apt::mirror_address;
use crate::kernel::process::{command, require};

/// The packages that the workloads need on top of the smallest Debian.
const PACKAGES: &str = "gcc,libc6-dev,make,sqlite3,libelf1,zlib1g";

/// The first process of a guest.
const INIT: &str = include_str!("guest-init.sh");

/// The options of ext4. They turn checksums off, which would need a module that no kernel has built in.
const FILE_SYSTEM: [&str; 4] = ["-q", "-F", "-O", "^metadata_csum,^64bit"];

/// The size of the file system in MiB. The image is sparse.
const SIZE_MIB: u32 = 1200;

/// The disk's identifier and the partition's number, by which kernels find their root.
pub(crate) const PARTITION: &str = "46524545-01";

/// Returns the first sector of the image: a table with one partition that starts at 1 MiB. Kernels find it by
/// [`PARTITION`], so the order of the disks does not matter.
fn partition_table() -> [u8; 512] {
    const IDENTIFIER_AT: usize = 440;
    const ENTRY_AT: usize = 446;
    const SECTORS_A_MIB: u32 = 2048;
    let mut sector = [0; 512];
    sector[IDENTIFIER_AT..][..4].copy_from_slice(&0x4652_4545_u32.to_le_bytes());
    // The partition's type is Linux.
    sector[ENTRY_AT + 4] = 0x83;
    sector[ENTRY_AT + 8..][..4].copy_from_slice(&SECTORS_A_MIB.to_le_bytes());
    sector[ENTRY_AT + 12..][..4].copy_from_slice(&(SIZE_MIB * SECTORS_A_MIB).to_le_bytes());
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

/// The folder of programs in a guest's Debian.
pub(crate) struct Programs(PathBuf);

impl Programs {
    /// Writes a program.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn install(&self, name: &str, text: &[u8]) -> Result<(), String> {
        let place = self.0.join(name);
        fs::write(&place, text).map_err(io(&place))?;
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).map_err(io(&place))
    }
}

/// Makes the image of the recorded workloads in `folder`, and returns its path. Keeps the small Debian below `cache`.
///
/// # Errors
/// If a program is missing or fails.
pub(super) fn image(root: &Path, cache: &Path, folder: &Path, freehold: &Path) -> Result<PathBuf, String> {
    require("strip", "binutils").map_err(|error| error.to_string())?;
    image_with(root, cache, folder, |programs| {
        for workload in &WORKLOADS {
            programs.install(
                &format!("prepare-{}", workload.name),
                format!("set -eu\n{}\n", workload.prepare).as_bytes(),
            )?;
            programs.install(
                &format!("run-{}", workload.name),
                format!("set -eu\n{}\n", workload.run).as_bytes(),
            )?;
        }
        programs.install("guest-init", INIT.as_bytes())?;
        said(command("strip").arg("-o").arg(programs.0.join("freehold")).arg(freehold)).map(drop)
    })
}

/// Makes an image in `folder` with everything of `traces/workloads` and what `add` installs, and returns its path.
///
/// # Errors
/// If a program is missing or fails.
pub(crate) fn image_with(
    root: &Path,
    cache: &Path,
    folder: &Path,
    add: impl FnOnce(&Programs) -> Result<(), String>,
) -> Result<PathBuf, String> {
    for (program, package) in [("debootstrap", "debootstrap"), ("mkfs.ext4", "e2fsprogs")] {
        require(program, package).map_err(|error| error.to_string())?;
    }
    fs::create_dir_all(cache).map_err(io(cache))?;
    let lock = File::create(cache.join("lock")).map_err(io(cache))?;
    lock.lock().map_err(io(cache))?;
    let debian = debian(cache)?;
    let programs = Programs(debian.join("usr/local/bin"));
    for entry in fs::read_dir(root.join("traces/workloads")).map_err(io(root))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if let Some(program) = name.strip_suffix(".c") {
            compile("gcc", &path, &programs.0.join(program))?;
        } else {
            programs.install(&name, &fs::read(&path).map_err(io(&path))?)?;
        }
    }
    add(&programs)?;
    let image = folder.join("root.img");
    let _ = fs::remove_file(&image);
    let mut file = File::create(&image).map_err(io(&image))?;
    file.write_all(&partition_table()).map_err(io(&image))?;
    file.set_len(u64::from(SIZE_MIB + 1) << 20).map_err(io(&image))?;
    let mut format = command("mkfs.ext4");
    format.args(FILE_SYSTEM).args(["-E", "offset=1048576", "-d"]).arg(&debian).arg(&image);
    said(format.arg(format!("{SIZE_MIB}M")))?;
    Ok(image)
}

/// Returns a function for `map_err` that adds the path.
fn io(path: &Path) -> impl Fn(std::io::Error) -> String + use<> {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

/// Returns the folder of a small Debian of this machine's release. Unpacks it unless it exists.
fn debian(cache: &Path) -> Result<PathBuf, String> {
    let folder = cache.join("debian");
    if folder.is_dir() {
        return Ok(folder);
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let suite = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let suite =
        suite.ok_or("the guests' Debian has this machine's release, but /etc/os-release names none")?;
    let partial = cache.join("debian.partial");
    let _ = fs::remove_dir_all(&partial);
    eprintln!("unpacking Debian {suite} for the guests");
    let packages = format!("--include={PACKAGES}");
    let mut debootstrap = command("debootstrap");
    debootstrap.args(["--variant=minbase", &packages, suite]).arg(&partial).arg(mirror_address()?);
    said(&mut debootstrap)?;
    for folder in ["var/cache/apt/archives", "var/lib/apt/lists"] {
        let _ = fs::remove_dir_all(partial.join(folder));
    }
    fs::rename(&partial, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_partition_that_kernels_look_for() {
        let table = partition_table();
        let number = |at: usize| u32::from_le_bytes(table[at..at + 4].try_into().unwrap());
        assert_eq!(format!("{:08x}-01", number(440)), PARTITION);
        assert_eq!((number(454), number(458)), (2048, 1200 * 2048), "the first sector, and how many");
        assert_eq!(table[510..], [0x55, 0xaa]);
    }
}
