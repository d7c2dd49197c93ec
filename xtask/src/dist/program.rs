//! The static program, with the BPF sensor in it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::kernel::process::{command, require};

use super::libc::{Libc, mapped};
use super::libraries;
use super::processor::Processor;

/// The programs that the sensor's libraries are built with, each with its Debian package.
const PROGRAMS: [(&str, &str); 3] = [("clang", "clang"), ("make", "make"), ("pkg-config", "pkg-config")];

/// Builds the program for a processor and returns its file. `epoch` is the time of the commit.
///
/// Paths of this machine are in none of its bytes, so that it is the same wherever it is built.
///
/// # Errors
/// A sentence, if something that it is built with cannot be had or does not compile.
pub(crate) fn build(arch: Processor, root: &Path, epoch: &str) -> Result<PathBuf, String> {
    for (program, package) in PROGRAMS {
        require(program, package).map_err(|error| error.to_string())?;
    }
    let target = arch.target();
    let libc = Libc::new(arch, root)?;
    let sources = libraries::sources(root)?;
    let place = libraries::build(&libc, &sources)?;
    let mut flags = libc.flags();
    for headers in ["elfutils/libelf", "zlib"] {
        flags.push(format!("-I{}", sources.join(headers).display()));
    }
    flags.extend(libc.processor_flags().iter().map(|&flag| flag.to_owned()));
    let mut rust = vec!["-Clinker=rust-lld".to_owned(), "-Ctarget-feature=+crt-static".to_owned()];
    rust.extend(mapped(root)?.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())));

    let variable = target.replace('-', "_");
    let mut cargo = command("cargo");
    cargo.current_dir(root).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    cargo.args(["build", "--locked", "--profile=dist", "--package=freehold-cli", "--features=bpf-static"]);
    cargo.args(["--target", target]).arg("--target-dir").arg(root.join("target"));
    cargo.env(format!("CC_{variable}"), libc.compiler());
    cargo.env(format!("AR_{variable}"), libc.archiver()).env("AR", libc.archiver());
    cargo.env(format!("CFLAGS_{variable}"), flags.join(" "));
    cargo.env(format!("LIBBPF_SYS_LIBRARY_PATH_{variable}"), place);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")).env("SOURCE_DATE_EPOCH", epoch);
    let status = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!(
            "the program for {} does not build; `rustup target add {target}` gets what Rust needs for it",
            arch.name()
        ));
    }
    Ok(root.join("target").join(target).join("dist/freehold"))
}
