//! Tells the program how it is built: from which commit, for the provenance of its reports, and with what in it.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The commit of a source that is handed out without its history.
const HANDED_OUT: &str = "../../COMMIT";

fn main() {
    let commit = commit();
    println!("cargo::rustc-env=FREEHOLD_COMMIT={commit}");
    let commit = if commit.is_empty() { "unknown" } else { &commit };
    println!("cargo::rustc-env=FREEHOLD_BUILD=commit {commit}; sensor: {}; libc: {}", sensor(), libc());
    for what in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", what]);
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// Returns the commit of the source; nothing where nobody tells.
fn commit() -> String {
    if let Ok(text) = fs::read_to_string(HANDED_OUT) {
        println!("cargo::rerun-if-changed={HANDED_OUT}");
        return text.trim().to_owned();
    }
    git(&["describe", "--always", "--dirty", "--abbrev=12"])
}

/// Returns what reads free blocks.
fn sensor() -> &'static str {
    if env::var_os("CARGO_FEATURE_BPF").is_some() { "BPF and /proc" } else { "/proc, without BPF" }
}

/// Returns the C library, and how it is linked.
fn libc() -> String {
    let set = |name: &str| env::var(name).unwrap_or_default();
    let name = match set("CARGO_CFG_TARGET_ENV") {
        name if name.is_empty() => set("CARGO_CFG_TARGET_OS"),
        name => name,
    };
    let is_static = set("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    format!("{name}, {}", if is_static { "static" } else { "dynamic" })
}

/// Returns what git answers; nothing where there is none.
fn git(args: &[&str]) -> String {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success());
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
