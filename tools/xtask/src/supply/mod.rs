//! `cargo xtask supply`: checks the dependencies' licences, advisories, duplicates and sources.
//!
//! `Cargo.lock`, `cargo tree` and, if available, a copy of `RustSec`'s advisory database come in;
//! findings, and the kept lists of advisories and third-party licences go out.

mod advisories;
mod lock;
mod third_party;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

/// The kept list of advisories.
const ADVISORIES: &str = "tools/xtask/advisories.tsv";

/// The kept list of third-party licences.
const THIRD_PARTY: &str = "docs/reference/third-party.md";

/// Check licences, advisories, duplicates and sources of the dependencies
#[derive(Args, Debug)]
pub struct SupplyArgs {
    /// Write the kept lists instead of checking them
    #[arg(long)]
    keep: bool,
    /// Checkout of rustsec/advisory-db with the advisories for --keep
    #[arg(long, value_name = "FOLDER", requires = "keep")]
    database: Option<PathBuf>,
}

/// Checks the kept lists or writes them. Returns true if there are no findings.
///
/// # Errors
/// If `cargo` or `cargo-deny` cannot be run, or a file cannot be read or written.
pub fn run(arguments: &SupplyArgs, root: &Path) -> Result<bool, String> {
    let listed = third_party::render(root)?;
    let crates = lock::crates(&read(root, "Cargo.lock")?)?;
    if arguments.keep {
        write(root, THIRD_PARTY, &listed)?;
        if let Some(database) = &arguments.database {
            write(root, ADVISORIES, &advisories::collect(database, &crates)?)?;
        }
        return Ok(true);
    }
    let mut findings = advisories::findings(&read(root, ADVISORIES)?, &crates, ADVISORIES)?;
    if read(root, THIRD_PARTY)? != listed {
        findings
            .push(format!("{THIRD_PARTY} does not list the crates of the binary: cargo xtask supply --keep"));
    }
    for finding in &findings {
        println!("{finding}");
    }
    // cargo-deny checks licences, duplicates and sources, and says what to do.
    let denied = Command::new("cargo")
        .args(["deny", "--workspace", "--all-features", "check", "licenses", "bans", "sources"])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    match denied.code() {
        Some(0) => Ok(findings.is_empty()),
        // cargo ends with 101 if the subcommand is missing.
        Some(101) => Err("cargo-deny is missing: cargo install cargo-deny --locked".to_owned()),
        _ => Ok(false),
    }
}

fn read(root: &Path, name: &str) -> Result<String, String> {
    fs::read_to_string(root.join(name)).map_err(|error| format!("{name} cannot be read: {error}"))
}

fn write(root: &Path, name: &str, text: &str) -> Result<(), String> {
    fs::write(root.join(name), text).map_err(|error| format!("{name} cannot be written: {error}"))?;
    println!("{name} written");
    Ok(())
}
