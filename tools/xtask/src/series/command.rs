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

/// What to do, and with which kernel.
#[derive(Args, Clone, Debug)]
pub struct SeriesArgs {
    /// Which series: a folder of kernel/series
    #[arg(long, global = true, default_value = "counts", value_name = "NAME")]
    series: String,
    /// The kernel: 6.12, 6.18, 7.2 or 7.3; without, each that the series is for, one after the other
    #[arg(long, global = true, value_parser = version)]
    kernel: Option<KernelVersion>,
    /// What it has of the series, one or more; without, each in turn
    #[arg(long, global = true, value_delimiter = ',')]
    variant: Vec<Variant>,
    /// An unpacked kernel source to start from, in place of Debian's package
    #[arg(long, global = true, requires = "kernel")]
    source: Option<PathBuf>,
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Clone, Debug)]
enum Task {
    /// Make the posting, as `git send-email` takes it, and check it
    #[command(alias = "patches")]
    Mail(MailArgs),
    /// Build kernels
    Build(BuildArgs),
    /// Measure them in turns: reading, allocating beside a monitor, the hot path, interrupts off
    Bench(BenchArgs),
    /// Boot them in QEMU: the unit tests in the kernel, a mixed load on two CPUs and nodes, with hotplug, the counts held
    /// against the lists, and nothing amiss in the log
    Boot(BootArgs),
    /// Count the instructions of the hot path in QEMU
    Instructions(InstructionsArgs),
}

#[derive(Args, Clone, Debug)]
struct MailArgs {
    /// Where to put them; without, target/series/VERSION/patches
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
struct BuildArgs {
    /// Where they are to run
    #[arg(long, value_name = "WHERE", default_value = "uml")]
    machine: Arch,
    #[command(flatten)]
    built: HowBuilt,
    /// Also build after each patch, with the derived total
    #[arg(long)]
    steps: bool,
}

/// How kernels are built that are not built as usual.
#[derive(Args, Clone, Debug)]
struct HowBuilt {
    /// Further fragments of the configuration: names in kernel/config without `.config`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    with: Vec<String>,
    /// Build with clang and LLVM's other programs, whose names end with this, such as -16
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, default_missing_value = "", allow_hyphen_values = true)]
    llvm: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct BenchArgs {
    /// Boots of each variant and measurement
    #[arg(long, default_value_t = 5)]
    boots: usize,
    /// Rounds of a measurement in a boot
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Milliseconds of a figure of the allocation table
    #[arg(long, value_name = "MS", default_value_t = 40)]
    slice: usize,
    /// What to measure; without, everything
    #[arg(long, value_delimiter = ',')]
    only: Vec<Measure>,
    /// Print the tables of the boots that are kept in target/series, and boot nothing
    #[arg(long)]
    kept: bool,
}

#[derive(Args, Clone, Debug)]
struct BootArgs {
    /// Where they run: qemu, qemu-arm64 or i386
    #[arg(long, value_name = "WHERE", default_value = "qemu", value_parser = emulated)]
    machine: Arch,
    #[command(flatten)]
    built: HowBuilt,
    /// What watches the kernel; without, each in turn
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    watch: Vec<Watch>,
    /// Pages to allocate and free
    #[arg(long, default_value_t = 10_000_000)]
    operations: u64,
    /// End the load after so many seconds
    #[arg(long, default_value_t = 1200)]
    seconds: u64,
    /// Have the kernel check its lists after so many movements between them
    #[arg(long, value_name = "MOVEMENTS", default_value_t = 10_000)]
    check_every: u64,
    /// Also load after each patch
    #[arg(long)]
    steps: bool,
}

#[derive(Args, Clone, Debug)]
struct InstructionsArgs {
    /// Where they run: qemu or qemu-arm64
    #[arg(long, value_name = "WHERE", default_value = "qemu", value_parser = counting)]
    machine: Arch,
    /// Boots of each variant
    #[arg(long, default_value_t = 1)]
    boots: usize,
    /// Further parameters of kernels with the series, such as what turns it on
    #[arg(long, default_value = "", value_name = "TEXT")]
    parameters: String,
}

fn version(name: &str) -> std::result::Result<KernelVersion, String> {
    kernels::from_name(name).ok_or_else(|| format!("a series may be for {}", kernels::names(&KERNELS)))
}

/// Parses a machine that QEMU is.
fn emulated(name: &str) -> std::result::Result<Arch, String> {
    let arch = Arch::from_str(name, false).ok().filter(|&arch| arch != Arch::Um);
    arch.ok_or_else(|| "the machine is qemu, qemu-arm64 or i386".to_owned())
}

/// Parses a machine whose instructions are counted.
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
