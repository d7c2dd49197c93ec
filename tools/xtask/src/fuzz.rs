//! `cargo xtask fuzz`: runs the fuzzer on the properties that the tests check with kept inputs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;

/// The most inputs that the repository keeps for a target.
const MOST: usize = 60;

/// Search for inputs that break a property, starting from the kept inputs
#[derive(Args, Debug)]
pub struct FuzzArgs {
    /// Target in fuzz/targets; by default, all of them one after the other
    target: Option<String>,
    /// Seconds to fuzz each target
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u64,
    /// Replace the inputs in fuzz/corpus by few inputs that reach the same code
    #[arg(long)]
    keep: bool,
}

/// The longest input. Longer inputs make every run slower and find no more errors.
///
/// Units: bytes.
const LONGEST: u64 = 16 << 10;

/// Runs the fuzzer. Returns true if no input broke a property.
///
/// # Errors
/// If the fuzzer cannot be run, or the target does not exist.
pub fn run(arguments: &FuzzArgs, root: &Path) -> Result<bool, String> {
    let targets = targets(root)?;
    let chosen: Vec<&String> = match &arguments.target {
        None => targets.iter().collect(),
        Some(name) => targets.iter().filter(|target| *target == name).collect(),
    };
    if chosen.is_empty() {
        return Err(format!("no such target; the targets are {}", targets.join(", ")));
    }
    ready(root)?;
    let mut is_sound = true;
    for target in chosen {
        let found = root.join("target/fuzz").join(target);
        fs::create_dir_all(&found).map_err(|error| format!("{}: {error}", found.display()))?;
        let limits = [format!("-max_len={LONGEST}"), format!("-max_total_time={}", arguments.seconds)];
        let mut fuzz = cargo_fuzz(root, "run", target);
        fuzz.arg(&found).arg(kept(root, target)).arg("--").args(limits);
        is_sound &= succeeds(&mut fuzz)?;
        if arguments.keep && is_sound {
            keep(root, target, &found)?;
        }
    }
    Ok(is_sound)
}

fn targets(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/targets");
    let mut targets = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        targets.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    targets.sort();
    Ok(targets)
}

/// Fails if a program is missing, before anything is built.
fn ready(root: &Path) -> Result<(), String> {
    let mut ask = Command::new("cargo");
    ask.args(["+nightly", "fuzz", "--version"]).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
    if succeeds(&mut ask)? {
        return Ok(());
    }
    Err("the fuzzer is missing: rustup toolchain install nightly; cargo install cargo-fuzz --locked"
        .to_owned())
}

fn cargo_fuzz(root: &Path, verb: &str, target: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "fuzz", verb, "--features", "libfuzzer", target]).current_dir(root);
    // Link-time optimisation of instrumented code takes minutes and makes it no faster.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off");
    command
}

fn kept(root: &Path, target: &str) -> std::path::PathBuf {
    root.join("fuzz/corpus").join(target)
}

/// Replaces the kept inputs by few inputs that reach the same code.
fn keep(root: &Path, target: &str, found: &Path) -> Result<(), String> {
    let kept = kept(root, target);
    let say = |error: std::io::Error| format!("{}: {error}", kept.display());
    for entry in fs::read_dir(&kept).into_iter().flatten() {
        let path = entry.map_err(say)?.path();
        fs::copy(&path, found.join(path.file_name().unwrap_or_default())).map_err(say)?;
    }
    // Inputs are chosen by the code that they reach. To choose them also by how often that code runs would keep ten
    // times as many.
    if !succeeds(cargo_fuzz(root, "cmin", target).arg(found).args(["--", "-use_counters=0"]))? {
        return Err(format!("{target}: the inputs cannot be reduced"));
    }
    fs::remove_dir_all(&kept)
        .or_else(|error| if kept.exists() { Err(error) } else { Ok(()) })
        .map_err(say)?;
    fs::create_dir_all(&kept).map_err(say)?;
    let mut inputs = Vec::new();
    for entry in fs::read_dir(found).map_err(say)? {
        let entry = entry.map_err(say)?;
        inputs.push((entry.metadata().map_err(say)?.len(), entry.path()));
    }
    inputs.sort();
    // If there are more than `MOST` inputs, a regular selection is kept, so that all sizes occur.
    let step = inputs.len().div_ceil(MOST).max(1);
    for (_, path) in inputs.iter().step_by(step) {
        fs::copy(path, kept.join(path.file_name().unwrap_or_default())).map_err(say)?;
    }
    Ok(())
}

fn succeeds(command: &mut Command) -> Result<bool, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{program} cannot be started: {error}"))?;
    Ok(status.success())
}
