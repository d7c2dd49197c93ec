//! `cargo xtask series`: applies the series to a kernel, builds, tests and measures it.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::error::SeriesResult;
use super::kernels::{self, KERNELS};
use crate::kernel::{KernelVersion, source};
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::Workshop;
use crate::series::measure::bench::{self, BenchPlan, Measure};
use crate::series::measure::instructions::{self, CountPlan};
use crate::series::patch::git::Identity;
use crate::series::patch::mail as posting;
use crate::series::patch::patches::Series;
use crate::series::test::under_qemu::{self, LoadPlan, Watch};

/// Apply, build, test and measure the series for Linux
#[derive(Args, Clone, Debug)]
pub struct SeriesArgs {
    /// Series: a folder of kernel/series
    #[arg(long, global = true, default_value = "counts", value_name = "NAME")]
    series: String,
    /// Kernel: 6.12, 6.18, 7.2 or 7.3; by default, each kernel of the series
    #[arg(long, global = true, value_parser = version)]
    kernel: Option<KernelVersion>,
    /// Variants of the series in the kernel; by default, each
    #[arg(long, global = true, value_delimiter = ',')]
    variant: Vec<Variant>,
    /// Unpacked kernel source to start from, instead of Debian's package
    #[arg(long, global = true, requires = "kernel")]
    source: Option<PathBuf>,
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Clone, Debug)]
enum Task {
    /// Make the mails for git send-email, and check them
    #[command(alias = "patches")]
    Mail(MailArgs),
    /// Build kernels
    Build(BuildArgs),
    /// Measure kernels in turns under User-Mode Linux
    Bench(BenchArgs),
    // The load uses two CPUs, two nodes and hotplug; the kernel compares its counts with its lists.
    /// Boot kernels in QEMU, with unit tests, a mixed load and checks
    Boot(BootArgs),
    /// Count the instructions of the hot path in QEMU
    Instructions(InstructionsArgs),
}

#[derive(Args, Clone, Debug)]
struct MailArgs {
    /// Folder for the mails; by default, target/series/VERSION/patches
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
struct BuildArgs {
    /// Machine of the kernels
    #[arg(long, value_name = "WHERE", default_value = "uml")]
    machine: Arch,
    #[command(flatten)]
    built: HowBuilt,
    /// Also build after each patch, with the derived total
    #[arg(long)]
    steps: bool,
}

/// The options of special builds.
#[derive(Args, Clone, Debug)]
struct HowBuilt {
    /// Further configuration fragments: names in kernel/config without .config
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    with: Vec<String>,
    /// Build with LLVM's programs whose names have this suffix, such as -16
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, default_missing_value = "", allow_hyphen_values = true)]
    llvm: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct BenchArgs {
    /// Number of boots of each variant and measurement
    #[arg(long, default_value_t = 5)]
    boots: usize,
    /// Number of rounds of a measurement in a boot
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Duration of a figure of the allocation table in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 40)]
    slice: usize,
    /// Measurements to make; by default, all
    #[arg(long, value_delimiter = ',')]
    only: Vec<Measure>,
    /// Only print the tables of the boots in target/series
    #[arg(long)]
    kept: bool,
}

#[derive(Args, Clone, Debug)]
struct BootArgs {
    /// Machine: qemu, qemu-arm64 or i386
    #[arg(long, value_name = "WHERE", default_value = "qemu", value_parser = emulated)]
    machine: Arch,
    #[command(flatten)]
    built: HowBuilt,
    /// Checks in the kernel; by default, each in turn
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    watch: Vec<Watch>,
    /// Number of pages to allocate and free
    #[arg(long, default_value_t = 10_000_000)]
    operations: u64,
    /// Time limit of the load in seconds
    #[arg(long, default_value_t = 1200)]
    seconds: u64,
    /// Number of list movements between two checks in the kernel
    #[arg(long, value_name = "MOVEMENTS", default_value_t = 10_000)]
    check_every: u64,
    /// Also test a kernel after each patch
    #[arg(long)]
    steps: bool,
}

#[derive(Args, Clone, Debug)]
struct InstructionsArgs {
    /// Machine: qemu or qemu-arm64
    #[arg(long, value_name = "WHERE", default_value = "qemu", value_parser = counting)]
    machine: Arch,
    /// Number of boots of each variant
    #[arg(long, default_value_t = 1)]
    boots: usize,
    /// Further parameters for kernels with the series, such as its switch
    #[arg(long, default_value = "", value_name = "TEXT")]
    parameters: String,
}

fn version(name: &str) -> std::result::Result<KernelVersion, String> {
    kernels::from_name(name)
        .ok_or_else(|| format!("the kernels of the series are {}", kernels::names(&KERNELS)))
}

/// Parses the name of a machine in QEMU.
fn emulated(name: &str) -> std::result::Result<Arch, String> {
    let arch = Arch::from_str(name, false).ok().filter(|&arch| arch != Arch::Um);
    arch.ok_or_else(|| "the machine is qemu, qemu-arm64 or i386".to_owned())
}

/// Parses the name of a machine that counts instructions.
fn counting(name: &str) -> std::result::Result<Arch, String> {
    let arch = emulated(name).ok().filter(|&arch| arch != Arch::I386);
    arch.ok_or_else(|| "the machine is qemu or qemu-arm64".to_owned())
}

/// Runs the command. Returns true if it found nothing wrong.
///
/// # Errors
/// See [`super::SeriesError`].
pub fn run(args: &SeriesArgs, root: &Path) -> SeriesResult<bool> {
    let kernels = match args.kernel {
        Some(kernel) => vec![kernel],
        None => Series::open(&root.join("kernel/series").join(&args.series))?.kernels(),
    };
    let mut all_is_well = true;
    for kernel in kernels {
        let workshop = Workshop::new(root, &args.series, kernel, args.source.as_deref())?;
        all_is_well &= match &args.task {
            Task::Mail(task) => mail(&workshop, task, root)?,
            Task::Build(task) => build(&workshop, args, task)?,
            Task::Boot(task) => boot(&workshop, args, task, root)?,
            Task::Instructions(task) => {
                let (arch, boots, parameters) = (task.machine, task.boots, task.parameters.as_str());
                let plan = CountPlan { arch, boots, parameters };
                instructions::run(&workshop, root, &args.variants(), plan)?
            }
            Task::Bench(task) if task.kept => bench::report_kept(root, kernel)?,
            Task::Bench(task) => bench::run(&workshop, root, &args.variants(), &task.plan())?,
        };
    }
    Ok(all_is_well)
}

impl SeriesArgs {
    /// Returns the requested variants.
    fn variants(&self) -> Vec<Variant> {
        if self.variant.is_empty() { Variant::of(&self.series).to_vec() } else { self.variant.clone() }
    }
}

/// Makes the mails. Returns true if the kernel's `checkpatch.pl` has no objections.
fn mail(workshop: &Workshop, args: &MailArgs, root: &Path) -> SeriesResult<bool> {
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => root.join("target/series").join(workshop.version().name()).join("patches"),
    };
    let sender = Identity::of(root)?;
    let source = workshop.original()?;
    let release = source::release(workshop.version(), &source)?;
    let mails = posting::write(workshop.series(), workshop.applied()?, &source, &release, &folder, &sender)?;
    for file in &mails.files {
        println!("{}", file.display());
    }
    for objection in &mails.objections {
        println!("{objection}");
    }
    Ok(mails.objections.is_empty())
}

/// Builds each variant, and each step if requested.
fn build(workshop: &Workshop, args: &SeriesArgs, task: &BuildArgs) -> SeriesResult<bool> {
    let fragments: Vec<_> =
        std::iter::once(task.machine.fragment()).chain(task.built.with.iter().map(String::as_str)).collect();
    for variant in args.variants() {
        let recipe = Recipe::new(task.machine, &fragments, variant).with_llvm(task.built.llvm.clone());
        let built = workshop.kernel(&recipe)?;
        println!("{variant}: {}", built.program.display());
    }
    let steps = if task.steps { workshop.series().posted() } else { &[] };
    for (number, patch) in steps.iter().enumerate() {
        let recipe =
            Recipe::new(task.machine, &fragments, Variant::Derived).with_llvm(task.built.llvm.clone());
        let recipe = recipe.after(number + 1);
        println!("{}: {}", patch.name, workshop.kernel(&recipe)?.program.display());
    }
    Ok(true)
}

impl BenchArgs {
    fn plan(&self) -> BenchPlan {
        let measures = if self.only.is_empty() { Measure::ALL.to_vec() } else { self.only.clone() };
        BenchPlan { boots: self.boots, repetitions: self.repetitions, slice_ms: self.slice, measures }
    }
}

/// Boots in QEMU under load. Returns true if there are no findings.
fn boot(workshop: &Workshop, args: &SeriesArgs, task: &BootArgs, root: &Path) -> SeriesResult<bool> {
    let watches = if task.watch.is_empty() { Watch::value_variants().to_vec() } else { task.watch.clone() };
    let HowBuilt { with, llvm } = task.built.clone();
    let plan = LoadPlan {
        arch: task.machine,
        watches,
        with,
        llvm,
        operations: task.operations,
        seconds: task.seconds,
        check_every: task.check_every,
        steps: task.steps,
    };
    let findings = under_qemu::run(workshop, root, &args.variants(), &plan)?;
    for finding in &findings {
        println!("{finding}");
    }
    Ok(findings.is_empty())
}
