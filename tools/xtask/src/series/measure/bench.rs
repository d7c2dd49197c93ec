//! Measures the cost and the gain of each variant under User-Mode Linux, in turns, so that all have the same host.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::figures::{BootFigures, Figures};
use super::report;
use crate::kernel::KernelVersion;
use crate::kernel::scratch::Scratch;
use crate::series::boot::guest;
use crate::series::boot::uml::{UmlBoot, cpus};
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::{Built, Workshop};
use crate::series::error::{SeriesError, SeriesResult};

/// The guest's memory: enough for lists of at least 100 000 blocks of three types. Most of it is never touched.
const MEMORY: &str = "5G";
const SECONDS: u64 = 900;

/// A measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Measure {
    /// The time to read /proc/pagetypeinfo
    Read,
    /// The cost of the allocator alone
    Hot,
    /// The cost of a block beside a monitor
    Pagealloc,
    /// The longest time with interrupts off
    Irqoff,
    /// The cost of watermark checks and pairs while the other CPU writes the free lists
    Contend,
}

impl Measure {
    /// Every measurement.
    pub const ALL: [Self; 5] = [Self::Read, Self::Hot, Self::Pagealloc, Self::Irqoff, Self::Contend];

    /// Returns the fragments of the kernel's configuration. Kernels with debugging are used only for
    /// `Irqoff`.
    const fn config(self) -> &'static [&'static str] {
        match self {
            Self::Irqoff => &["uml", "uml-test"],
            _ => &["uml"],
        }
    }
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub struct BenchPlan {
    /// Boots of each variant and measurement.
    pub boots: usize,
    /// Rounds of the allocation table in each boot.
    pub repetitions: usize,
    /// The duration of each of its figures in milliseconds.
    pub slice_ms: usize,
    /// The measurements.
    pub measures: Vec<Measure>,
}

impl BenchPlan {
    /// Returns the guest's command.
    fn order(&self, measure: Measure) -> String {
        let Self { repetitions, slice_ms, .. } = self;
        match measure {
            Measure::Read => "read,reads=200".to_owned(),
            Measure::Hot => format!("hot,repetitions={repetitions}"),
            Measure::Pagealloc => format!("pagealloc,repetitions={repetitions},ms={slice_ms}"),
            Measure::Irqoff => "irqoff,rounds=20".to_owned(),
            Measure::Contend => format!("contend,repetitions={repetitions}"),
        }
    }
}

/// Measures the variants, prints the tables, and writes the figures. Returns true if the targets are met.
///
/// # Errors
/// If a kernel cannot be built or does not reach its end.
pub fn run(workshop: &Workshop, root: &Path, variants: &[Variant], plan: &BenchPlan) -> SeriesResult<bool> {
    let scratch = Scratch::new()?;
    let initramfs = guest::initramfs(root, scratch.path(), Arch::Um)?;
    let build = |measure: &Measure| -> SeriesResult<Vec<Built>> {
        let recipes = variants.iter().map(|&variant| Recipe::new(Arch::Um, measure.config(), variant));
        recipes.map(|recipe| workshop.kernel(&recipe)).collect()
    };
    let needs_other = |measure: &&Measure| **measure == Measure::Contend;
    let measures: Vec<_> = plan
        .measures
        .iter()
        .filter(|measure| !needs_other(measure) || cpus(workshop.version()) > 1)
        .collect();
    let kernels = measures.iter().copied().map(build).collect::<SeriesResult<Vec<_>>>()?;
    let mut figures = Figures::default();
    for boot in 0..plan.boots {
        eprintln!("Linux {}: boots {} of {}", workshop.version(), boot + 1, plan.boots);
        for (measure, kernels) in measures.iter().zip(&kernels) {
            // The variants take turns at the first place, because the first one finds the host in another state.
            for place in 0..kernels.len() {
                let kernel = &kernels[(place + boot) % kernels.len()];
                figures.boots.push(boot_once(kernel, &initramfs, &plan.order(**measure))?);
            }
        }
        // Written after each boot, so that a later failure loses nothing.
        write(root, workshop, plan, &figures)?;
    }
    let report = report::of(&figures, workshop.version());
    println!("{}", report.text());
    println!("{}", write(root, workshop, plan, &figures)?.display());
    Ok(report.is_met())
}

/// Prints the tables of the boots that [`run`] has kept. Returns true if the targets are met.
///
/// # Errors
/// If there are none.
pub fn report_kept(root: &Path, version: KernelVersion) -> SeriesResult<bool> {
    let place = place(root, version);
    let text = fs::read_to_string(&place).map_err(SeriesError::file(&place))?;
    let all: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(figures) = Figures::from_json(&all["boots"]) else {
        let fault = "has no boots of a measurement; `series bench` without --kept measures again".to_owned();
        return Err(SeriesError::Fault { path: place, fault });
    };
    let report = report::of(&figures, version);
    println!("{}", report.text());
    Ok(report.is_met())
}

/// Returns the file of a kernel's figures.
fn place(root: &Path, version: KernelVersion) -> PathBuf {
    root.join("target/series").join(version.name()).join("bench.json")
}

fn boot_once(kernel: &Built, initramfs: &Path, order: &str) -> SeriesResult<BootFigures> {
    let (memory, seconds) = (MEMORY, SECONDS);
    let console = UmlBoot { kernel, initramfs, order, parameters: &[], memory, seconds }.measure()?;
    Ok(BootFigures { variant: kernel.recipe.variant, said: console.said })
}

/// Writes the figures so far.
fn write(root: &Path, workshop: &Workshop, plan: &BenchPlan, figures: &Figures) -> SeriesResult<PathBuf> {
    let version = workshop.version();
    let place = place(root, version);
    let partial = place.with_extension("json.partial");
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder).map_err(SeriesError::file(folder))?;
    }
    let report = report::of(figures, version);
    let all = json!({
        "kernel": version.name(),
        "machine": {"kind": "User-Mode Linux", "cpus": cpus(version), "memory": MEMORY},
        "plan": {"boots": plan.boots, "repetitions": plan.repetitions, "slice_ms": plan.slice_ms},
        "tables": report.tables.iter().map(report::Table::json).collect::<Value>(),
        "targets": report.targets.iter().map(report::Target::json).collect::<Value>(),
        "boots": figures.json(),
    });
    fs::write(&partial, format!("{all:#}\n")).map_err(SeriesError::file(&partial))?;
    fs::rename(&partial, &place).map_err(SeriesError::file(&place))?;
    Ok(place)
}
