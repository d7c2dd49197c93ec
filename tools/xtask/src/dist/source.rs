//! Packs the source with the sources of its crates, so that the program builds without a network.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::kernel::process::{command, require};
use crate::kernel::scratch::Scratch;

use super::libraries::succeeds;

/// The configuration that makes cargo take crates from the folder `vendor`.
const VENDORED: &str = "
[source.crates-io]
replace-with = \"vendored\"

[source.vendored]
directory = \"vendor\"
";

/// Packs the checked-out commit into `folder`, and returns the file.
///
/// # Errors
/// If a program that it runs is missing or fails.
pub(crate) fn pack(
    root: &Path,
    version: &str,
    commit: &str,
    epoch: &str,
    folder: &Path,
) -> Result<PathBuf, String> {
    for (program, package) in [("git", "git"), ("tar", "tar"), ("xz", "xz-utils")] {
        require(program, package).map_err(|error| error.to_string())?;
    }
    let scratch = Scratch::within(folder).map_err(|error| error.to_string())?;
    let name = format!("freehold-{version}");
    let tree = scratch.path().join(&name);
    let archive = scratch.path().join("archive.tar");
    let mut git = command("git");
    git.current_dir(root).args(["archive", "--format=tar", &format!("--prefix={name}/"), "-o"]);
    succeeds(git.arg(&archive).arg("HEAD"), "git does not archive the commit")?;
    succeeds(command("tar").arg("-xf").arg(&archive).arg("-C").arg(scratch.path()), "tar fails")?;
    fs::remove_file(&archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    let mut vendor = command("cargo");
    vendor.current_dir(&tree).args(["vendor", "--locked", "--quiet", "vendor"]);
    succeeds(&mut vendor, "the sources of the crates cannot be fetched")?;
    let settings = tree.join(".cargo/config.toml");
    let said = |error| format!("{}: {error}", settings.display());
    let mut file = OpenOptions::new().append(true).open(&settings).map_err(said)?;
    file.write_all(VENDORED.as_bytes()).map_err(said)?;
    let marker = tree.join("COMMIT");
    fs::write(&marker, format!("{commit}\n")).map_err(|error| format!("{}: {error}", marker.display()))?;
    let place = folder.join(format!("{name}-source.tar.xz"));
    compress(scratch.path(), &name, epoch, &place)?;
    Ok(place)
}

/// Packs a folder so that the same files make the same bytes.
fn compress(scratch: &Path, name: &str, epoch: &str, place: &Path) -> Result<(), String> {
    let said = |error| format!("{}: {error}", place.display());
    let mut tar = command("tar");
    tar.current_dir(scratch).args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u=rwX,go=rX", "--format=gnu", &format!("--mtime=@{epoch}"), "-cf", "-", name]);
    let mut tar = tar.stdout(Stdio::piped()).spawn().map_err(said)?;
    let packed = tar.stdout.take().ok_or("tar has no output")?;
    let mut xz = command("xz");
    // Blocks of a fixed size, so that the bytes do not depend on the number of CPUs.
    xz.args(["-4", "-T2", "--block-size=16MiB", "-c"]).stdin(packed);
    let xz = xz.stdout(File::create(place).map_err(said)?).status().map_err(said)?;
    let tar = tar.wait().map_err(said)?;
    if !tar.success() || !xz.success() {
        return Err(format!("{}: tar or xz failed", place.display()));
    }
    Ok(())
}
