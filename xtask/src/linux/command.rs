//! `cargo xtask linux`: the series, from the repository to a kernel that has it.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::error::Result;
use super::series::{KERNELS, Series};
use super::variant::Variant;
use crate::kernel::KernelVersion;

/// What to do, and with which kernel.
#[derive(Args, Clone, Debug)]
pub struct LinuxArgs {
    /// The kernel: 6.12 or 7.3; without, both one after the other
    #[arg(long, global = true, value_parser = version)]
    kernel: Option<KernelVersion>,
    /// What it has of the series; without, each in turn
    #[arg(long, global = true)]
    variant: Option<Variant>,
    /// An unpacked kernel source to start from, in place of Debian's package
    #[arg(long, global = true, requires = "kernel")]
    source: Option<PathBuf>,
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Clone, Debug)]
enum Task {
    /// Read the series, and say what it has
    List,
}

fn version(name: &str) -> std::result::Result<KernelVersion, String> {
    KERNELS.into_iter().find(|version| version.name() == name).ok_or_else(|| {
        let known = KERNELS.map(KernelVersion::name).join(" and ");
        format!("the series is for {known}")
    })
}

/// Runs the command; whether nothing was found wanting.
///
/// # Errors
/// See [`super::LinuxError`].
pub fn run(args: &LinuxArgs, root: &Path) -> Result<bool> {
    let series = Series::open(&root.join("kernel/series"))?;
    match args.task {
        Task::List => {
            for patch in &series.patches {
                println!("{}: {}", patch.name, patch.subject());
            }
        }
    }
    Ok(true)
}
