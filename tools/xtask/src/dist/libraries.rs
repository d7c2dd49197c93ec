//! Builds libelf and zlib as static libraries, from the sources in the crate libbpf-sys.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::kernel::error::tail;
use crate::kernel::process::command;

use super::libc::Libc;

/// The results of elfutils' `configure` with musl.
const CONFIG: &str = "\
#define _GNU_SOURCE 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_RAWMEMCHR 0
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_REALLOCARRAY 1
#define HAVE_ERR_H 1
#define HAVE_FALLTHROUGH 1
#define HAVE_MREMAP 1
#define HAVE_VISIBILITY 1
#define PACKAGE_NAME \"elfutils\"
#include <eu-config.h>
";

/// Returns the folder of the sources of libbpf-sys.
///
/// # Errors
/// If cargo does not list it.
pub(crate) fn sources(root: &Path) -> Result<PathBuf, String> {
    let manifest = manifests(root)?.into_iter().find(|(name, _, _)| name == "libbpf-sys");
    let (_, _, path) = manifest.ok_or("libbpf-sys is not among the crates")?;
    path.parent().map(Path::to_owned).ok_or_else(|| format!("{} is in no folder", path.display()))
}

/// Returns name, version and manifest of every crate, those of other platforms included.
pub(crate) fn manifests(root: &Path) -> Result<Vec<(String, String, PathBuf)>, String> {
    let ask = ["metadata", "--locked", "--format-version=1", "--all-features"];
    let output = command("cargo").args(ask).current_dir(root).output();
    let output = output.map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let of = |package: &Value| {
        (text(&package["name"]), text(&package["version"]), text(&package["manifest_path"]).into())
    };
    Ok(packages.map(of).collect())
}

/// Builds both into the folder `lib` of `libc` unless they exist. Returns that folder.
///
/// # Errors
/// If the compiler fails, with its output.
pub(crate) fn build(libc: &Libc, sources: &Path) -> Result<PathBuf, String> {
    let place = libc.folder.join("lib");
    if place.join("libelf.a").is_file() && place.join("libz.a").is_file() {
        return Ok(place);
    }
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let config = libc.folder.join("config.h");
    fs::write(&config, CONFIG).map_err(|error| format!("{}: {error}", config.display()))?;
    let zlib = sources.join("zlib");
    let elfutils = sources.join("elfutils");
    archive(libc, &place.join("libz.a"), &["-DHAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1"], &[&zlib], &zlib)?;
    let (lib, libelf) = (elfutils.join("lib"), elfutils.join("libelf"));
    let flags = ["-std=gnu99", "-DHAVE_CONFIG_H", "-D_FILE_OFFSET_BITS=64"];
    archive(libc, &place.join("libelf.a"), &flags, &[&libc.folder, &libelf, &lib, &zlib], &libelf)?;
    Ok(place)
}

/// Compiles every C file in `folder` into a library.
fn archive(
    libc: &Libc,
    library: &Path,
    flags: &[&str],
    headers: &[&Path],
    folder: &Path,
) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "c"));
    files.sort();
    let objects = library.with_extension("objects");
    fs::create_dir_all(&objects).map_err(|error| format!("{}: {error}", objects.display()))?;
    let mut compile = command(&libc.compiler());
    compile.current_dir(&objects).args(["-O2", "-fPIC", "-ffunction-sections", "-w", "-c"]);
    compile.args(libc.flags()).args(libc.processor_flags()).args(flags);
    compile.args(headers.iter().map(|header| format!("-I{}", header.display()))).args(&files);
    succeeds(&mut compile, "the C of libelf and zlib does not compile")?;
    let made = files.iter().filter_map(|file| Some(Path::new(file.file_name()?).with_extension("o")));
    let mut pack = command(&libc.archiver());
    pack.current_dir(&objects).arg("rcsD").arg(library).args(made);
    succeeds(&mut pack, "a library cannot be packed")?;
    fs::remove_dir_all(&objects).map_err(|error| format!("{}: {error}", objects.display()))
}

/// Runs a command. The error has `what` and the last lines of the command's output.
pub(crate) fn succeeds(command: &mut Command, what: &str) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| {
        format!("{what}: {} cannot be started: {error}", command.get_program().to_string_lossy())
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{what}:\n{}", tail(&String::from_utf8_lossy(&output.stderr), 15)))
}
