//! Counts each variant's instructions on an emulated CPU, where they are the same in every boot.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::figures::{BootFigures, Figures};
use super::report::{Table, Target};
use crate::kernel::KernelVersion;
use crate::kernel::scratch::Scratch;
use crate::series::boot::guest;
use crate::series::boot::qemu::QemuBoot;
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::Workshop;
use crate::series::error::{SeriesError, SeriesResult};

const SECONDS: u64 = 1200;

/// The guest's command.
const ORDER: &str = "hot,repetitions=1,n=2000";

/// The unit of the counts, as the kernel's bench names it.
const TICKS: &str = "ticks";

/// A row of the table: its title, and where its figure is.
struct Row {
    name: &'static str,
    shape: &'static str,
    order: Option<u64>,
    path: &'static str,
}

const fn row(name: &'static str, shape: &'static str, order: Option<u64>, path: &'static str) -> Row {
    Row { name, shape, order, path }
}

/// For one block at a time the median is shown, which is the path through the per-CPU list if there is
/// one; for many blocks the mean, which includes refills and drains.
const ROWS: [Row; 16] = [
    row("allocation, order 0", "pairs", Some(0), "alloc.median"),
    row("free, order 0", "pairs", Some(0), "free.median"),
    row("allocation, order 4", "pairs", Some(4), "alloc.median"),
    row("free, order 4", "pairs", Some(4), "free.median"),
    row("allocation, order 9", "pairs", Some(9), "alloc.median"),
    row("free, order 9", "pairs", Some(9), "free.median"),
    row("allocation, order 0, of 256", "batches", Some(0), "alloc.mean"),
    row("free, order 0, of 256", "batches", Some(0), "free.mean"),
    row("allocation, order 4, of 256", "batches", Some(4), "alloc.mean"),
    row("free, order 4, of 256", "batches", Some(4), "free.mean"),
    row("allocation, order 9, of 32", "batches", Some(9), "alloc.mean"),
    row("free, order 9, of 32", "batches", Some(9), "free.mean"),
    row("refill, one page taken from it", "refill", None, "refill.median"),
    row("drain after a refill", "refill", None, "drain.median"),
    row("drain of 32 pages, a page", "drain", None, "drain.mean"),
    row("drain of a full list, a page", "spill", None, "drain.mean"),
];

/// The promises: the order, and by how many percent an allocation and its free may be more expensive.
const PROMISES: [(u64, f64); 2] = [(0, 0.5), (4, 1.0)];

/// The plan of a run.
#[derive(Clone, Copy, Debug)]
pub struct CountPlan<'a> {
    /// The machine.
    pub arch: Arch,
    /// The number of boots of each variant.
    pub boots: usize,
    /// Further parameters for kernels with the series, such as its switch.
    pub parameters: &'a str,
}

/// Counts the variants' instructions, prints the table, and writes it. Returns true if the targets are
/// met.
///
/// # Errors
/// If a kernel cannot be built or does not reach its end.
pub fn run(
    workshop: &Workshop,
    root: &Path,
    variants: &[Variant],
    plan: CountPlan<'_>,
) -> SeriesResult<bool> {
    let CountPlan { arch, boots, .. } = plan;
    let scratch = Scratch::new()?;
    let initramfs = guest::initramfs(root, scratch.path(), arch)?;
    let mut figures = Figures::default();
    for &variant in variants {
        let kernel = workshop.kernel(&Recipe::new(arch, &["qemu"], variant))?;
        let (initramfs, is_counting) = (initramfs.as_path(), true);
        let run = QemuBoot {
            kernel: &kernel,
            initramfs,
            order: ORDER,
            parameters: if variant.has_series() { plan.parameters } else { "" },
            is_counting,
            seconds: SECONDS,
        };
        for boot in 0..boots {
            eprintln!("Linux {} {variant}: counts instructions, {} of {boots}", workshop.version(), boot + 1);
            let console = run.boot()?.unobjectionable(&run.name())?;
            figures.boots.push(BootFigures { variant, said: console.said });
        }
    }
    let (table, targets) = (table(&figures, workshop.version(), plan), targets(&figures));
    println!("{}\n", table.text());
    for target in &targets {
        println!("{}", target.text());
    }
    println!("{}", write(root, workshop.version(), plan, &figures, &table, &targets)?.display());
    Ok(targets.iter().all(Target::is_met))
}

/// Returns the figures of a row, one for each boot.
fn samples(figures: &Figures, variant: Variant, row: &Row) -> Vec<f64> {
    let mut wanted = vec![("test", json!("hot")), ("unit", json!(TICKS)), ("shape", json!(row.shape))];
    wanted.extend(row.order.map(|order| ("order", json!(order))));
    figures.samples(variant, &wanted, row.path)
}

/// Returns the table: a row for each figure, a column for each variant, compared with the first one.
fn table(figures: &Figures, version: KernelVersion, plan: CountPlan<'_>) -> Table {
    let variants = figures.variants();
    let names = variants.iter().map(|variant| variant.name().to_owned());
    let CountPlan { arch, parameters, .. } = plan;
    let with = if parameters.is_empty() { String::new() } else { format!(", the series with {parameters}") };
    let title = format!("Linux {version}: instructions of {}{with}; ± between boots", arch.name());
    let columns = std::iter::once("what".to_owned()).chain(names).collect();
    let rows = ROWS.iter().map(|row| {
        let all: Vec<_> = variants.iter().map(|variant| samples(figures, *variant, row)).collect();
        let base = all.first().and_then(|samples| mean(samples));
        let cells = all.iter().enumerate().map(|(at, samples)| cell(samples, base.filter(|_| at > 0)));
        std::iter::once(row.name.to_owned()).chain(cells).collect()
    });
    Table { title, columns, rows: rows.collect() }
}

fn cell(samples: &[f64], base: Option<f64>) -> String {
    let Some(mean) = mean(samples) else { return "–".to_owned() };
    let apart = samples.iter().map(|sample| (sample - mean).abs()).fold(0.0, f64::max);
    let apart = if apart > 0.0 { format!(" ±{apart:.2}") } else { String::new() };
    let percent = base.map_or(String::new(), |base| format!(" ({:+.2} %)", (mean / base - 1.0) * 100.0));
    format!("{mean:.1}{apart}{percent}")
}

fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Returns the cost of an allocation and its free together.
fn both(figures: &Figures, variant: Variant, shape: &str, order: u64) -> Option<f64> {
    let rows = ROWS.iter().filter(|row| row.shape == shape && row.order == Some(order));
    rows.map(|row| mean(&samples(figures, variant, row))).sum()
}

/// Returns the promises about the cheapest variant, for each shape that was measured.
fn targets(figures: &Figures) -> Vec<Target> {
    let mut targets = Vec::new();
    for (order, bound) in PROMISES {
        for (shape, words) in [("pairs", "one by one"), ("batches", "many")] {
            let over = |variant: Variant| -> Option<(f64, Variant)> {
                let vanilla = both(figures, Variant::Vanilla, shape, order)?;
                Some(((both(figures, variant, shape, order)? / vanilla - 1.0) * 100.0, variant))
            };
            let counted = [Variant::Beside, Variant::Derived].into_iter().filter_map(over);
            if let Some((seen, variant)) = counted.min_by(|left, right| left.0.total_cmp(&right.0)) {
                let what =
                    format!("instructions of allocation and free, order {order}, {words}, {variant}, %");
                targets.push(Target { what, seen, bound, is_least: false });
            }
        }
    }
    targets
}

fn write(
    root: &Path,
    version: KernelVersion,
    plan: CountPlan<'_>,
    figures: &Figures,
    table: &Table,
    targets: &[Target],
) -> SeriesResult<PathBuf> {
    let folder = root.join("target/series").join(version.name());
    fs::create_dir_all(&folder).map_err(SeriesError::file(&folder))?;
    let all = json!({
        "kernel": version.name(),
        "machine": {"kind": "QEMU, instructions counted", "arch": plan.arch.name(), "cpus": 1},
        "parameters": plan.parameters,
        "order": ORDER,
        "tables": [table.json()],
        "targets": targets.iter().map(Target::json).collect::<Value>(),
        "boots": figures.json(),
    });
    let with = if plan.parameters.is_empty() { "" } else { "-with" };
    let name = format!("instructions-{}{with}.json", plan.arch.name());
    let (place, partial) = (folder.join(&name), folder.join(format!("{name}.partial")));
    fs::write(&partial, format!("{all:#}\n")).map_err(SeriesError::file(&partial))?;
    fs::rename(&partial, &place).map_err(SeriesError::file(&place))?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(variant: Variant, alloc: f64) -> BootFigures {
        let pair = |shape: &str, order: u64, statistic: &str| {
            json!({"test": "hot", "unit": "ticks", "shape": shape, "order": order,
                   "alloc": {statistic: alloc}, "free": {statistic: 100.0}})
        };
        let said = vec![pair("pairs", 0, "median"), pair("pairs", 4, "median"), pair("batches", 0, "mean")];
        BootFigures { variant, said }
    }

    #[test]
    fn cheapest_variant_is_compared_with_vanilla() {
        let boots = vec![
            boot(Variant::Vanilla, 100.0),
            boot(Variant::Vanilla, 100.0),
            boot(Variant::Beside, 104.0),
            boot(Variant::Derived, 100.5),
            boot(Variant::Derived, 101.5),
        ];
        let figures = Figures { boots };
        let targets = targets(&figures);
        assert_eq!(targets.len(), 3);
        assert!(targets.iter().all(|target| (target.seen - 0.5).abs() < 1e-9 && target.is_met()));
        assert_eq!(targets[2].what, "instructions of allocation and free, order 4, one by one, derived, %");
        let plan = CountPlan { arch: Arch::Arm64, boots: 1, parameters: "x.y=1" };
        let table = table(&figures, KernelVersion::V7_3, plan);
        assert!(table.title.contains("arm64, the series with x.y=1; "), "{}", table.title);
        assert_eq!(table.columns, ["what", "vanilla", "beside", "derived"]);
        assert_eq!(table.rows[0][1..], ["100.0", "104.0 (+4.00 %)", "101.0 ±0.50 (+1.00 %)"]);
        assert_eq!(table.rows[15][1], "–");
    }
}
