//! The benchmarks: builds their program in release and runs it.

use std::path::Path;
use std::process::Command;

use clap::Args;

/// The arguments of `cargo xtask bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Have the other allocators, too, for the table `peers`
    #[arg(long)]
    peers: bool,
    /// Read free blocks by BPF in the table `sensor` (needs clang, make, pkg-config, libelf and zlib)
    #[arg(long)]
    bpf: bool,
    /// What the program is told: `--help` lists it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    told: Vec<String>,
}

/// Runs the benchmarks. Returns false if they failed.
///
/// # Errors
/// A sentence, if Cargo cannot be started.
pub fn run(args: &BenchArgs, root: &Path) -> Result<bool, String> {
    let features: Vec<_> =
        [("peers", args.peers), ("bpf", args.bpf)].iter().filter(|has| has.1).map(|has| has.0).collect();
    let mut cargo = Command::new("cargo");
    cargo.args([
        "run",
        "--release",
        "--quiet",
        "--manifest-path",
        "tools/Cargo.toml",
        "--package",
        "freehold-bench",
    ]);
    cargo.args(["--features", &features.join(","), "--"]).args(&args.told).current_dir(root);
    let status = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    Ok(status.success())
}
