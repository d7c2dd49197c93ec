//! Builds the static program with the BPF sensor, and its tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::kernel::process::{command, require};

use super::libc::{Libc, mapped};
use super::libraries;
use super::processor::Processor;

/// The programs that build the sensor's libraries, each with its Debian package.
const PROGRAMS: [(&str, &str); 3] = [("clang", "clang"), ("make", "make"), ("pkg-config", "pkg-config")];

/// Builds the program for a processor, and returns its file. `epoch` is the time of the commit.
///
/// It contains no paths of this machine, so each machine builds the same bytes.
///
/// # Errors
/// If a program or a library that the build needs is missing, or the program does not compile.
pub(crate) fn build(arch: Processor, root: &Path, epoch: &str) -> Result<PathBuf, String> {
    let mut cargo = cargo(arch, root, "build", epoch)?;
    let status = cargo.arg("--profile=dist").status();
    let status = status.map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(does_not_build(arch, "program"));
    }
    Ok(root.join("target").join(arch.target()).join("dist/freehold"))
}

/// A statically linked test program.
#[derive(Debug)]
pub(crate) struct Test {
    /// The file of the test program.
    pub(crate) file: PathBuf,
    /// The path at which it expects the program `freehold`.
    pub(crate) program: PathBuf,
}

/// Builds the test program of this name.
///
/// # Errors
/// As [`build`], and if there is no such test.
pub(crate) fn build_test(arch: Processor, root: &Path, name: &str) -> Result<Test, String> {
    let mut cargo = cargo(arch, root, "test", "0")?;
    cargo.args([
        "--features",
        "live",
        "--no-run",
        "--test",
        name,
        "--message-format=json-render-diagnostics",
    ]);
    let output = cargo.stdout(Stdio::piped()).output();
    let output = output.map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(does_not_build(arch, &format!("test {name}")));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let made = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let file = made
        .filter(|message| message["target"]["name"] == name && message["profile"]["test"] == true)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    let file = file.ok_or_else(|| format!("cargo names no file of the test {name}"))?;
    Ok(Test { file, program: root.join("target").join(arch.target()).join("debug/freehold") })
}

fn does_not_build(arch: Processor, what: &str) -> String {
    let (name, target) = (arch.name(), arch.target());
    format!("the {what} for {name} does not build; `rustup target add {target}` gets what Rust needs for it")
}

/// Returns a Cargo command for the program, set up to build for another processor.
fn cargo(arch: Processor, root: &Path, what: &str, epoch: &str) -> Result<Command, String> {
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
    // Cargo ignores the profile's `strip` for a package whose optimisation the profile sets.
    let flags_of_rust = ["-Clinker=rust-lld", "-Ctarget-feature=+crt-static", "-Cstrip=symbols"];
    let mut rust: Vec<String> = flags_of_rust.map(str::to_owned).into();
    rust.extend(mapped(root)?.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())));

    let variable = target.replace('-', "_");
    let mut cargo = command("cargo");
    cargo.current_dir(root).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    cargo.args([what, "--locked", "--package=freehold-cli", "--features=bpf-static"]);
    cargo.args(["--target", target]).arg("--target-dir").arg(root.join("target"));
    cargo.env(format!("CC_{variable}"), libc.compiler());
    cargo.env(format!("AR_{variable}"), libc.archiver()).env("AR", libc.archiver());
    cargo.env(format!("CFLAGS_{variable}"), flags.join(" "));
    cargo.env(format!("LIBBPF_SYS_LIBRARY_PATH_{variable}"), place);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")).env("SOURCE_DATE_EPOCH", epoch);
    Ok(cargo)
}
