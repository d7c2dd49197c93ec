//! `cargo xtask linux`: the series, from the repository to a kernel that has it.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::error::Result;
use super::git::Identity;
use super::mail;
use super::recipe::{Arch, Recipe};
use super::series::KERNELS;
use super::variant::Variant;
use super::workshop::Workshop;
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
    /// Make ordinary patches for `git am`, and check them
    Patches(PatchesArgs),
    /// Build kernels
    Build(BuildArgs),
}

#[derive(Args, Clone, Debug)]
struct PatchesArgs {
    /// Where to put them; without, target/linux/VERSION/patches
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
struct BuildArgs {
    /// Where they are to run
    #[arg(long, value_name = "WHERE", default_value = "uml")]
    machine: Arch,
    /// Further fragments of the configuration: names in kernel/config without `.config`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    with: Vec<String>,
    /// Also build after each patch, with the derived total
    #[arg(long)]
    steps: bool,
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
    let kernels = match args.kernel {
        Some(kernel) => vec![kernel],
        None => KERNELS.to_vec(),
    };
    let mut all_is_well = true;
    for kernel in kernels {
        let workshop = Workshop::new(root, kernel, args.source.as_deref())?;
        all_is_well &= match &args.task {
            Task::Patches(task) => patches(&workshop, task, root)?,
            Task::Build(task) => build(&workshop, args, task)?,
        };
    }
    Ok(all_is_well)
}

impl LinuxArgs {
    /// The variants that were asked for.
    fn variants(&self) -> Vec<Variant> {
        self.variant.map_or(Variant::ALL.to_vec(), |variant| vec![variant])
    }
}

/// Makes the mails; whether the kernel's own script has nothing against them.
fn patches(workshop: &Workshop, args: &PatchesArgs, root: &Path) -> Result<bool> {
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => root.join("target/linux").join(workshop.version().name()).join("patches"),
    };
    let sender = Identity::of(root)?;
    let mails = mail::write(workshop.series(), workshop.applied()?, &workshop.original()?, &folder, &sender)?;
    for file in &mails.files {
        println!("{}", file.display());
    }
    for objection in &mails.objections {
        println!("{objection}");
    }
    Ok(mails.objections.is_empty())
}

/// Builds each variant, and each step if asked.
fn build(workshop: &Workshop, args: &LinuxArgs, task: &BuildArgs) -> Result<bool> {
    let fragments: Vec<_> =
        std::iter::once(task.machine.fragment()).chain(task.with.iter().map(String::as_str)).collect();
    for variant in args.variants() {
        let built = workshop.kernel(&Recipe::new(task.machine, &fragments, variant))?;
        println!("{variant}: {}", built.program.display());
    }
    let steps = if task.steps { workshop.series().patches.as_slice() } else { &[] };
    for (number, patch) in steps.iter().enumerate() {
        let recipe = Recipe::new(task.machine, &fragments, Variant::Derived).after(number + 1);
        println!("{}: {}", patch.name, workshop.kernel(&recipe)?.program.display());
    }
    Ok(true)
}
