//! The benchmarks: builds their program in release and runs it.

use std::path::Path;
use std::process::Command;

use clap::Args;

/// Measure the engine and, with --peers, other allocators on this machine
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Also build the other allocators, for the table peers
    #[arg(long)]
    peers: bool,
    /// Read free blocks by BPF in the table sensor
    #[arg(long)]
    bpf: bool,
    /// Arguments of the benchmark program, such as a table or --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

/// Runs the benchmarks. Returns false if they failed.
///
/// # Errors
/// If Cargo cannot be started.
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
    cargo.args(["--features", &features.join(","), "--"]).args(&args.arguments).current_dir(root);
    let status = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    Ok(status.success())
}
