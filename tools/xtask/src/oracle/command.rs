//! `cargo xtask oracle`: plays scripts on real kernels and compares their transcripts with the engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use freehold_oracle::KernelVersion;
use freehold_oracle::families::Family;

use super::campaign::{Campaign, Tally, families_of};
use super::error::{OracleError, OracleResult};
use super::kept_transcripts;
use super::shrink_failure::shrink_failure;
use super::tree::{BuiltKernel, Kernel};

/// The most steps of a script that are printed, its last ones.
const STEPS_SHOWN: usize = 60;

/// Play scripts on real kernels and compare their answers with the engine's
#[derive(Args, Clone, Debug)]
pub struct OracleArgs {
    /// Kernel: 6.1, 6.12, 7.3 or 7.3-tidying; by default, each of them
    #[arg(long)]
    kernel: Option<KernelVersion>,
    /// Seed of the first script; by default, the time of day
    #[arg(long)]
    seed: Option<u64>,
    /// Least number of operations on each kernel
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    ops: u64,
    /// Play only this family of scripts
    #[arg(long, value_parser = family)]
    family: Option<Family>,
    /// Unpacked kernel source to build from, instead of Debian's package
    #[arg(long, requires = "kernel")]
    source: Option<PathBuf>,
    /// Make the kept transcripts of the tests again
    #[arg(long)]
    regenerate: bool,
    /// Keep this script and its transcript for the tests
    #[arg(long, value_name = "SCRIPT", requires = "kernel", conflicts_with = "regenerate")]
    keep: Option<PathBuf>,
}

fn family(name: &str) -> std::result::Result<Family, String> {
    Family::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Family::ALL.iter().map(|family| family.name()).collect();
        format!("no family has this name; there are {}", names.join(", "))
    })
}

/// Runs the command. Returns true if every kernel and the engine agreed.
///
/// # Errors
/// See [`OracleError`].
pub fn run(args: &OracleArgs, root: &Path) -> OracleResult<bool> {
    let kernels = match args.kernel {
        Some(kernel) => vec![kernel],
        None => KernelVersion::ALL.to_vec(),
    };
    let folder = root.join("target/oracle");
    fs::create_dir_all(&folder).map_err(OracleError::file(&folder))?;
    let mut agreed = true;
    for kernel in kernels {
        let kernel = Kernel::built(root, kernel, args.source.as_deref())?;
        agreed &= match &args.keep {
            Some(script) => kept_transcripts::keep_file(&kernel, script, &folder)?,
            None if args.regenerate => {
                kept_transcripts::regenerate(&kernel, &chosen(args, kernel.version()), &folder)?
            }
            None => compare(&kernel, args, &folder)?,
        };
    }
    Ok(agreed)
}

fn chosen(args: &OracleArgs, kernel: KernelVersion) -> Vec<Family> {
    let all = families_of(kernel).into_iter();
    all.filter(|&family| args.family.is_none_or(|only| only == family)).collect()
}

fn compare(kernel: &BuiltKernel, args: &OracleArgs, folder: &Path) -> OracleResult<bool> {
    let families = chosen(args, kernel.version());
    if let (true, Some(family)) = (families.is_empty(), args.family) {
        if args.kernel.is_none() {
            println!("Linux {}: no family {}", kernel.version(), family.name());
            return Ok(true);
        }
        return Err(OracleError::NoSuchFamily { version: kernel.version(), family: family.name() });
    }
    let seed = args
        .seed
        .unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()));
    let campaign = Campaign { kernel, families, seed, operations: args.ops, folder: folder.to_owned() };
    let (tally, failure) = campaign.run()?;
    println!("Linux {}: {}", kernel.version(), summary(&tally, seed));
    let Some(failure) = failure else { return Ok(true) };
    println!(
        "Linux {} and the engine differ: family {}, seed {}, mem={}\n{}",
        kernel.version(),
        failure.family.name(),
        failure.seed,
        failure.script.memory,
        failure.divergence
    );
    let Some(shrunk) = shrink_failure(kernel, &failure, folder) else {
        println!("the difference did not occur again: it depends on the boot of the kernel");
        return Ok(false);
    };
    let path = folder.join(format!("{}-{}-{}.script", kernel.version(), failure.family.name(), failure.seed));
    fs::write(&path, shrunk.script.to_bytes()).map_err(OracleError::file(&path))?;
    println!(
        "the smallest script found that differs, {} steps, kept as {}:",
        shrunk.script.steps.len(),
        path.display()
    );
    let steps = &shrunk.script.steps;
    for step in steps.iter().skip(steps.len().saturating_sub(STEPS_SHOWN)) {
        println!("  {step}");
    }
    println!("{}", shrunk.divergence);
    Ok(false)
}

fn summary(tally: &Tally, seed: u64) -> String {
    let seconds = tally.elapsed.as_secs_f64();
    let speed = tally.operations as f64 / seconds.max(1e-9);
    let last = seed.wrapping_add(tally.scripts.saturating_sub(1));
    format!(
        "{} operations of {} scripts (seeds {seed} to {last}), {} words compared, in {seconds:.1} s: \
         {speed:.0} operations/s",
        tally.operations, tally.scripts, tally.words
    )
}
