//! Tells the program which commit it is built from, for the provenance of its reports.

use std::path::Path;
use std::process::Command;

fn main() {
    // A source without its history has no commit to tell.
    println!("cargo::rustc-env=FREEHOLD_COMMIT={}", git(&["describe", "--always", "--dirty", "--abbrev=12"]));
    for what in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", what]);
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// What git answers; nothing where there is none.
fn git(args: &[&str]) -> String {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success());
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
