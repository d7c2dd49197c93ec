//! An analysis as tables.

use freehold::MAX_ORDERS;
use freehold_measure::{Cell, Table, grouped};

use super::findings::Analysis;
use super::pageblocks::MOBILITIES;
use super::pageblocks::{Mixture, Scatter};
use super::rows::{GfpClass, Lifetimes, PageFate};
use crate::columns::Columns;

/// The number of request classes in a text. The last row sums up all other classes.
const CLASSES: usize = 20;

impl Analysis {
    /// Returns all tables in full, for other programs.
    pub fn tables(&self) -> Vec<Table> {
        let types: Vec<_> = self.lifetimes.chunk_by(|a, b| a.migratetype == b.migratetype).collect();
        let types: Vec<_> = types.iter().map(|rows| (rows[0].migratetype, rows.iter().collect())).collect();
        self.all_tables(&types, usize::MAX)
    }

    /// Returns the tables for people: lifetimes of all types together, and only the largest request classes.
    pub fn short_tables(&self) -> Vec<Table> {
        self.all_tables(&[("", self.lifetimes.iter().collect())], CLASSES)
    }

    /// Returns every number of all tables in long form.
    pub fn columns(&self) -> Columns {
        Columns::long(&self.tables())
    }

    /// Returns the tables for people as text, below a line that describes the trace.
    pub fn text(&self, name: &str) -> String {
        let seconds = self.duration_ns as f64 / 1e9;
        let head = format!("{name}: {} events in {seconds:.1} s", grouped(self.events));
        let tables = self.short_tables();
        let texts = tables.iter().filter(|table| !table.rows.is_empty()).map(Table::to_text);
        [head].into_iter().chain(texts).collect::<Vec<_>>().join("\n\n")
    }

    fn all_tables(&self, types: &[(&str, Vec<&Lifetimes>)], classes: usize) -> Vec<Table> {
        let [fallbacks, tasks] = self.fallbacks.tables();
        vec![
            self.overview(),
            self.orders_table(),
            self.by_type_table(),
            self.octaves_table(types),
            self.classes_table(classes),
            self.bursts_table(),
            self.cpus_table(),
            self.mixture_table(),
            self.arrivals_table(),
            self.scatter_table(),
            fallbacks,
            tasks,
        ]
    }

    fn overview(&self) -> Table {
        let mut table = Table::new("Overview", columns(&["number"]));
        let allocs: u64 = self.orders.iter().map(|order| order.allocs).sum();
        let pages: u64 = self.orders.iter().map(|order| order.pages).sum();
        let freed: u64 = self.cpus.iter().map(|cpu| cpu.pages_freed).sum();
        let elsewhere: u64 = self.cpus.iter().map(|cpu| cpu.pages_from_elsewhere).sum();
        let alive: u64 = self.classes.iter().map(|class| class.fate.alive).sum();
        let mut push = |group: &str, name: &str, unit: &str, number| {
            table.push(group, name, unit, vec![Cell::Count(number)]);
        };
        push("requests", "answered", "", allocs);
        push("requests", "failed", "", self.orders.iter().map(|order| order.failed).sum());
        push("requests", "allocated", "pages", pages);
        push("fate", "freed", "pages", freed);
        push("fate", "freed on another CPU", "pages", elsewhere);
        push("fate", "moved by compaction", "pages", self.unseen.moved);
        push("fate", "allocated again, free event lost", "pages", self.unseen.displaced);
        push("fate", "in use at the end", "pages", alive);
        push("unknown", "freed without an allocation", "pages", self.unseen.freed);
        push("unknown", "isolated without an event, then freed by compaction", "pages", self.unseen.returned);
        push("unknown", "misplaced blocks, not counted", "", self.misplaced);
        push("unknown", "places where events are lost", "", self.lost_places);
        table
    }

    fn orders_table(&self) -> Table {
        let head = ["allocated", "%", "a second", "failed", "freed", "pages", "% of pages"];
        let mut table = Table::new("Orders", columns(&head));
        let allocs: u64 = self.orders.iter().map(|order| order.allocs).sum();
        let pages: u64 = self.orders.iter().map(|order| order.pages).sum();
        for (number, order) in self.orders.iter().enumerate() {
            let seconds = self.duration_ns as f64 / 1e9;
            let rate = if seconds > 0.0 { Cell::Real(order.allocs as f64 / seconds) } else { Cell::Empty };
            let cells = vec![
                Cell::Count(order.allocs),
                percent(order.allocs, allocs),
                rate,
                Cell::Count(order.failed),
                Cell::Count(order.frees),
                Cell::Count(order.pages),
                percent(order.pages, pages),
            ];
            table.push("", &format!("order {number}"), "", cells);
        }
        table
    }

    fn by_type_table(&self) -> Table {
        let mut table = Table::new("Lifetimes by type and order", columns(&FATE));
        for row in &self.lifetimes {
            table.push(row.migratetype, &format!("order {}", row.order), "pages", fate_cells(&row.fate));
        }
        table
    }

    /// Returns a table with a row for each octave of lifetimes and a column for each order, in a group for each
    /// of `types`.
    fn octaves_table(&self, types: &[(&str, Vec<&Lifetimes>)]) -> Table {
        let orders: Vec<u8> = (0..MAX_ORDERS as u8)
            .filter(|&order| self.lifetimes.iter().any(|row| row.order == order))
            .collect();
        let names = orders.iter().map(|order| format!("order {order}")).collect();
        let mut table = Table::new("Pages by lifetime and order", names);
        for (group, rows) in types {
            let sums = |number: &dyn Fn(&Lifetimes) -> u64| -> Vec<u64> {
                let of = |order: u8| rows.iter().filter(move |row| row.order == order);
                orders.iter().map(|&order| of(order).map(|row| number(row)).sum()).collect()
            };
            let last = rows.iter().map(|row| row.octaves.len()).max().unwrap_or(0);
            let octaves = (0..last)
                .map(|octave| (below(octave), sums(&|row| row.octaves.get(octave).copied().unwrap_or(0))))
                .skip_while(|(_, pages)| pages.iter().all(|&pages| pages == 0));
            let others = [
                ("in use at the end".to_owned(), sums(&|row| row.fate.alive)),
                ("moved by compaction".to_owned(), sums(&|row| row.fate.moved)),
                ("free event lost".to_owned(), sums(&|row| row.fate.displaced)),
            ];
            for (name, pages) in octaves.chain(others) {
                table.push(group, &name, "pages", pages.into_iter().map(Cell::Count).collect());
            }
        }
        table
    }

    fn classes_table(&self, most: usize) -> Table {
        let head: Vec<_> =
            ["allocations", "failed"].iter().chain(&FATE).chain(&["freed on another CPU"]).copied().collect();
        let mut table = Table::new("Requests by flags", columns(&head));
        for class in self.classes.iter().take(most) {
            let mut cells = vec![Cell::Count(class.allocs), Cell::Count(class.failed)];
            cells.extend(fate_cells(&class.fate));
            cells.push(Cell::Count(class.freed_elsewhere));
            table.push("", &class.name, "pages", cells);
        }
        let others = self.classes.get(most..).unwrap_or_default();
        if !others.is_empty() {
            let sum = |number: fn(&GfpClass) -> u64| Cell::Count(others.iter().map(number).sum());
            let cells = vec![
                sum(|class| class.allocs),
                sum(|class| class.failed),
                sum(|class| class.fate.pages),
                sum(|class| class.fate.freed),
                Cell::Empty,
                Cell::Empty,
                sum(|class| class.fate.alive),
                sum(|class| class.fate.moved),
                sum(|class| class.freed_elsewhere),
            ];
            table.push("", &format!("{} others, see --csv", others.len()), "pages", cells);
        }
        table
    }

    fn bursts_table(&self) -> Table {
        let mut table = Table::new(
            "Bursts of allocations",
            columns(&["windows", "mean", "peak", "peak/mean", "index of dispersion"]),
        );
        for burst in &self.bursts {
            let cells = vec![
                Cell::Count(burst.windows),
                Cell::Real(burst.mean),
                Cell::Count(burst.peak),
                burst.dispersion.map_or(Cell::Empty, |_| Cell::Real(burst.peak as f64 / burst.mean)),
                burst.dispersion.map_or(Cell::Empty, Cell::Real),
            ];
            table.push("", &format!("{} ms", burst.window_ns / 1_000_000), "allocations", cells);
        }
        table
    }

    fn cpus_table(&self) -> Table {
        let head =
            ["allocations", "%", "pages", "frees", "pages freed", "from another CPU", "% from another CPU"];
        let mut table = Table::new("CPUs", columns(&head));
        let allocs: u64 = self.cpus.iter().map(|cpu| cpu.allocs).sum();
        for (number, cpu) in self.cpus.iter().enumerate().filter(|(_, cpu)| cpu.allocs + cpu.frees > 0) {
            let cells = vec![
                Cell::Count(cpu.allocs),
                percent(cpu.allocs, allocs),
                Cell::Count(cpu.pages),
                Cell::Count(cpu.frees),
                Cell::Count(cpu.pages_freed),
                Cell::Count(cpu.pages_from_elsewhere),
                percent(cpu.pages_from_elsewhere, cpu.pages_freed),
            ];
            table.push("", &format!("CPU {number}"), "", cells);
        }
        table
    }

    fn mixture_table(&self) -> Table {
        let mut table = Table::new("Pageblocks by contents", columns(&["start", "end"]));
        let mut push = |group: &str, name: &str, unit: &str, number: &dyn Fn(&Mixture) -> u64| {
            let start =
                self.pageblocks.start.as_ref().map_or(Cell::Empty, |start| Cell::Count(number(start)));
            table.push(group, name, unit, vec![start, Cell::Count(number(&self.pageblocks.end))]);
        };
        push("all", "with pages in use", "pageblocks", &|mixture| mixture.used);
        push("all", "with pages of more than one type", "pageblocks", &|mixture| mixture.mixed);
        for (at, kind) in MOBILITIES.iter().enumerate() {
            let name = kind.name();
            push(name, "in use", "pages", &|mixture| mixture.pages[at]);
            push(name, "most pages are of this type", "pageblocks", &|mixture| mixture.majority[at]);
            push(name, "with more pages of another type", "pageblocks", &|mixture| mixture.polluted[at]);
            push(name, "pages in such pageblocks", "pages", &|mixture| mixture.polluting[at]);
        }
        table
    }

    fn arrivals_table(&self) -> Table {
        let head = ["Unmovable", "Movable", "Reclaimable"];
        let mut table =
            Table::new("Pages allocated in pageblocks of another type and in use at the end", columns(&head));
        let start = ["were mostly Unmovable", "were mostly Movable", "were mostly Reclaimable", "were free"];
        for (name, arrivals) in start.into_iter().zip(&self.pageblocks.arrivals) {
            if self.pageblocks.start.is_some() {
                table.push(name, "pageblocks", "", arrivals.map(|it| Cell::Count(it.pageblocks)).to_vec());
                table.push(name, "pages", "", arrivals.map(|it| Cell::Count(it.pages)).to_vec());
            }
        }
        table
    }

    fn scatter_table(&self) -> Table {
        let head = ["pages", "pageblocks", "fewest possible", "pageblocks/fewest"];
        let mut table = Table::new("Scatter of pages at the end", columns(&head));
        let pageblocks = &self.pageblocks;
        for (group, scatters) in
            [("all", &pageblocks.alive), ("older than half the trace", &pageblocks.long_lived)]
        {
            for (kind, scatter) in MOBILITIES.iter().zip(scatters) {
                table.push(group, kind.name(), "", scatter_cells(scatter));
            }
        }
        table
    }
}

/// The columns of a [`PageFate`].
const FATE: [&str; 6] = ["allocated", "freed", "median µs", "99 % µs", "in use at the end", "moved"];

fn fate_cells(fate: &PageFate) -> Vec<Cell> {
    let time = |ns: Option<u64>| ns.map_or(Cell::Empty, |ns| Cell::Real(ns as f64 / 1e3));
    vec![
        Cell::Count(fate.pages),
        Cell::Count(fate.freed),
        time(fate.median_ns),
        time(fate.p99_ns),
        Cell::Count(fate.alive),
        Cell::Count(fate.moved),
    ]
}

fn scatter_cells(scatter: &Scatter) -> Vec<Cell> {
    let times = scatter.pageblocks as f64 / scatter.least as f64;
    vec![
        Cell::Count(scatter.pages),
        Cell::Count(scatter.pageblocks),
        Cell::Count(scatter.least),
        if scatter.least > 0 { Cell::Real(times) } else { Cell::Empty },
    ]
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn percent(part: u64, whole: u64) -> Cell {
    if whole == 0 { Cell::Empty } else { Cell::Real(100.0 * part as f64 / whole as f64) }
}

/// Returns the name of an octave: its upper bound.
pub(super) fn below(octave: usize) -> String {
    let bound_ns = (octave as f64).exp2();
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (unit, name) = units.into_iter().find(|&(unit, _)| bound_ns >= unit).unwrap_or((1.0, "ns"));
    let value = bound_ns / unit;
    if value < 10.0 && name != "ns" {
        format!("below {value:.1} {name}")
    } else {
        format!("below {value:.0} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octaves_are_named_by_their_upper_bound() {
        let names: Vec<_> = [0, 4, 10, 17, 20, 30, 37].into_iter().map(below).collect();
        let expected = ["1 ns", "16 ns", "1.0 µs", "131 µs", "1.0 ms", "1.1 s", "137 s"];
        assert_eq!(names, expected.map(|name| format!("below {name}")));
    }
}
