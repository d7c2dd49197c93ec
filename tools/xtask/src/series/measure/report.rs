//! The tables of the measurements, and the promises compared with the measurements.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};
use serde_json::{Value, json};

use super::figures::{Figures, Interval, Summary, percent_over};
use crate::kernel::KernelVersion;
use crate::series::build::variant::Variant;

/// A table. The first columns are words, the others figures.
#[derive(Clone, Debug)]
pub struct Table {
    /// The title.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows as they are printed.
    pub rows: Vec<Vec<String>>,
}

/// A promise.
#[derive(Clone, Debug)]
pub struct Target {
    /// The promise, with its variant.
    pub what: String,
    /// The measured value.
    pub seen: f64,
    /// The bound.
    pub bound: f64,
    /// True if the value must be at least the bound, false if at most.
    pub is_least: bool,
}

/// The report of one run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The tables, in order.
    pub tables: Vec<Table>,
    /// The promises.
    pub targets: Vec<Target>,
}

/// Makes the report of a run.
pub fn of(figures: &Figures, version: KernelVersion) -> Report {
    let mut tables = vec![reading(figures, version)];
    for state in figures.values("pagealloc", "state") {
        tables.push(allocation_losses(figures, &state, version));
        tables.push(allocation(figures, &state, version));
    }
    tables.extend([hot(figures, version), contended(figures, version), interrupts(figures, version)]);
    // A run need not measure everything: empty tables are removed.
    tables.retain(|table| !table.rows.is_empty());
    Report { tables, targets: targets(figures) }
}

impl Report {
    /// Returns true if every promise is kept.
    pub fn is_met(&self) -> bool {
        self.targets.iter().all(Target::is_met)
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        let tables = self.tables.iter().map(Table::text);
        let targets = self.targets.iter().map(Target::text).collect::<Vec<_>>().join("\n");
        tables.chain([targets]).collect::<Vec<_>>().join("\n\n")
    }
}

impl Table {
    fn new(title: String, columns: impl IntoIterator<Item = String>) -> Self {
        Self { title, columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Returns the table as text.
    pub fn text(&self) -> String {
        let mut grid = Grid::new();
        grid.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        grid.set_header(&self.columns);
        grid.add_rows(&self.rows);
        for column in grid.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!("{}\n\n{}", self.title, grid.trim_fmt())
    }

    /// Returns the table as JSON.
    pub fn json(&self) -> Value {
        json!({"title": self.title, "columns": self.columns, "rows": self.rows})
    }
}

impl Target {
    /// Returns true if the promise is kept.
    pub fn is_met(&self) -> bool {
        if self.is_least { self.seen >= self.bound } else { self.seen <= self.bound }
    }

    /// Returns the promise and the measured value as text.
    pub fn text(&self) -> String {
        let word = if self.is_met() { "met" } else { "MISSED" };
        let relation = if self.is_least { "at least" } else { "at most" };
        format!("{word}: {}: {:.2}, {relation} {}", self.what, self.seen, self.bound)
    }

    /// Returns the promise and the measured value as JSON.
    pub fn json(&self) -> Value {
        json!({"what": self.what, "seen": self.seen, "bound": self.bound, "met": self.is_met()})
    }
}

fn names(variants: &[Variant]) -> impl Iterator<Item = String> {
    variants.iter().map(|variant| variant.name().to_owned())
}

/// A function that returns one of a summary's numbers.
type Number = fn(&Summary) -> f64;

/// Returns a figure with its spread, and how far it is above the first column's.
fn compared(summary: Option<Summary>, base: Option<Summary>, unit: f64) -> String {
    let Some(summary) = summary else { return "–".to_owned() };
    let figure = format!("{:.1} ±{:.1}", summary.median / unit, summary.spread / unit);
    match base {
        Some(base) => format!("{figure} ({:+.1} %)", percent_over(summary.median, base.median)),
        None => figure,
    }
}

/// Returns one row: a cell for each variant, compared with the first one.
fn row(name: String, unit: f64, summaries: &[Option<Summary>]) -> Vec<String> {
    let cells = summaries.iter().enumerate().map(|(at, summary)| {
        let base = if at == 0 { None } else { summaries[0] };
        compared(*summary, base, unit)
    });
    std::iter::once(name).chain(cells).collect()
}

/// The path to the time of a reading inside the kernel. System calls are slow under User-Mode Linux.
const INSIDE: &str = "inside.median";

fn reading(figures: &Figures, version: KernelVersion) -> Table {
    let variants = figures.variants();
    let title = format!(
        "Linux {version}: reading /proc/pagetypeinfo, µs, median of the boots' medians ± half the quartiles' distance"
    );
    let columns = ["lists".to_owned(), "blocks".to_owned()].into_iter().chain(names(&variants));
    let mut table = Table::new(title, columns);
    for state in figures.values("read", "state") {
        let wanted = [("test", json!("read")), ("state", state.clone())];
        let blocks = figures.summary(variants[0], &wanted, "blocks").map_or(0.0, |blocks| blocks.median);
        for (place, path) in [("in the kernel", INSIDE), ("by a process", "median")] {
            let of = |variant: &Variant| figures.summary(*variant, &wanted, path);
            let summaries: Vec<_> = variants.iter().map(of).collect();
            let mut cells = row(format!("{}, {place}", word(&state)), 1000.0, &summaries);
            cells.insert(1, format!("{blocks:.0}"));
            table.rows.push(cells);
        }
    }
    table
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns every measured pair of order and number of blocks.
fn sizes(figures: &Figures) -> Vec<(Value, Value)> {
    let numbers = figures.values("pagealloc", "n");
    let orders = figures.values("pagealloc", "order");
    orders.iter().flat_map(|order| numbers.iter().map(|n| (order.clone(), n.clone()))).collect()
}

fn slices<'a>(state: &Value, order: &Value, n: &Value, monitor: bool) -> [(&'a str, Value); 5] {
    [
        ("test", json!("pagealloc")),
        ("state", state.clone()),
        ("order", order.clone()),
        ("n", n.clone()),
        ("monitor", json!(monitor)),
    ]
}

/// Returns the table of the series that introduced the counts, with a column for each variant with and
/// without a monitor.
fn allocation(figures: &Figures, state: &Value, version: KernelVersion) -> Table {
    let variants = figures.variants();
    let title = format!(
        "Linux {version}: allocating and freeing beside a monitor every 10 ms, {} lists, ns a block",
        word(state)
    );
    let columns =
        variants.iter().flat_map(|variant| [format!("{variant} no-monitor"), format!("{variant} monitor")]);
    let mut table = Table::new(title, std::iter::once(String::new()).chain(columns));
    let measures: [(&str, Number); 4] = [
        ("Min", |summary| summary.min),
        ("Median", |summary| summary.median),
        ("Stddev", |summary| summary.stddev),
        ("Max", |summary| summary.max),
    ];
    for (measure, value) in measures {
        for half in ["alloc", "free"] {
            for (order, n) in sizes(figures) {
                let mut cells = vec![format!("{measure:<6} {half}-odr{order}-{n}")];
                for variant in &variants {
                    let path = format!("{half}.mean");
                    let of = |monitor| {
                        let wanted = slices(state, &order, &n, monitor);
                        figures.summary(*variant, &wanted, &path).map(|summary| value(&summary))
                    };
                    cells.extend(beside(of(false), of(true)));
                }
                table.rows.push(cells);
            }
        }
    }
    table
}

/// Returns two cells in that series' format, in which a loss has a minus sign.
fn beside(without: Option<f64>, with: Option<f64>) -> [String; 2] {
    let Some(without) = without else { return ["–".to_owned(), "–".to_owned()] };
    let with =
        with.map_or("–".to_owned(), |with| format!("{with:.2} ({:>8.2}%)", -percent_over(with, without)));
    [format!("{without:.2} (   0.00%)"), with]
}

/// Returns for each boot by how many percent a monitor makes a block's allocation and free together more expensive: the
/// median over the numbers of blocks and the rounds.
fn losses(figures: &Figures, variant: Variant, state: &Value, order: &Value) -> Vec<f64> {
    // All conditions except those on the number of blocks and the monitor.
    let wanted = &slices(state, order, &Value::Null, false)[..3];
    let boots = figures.losses(variant, wanted, &["alloc.mean", "free.mean"]);
    boots.iter().filter_map(|losses| Summary::of(losses)).map(|summary| summary.median).collect()
}

fn allocation_losses(figures: &Figures, state: &Value, version: KernelVersion) -> Table {
    let variants = figures.variants();
    let title = format!(
        "Linux {version}: what a monitor every 10 ms costs, {} lists, % of the time to allocate and free a block, median of the boots and its 95 % interval",
        word(state)
    );
    let mut table = Table::new(title, std::iter::once(String::new()).chain(names(&variants)));
    for order in figures.values("pagealloc", "order") {
        let boots: Vec<_> = variants.iter().map(|variant| losses(figures, *variant, state, &order)).collect();
        // A machine with one CPU has none for a monitor.
        if boots.iter().all(Vec::is_empty) {
            continue;
        }
        let name = format!("order {order}, {} boots", boots.iter().map(Vec::len).max().unwrap_or(0));
        table.rows.push(std::iter::once(name).chain(boots.iter().map(|boots| interval(boots))).collect());
    }
    table
}

/// Returns a median and its 95 % interval as text.
fn interval(values: &[f64]) -> String {
    match Interval::of(values) {
        None => "–".to_owned(),
        Some(Interval { median, ends: None }) => format!("{median:+.2}"),
        Some(Interval { median, ends: Some([from, to]) }) => format!("{median:+.2} ({from:+.2} to {to:+.2})"),
    }
}

/// The parts of the hot path: its word, the order if there is one, and its two halves.
const HALVES: [(&str, [&str; 2]); 5] = [
    ("pairs", ["alloc", "free"]),
    ("batches", ["alloc", "free"]),
    ("refill", ["refill", "drain"]),
    ("drain", ["free", "drain"]),
    ("spill", ["free", "drain"]),
];

fn hot(figures: &Figures, version: KernelVersion) -> Table {
    let variants = figures.variants();
    let title = format!(
        "Linux {version}: the allocator alone, interrupts off, ns an operation, median ± half the quartiles' distance"
    );
    let mut table = Table::new(title, std::iter::once(String::new()).chain(names(&variants)));
    for (shape, halves) in HALVES {
        let orders = if matches!(shape, "pairs" | "batches") {
            figures.values("hot", "order")
        } else {
            vec![Value::Null]
        };
        for order in orders {
            for half in halves {
                let wanted = [("test", json!("hot")), ("shape", json!(shape)), ("order", order.clone())];
                let of = |variant: &Variant| figures.summary(*variant, &wanted, &format!("{half}.median"));
                let summaries: Vec<_> = variants.iter().map(of).collect();
                if summaries.iter().all(Option::is_none) {
                    continue;
                }
                let order = if order.is_null() { String::new() } else { format!(" order {order}") };
                table.rows.push(row(format!("{shape}{order}: {half}"), 1.0, &summaries));
            }
        }
    }
    table
}

/// Returns the table of contended calls. It has means, because only some calls wait for the lock, and a median would
/// hide either kind.
fn contended(figures: &Figures, version: KernelVersion) -> Table {
    let variants = figures.variants();
    let title = format!(
        "Linux {version}: while the other CPU is idle, and while it refills and drains its lists, ns, median of the rounds' means ± half the quartiles' distance"
    );
    let mut table = Table::new(title, std::iter::once(String::new()).chain(names(&variants)));
    for what in figures.values("contend", "what") {
        for (is_busy, other) in [(false, "idle"), (true, "busy")] {
            let wanted = [("test", json!("contend")), ("what", what.clone()), ("busy", json!(is_busy))];
            for half in ["check", "alloc", "free"] {
                let of = |variant: &Variant| figures.summary(*variant, &wanted, &format!("{half}.mean"));
                let summaries: Vec<_> = variants.iter().map(of).collect();
                if summaries.iter().any(Option::is_some) {
                    let shape = word(&what);
                    let shape = shape.split(" batch=").next().unwrap_or(&shape).replace('=', " ");
                    table.rows.push(row(format!("{shape}: {half}, {other}"), 1.0, &summaries));
                }
            }
        }
    }
    table
}

fn interrupts(figures: &Figures, version: KernelVersion) -> Table {
    let variants = figures.variants();
    let title = format!(
        "Linux {version}: longest time with interrupts off, µs, median of many short samples ± half the quartiles' distance"
    );
    let mut table = Table::new(title, std::iter::once("lists".to_owned()).chain(names(&variants)));
    for state in figures.values("irqoff", "state") {
        let wanted = [("test", json!("irqoff")), ("state", state.clone())];
        for path in ["idle", "reading"] {
            let summaries: Vec<_> =
                variants.iter().map(|variant| figures.summary(*variant, &wanted, path)).collect();
            table.rows.push(row(format!("{}, {path}", word(&state)), 1.0, &summaries));
        }
    }
    table
}

/// Returns the promises about the variants with counts.
fn targets(figures: &Figures) -> Vec<Target> {
    let mut targets = Vec::new();
    let read = |variant, state: &str| {
        figures
            .summary(variant, &[("test", json!("read")), ("state", json!(state))], INSIDE)
            .map(|read| read.median)
    };
    for variant in
        figures.variants().into_iter().filter(|variant| matches!(variant, Variant::Beside | Variant::Derived))
    {
        let fresh = read(variant, "fresh");
        for state in ["fragmented", "shuffled"] {
            if let (Some(fresh), Some(seen)) = (fresh, read(variant, state)) {
                let what = format!("{variant}: reading {state} lists, times fresh ones");
                targets.push(Target { what, seen: seen / fresh, bound: 1.1, is_least: false });
            }
        }
        if let (Some(vanilla), Some(seen)) = (read(Variant::Vanilla, "shuffled"), read(variant, "shuffled")) {
            let what = format!("{variant}: reading shuffled lists, times faster than vanilla");
            targets.push(Target { what, seen: vanilla / seen, bound: 20.0, is_least: true });
        }
        for state in figures.values("pagealloc", "state") {
            for order in figures.values("pagealloc", "order") {
                let losses = losses(figures, variant, &state, &order);
                if let Some(Interval { median: seen, .. }) = Interval::of(&losses) {
                    let what = format!(
                        "{variant}: allocating order {order} beside a monitor, {} lists, % dearer",
                        word(&state)
                    );
                    targets.push(Target { what, seen, bound: 0.5, is_least: false });
                }
            }
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::measure::figures::BootFigures;

    /// Returns a boot with readings in two states, and one slice of the table with and without a
    /// monitor.
    fn boot(variant: Variant, fresh_ns: u64, shuffled_ns: u64, beside_monitor: f64) -> BootFigures {
        let read = |state, median: u64| json!({"test": "read", "state": state, "median": median, "inside": {"median": median}, "blocks": 9});
        let slice = |monitor, mean: f64| {
            json!({"test": "pagealloc", "state": "fresh", "order": 4, "n": 8, "monitor": monitor, "lost": 0,
                   "alloc": {"mean": mean}, "free": {"mean": mean}})
        };
        let said = vec![
            read("fresh", fresh_ns),
            read("shuffled", shuffled_ns),
            slice(false, 100.0),
            slice(true, beside_monitor),
            json!({"test": "hot", "shape": "pairs", "order": 0, "alloc": {"median": 10.0}, "free": {"median": 5.0}}),
            json!({"test": "irqoff", "state": "fresh", "idle": 3, "reading": 40}),
            json!({"test": "contend", "what": "watermark order=4 batch=256", "busy": true, "check": {"mean": 12.0}}),
        ];
        BootFigures { variant, said }
    }

    fn figures(derived: BootFigures) -> Figures {
        Figures { boots: vec![boot(Variant::Vanilla, 100_000, 9_000_000, 120.0), derived] }
    }

    #[test]
    fn promises_are_compared_with_measurements() {
        let good = of(&figures(boot(Variant::Derived, 90_000, 95_000, 100.2)), KernelVersion::V7_3);
        assert!(good.is_met(), "{}", good.text());
        assert_eq!(good.targets.len(), 3);
        let bad = of(&figures(boot(Variant::Derived, 90_000, 900_000, 101.0)), KernelVersion::V7_3);
        let missed: Vec<_> = bad.targets.iter().filter(|target| !target.is_met()).map(Target::text).collect();
        assert_eq!(
            missed,
            [
                "MISSED: derived: reading shuffled lists, times fresh ones: 10.00, at most 1.1",
                "MISSED: derived: reading shuffled lists, times faster than vanilla: 10.00, at least 20",
                "MISSED: derived: allocating order 4 beside a monitor, fresh lists, % dearer: 1.00, at most 0.5",
            ]
        );
    }

    #[test]
    fn tables_have_a_column_per_variant_and_percentages() {
        let mut figures = figures(boot(Variant::Derived, 90_000, 95_000, 100.2));
        let later =
            (1..6).map(|tenths| boot(Variant::Derived, 90_000, 95_000, 100.2 + 0.1 * f64::from(tenths)));
        figures.boots.extend(later);
        let report = of(&figures, KernelVersion::V7_3);
        let text = report.text();
        let line = |start: &str| {
            let found = text.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or(&text);
            found.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("shuffled, in"), "shuffled, in the kernel 9 9000.0 ±0.0 95.0 ±0.0 (-98.9 %)");
        assert_eq!(
            line("Min    alloc-odr4-8"),
            "Min alloc-odr4-8 100.00 ( 0.00%) 120.00 ( -20.00%) 100.00 ( 0.00%) 100.20 ( -0.20%)"
        );
        assert_eq!(line("pairs order 0: free"), "pairs order 0: free 5.0 ±0.0 5.0 ±0.0 (+0.0 %)");
        assert_eq!(line("watermark"), "watermark order 4: check, busy 12.0 ±0.0 12.0 ±0.0 (+0.0 %)");
        assert_eq!(line("order 4, 6 boots"), "order 4, 6 boots +20.00 +0.45 (+0.20 to +0.70)");
        assert_eq!(report.tables[0].json()["columns"], json!(["lists", "blocks", "vanilla", "derived"]));
    }
}
