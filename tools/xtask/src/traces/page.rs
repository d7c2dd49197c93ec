//! The traces' pages: the table of all traces, and the page beside each scripted one.

use std::fmt::Write;

use freehold_measure::grouped;

use super::index::Index;
use super::list::{RECIPES, TraceRecipe};
use super::row::Row;

/// The page with the table.
pub const PAGE: &str = "docs/guide/traces.md";

/// The heading of the table, which ends the page.
const HEADING: &str = "## The set\n";

/// Returns the page with the table of this index in place of the old one.
///
/// # Errors
/// If the page does not have the heading.
pub fn with_table(page: &str, index: &Index) -> Result<String, String> {
    let (head, _) = page.split_once(HEADING).ok_or_else(|| format!("{PAGE} has no heading {HEADING:?}"))?;
    Ok(format!("{head}{HEADING}\n{}", table(index)))
}

fn table(index: &Index) -> String {
    let mut text = "| trace | kernel | architecture, pages | memory | nodes | CMA | pressure | events | fallbacks | trust |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in &index.rows {
        let name = match row.place.strip_suffix(".arrows") {
            Some(place) => format!("[{}](../../{place}.md)", row.name),
            None => format!("`{}`", row.name),
        };
        let cma = if row.cma_bytes == 0 { "–".to_owned() } else { memory(row.cma_bytes) };
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {}, {} KiB | {} | {} | {cma} | {} | {} | {} | {} of {} |",
            row.kernel,
            row.architecture,
            row.page_bytes / 1024,
            memory(row.memory_bytes),
            row.nodes,
            row.pressure,
            number(row.events),
            number(row.fallbacks),
            row.trust_kept,
            row.trust_parts,
        );
    }
    let has_row = |recipe: &&TraceRecipe| index.rows.iter().any(|row| row.name == recipe.name);
    let missing: Vec<_> =
        RECIPES.iter().filter(|recipe| !has_row(recipe)).map(|recipe| format!("`{}`", recipe.name)).collect();
    if !missing.is_empty() {
        let _ = writeln!(text, "\nNot recorded yet: {}.", missing.join(", "));
    }
    text
}

/// Returns the page beside a trace, with its provenance and contents.
pub(super) fn provenance(row: &Row, recipe: &TraceRecipe, kernel: &str) -> String {
    let TraceRecipe { name, machine, work } = recipe;
    let nodes = if machine.nodes == 1 { "one node" } else { "two nodes of one CPU each" };
    let parameters = match machine.parameters {
        "" => String::new(),
        parameters => format!(", booted with `{parameters}`"),
    };
    let prepared: Vec<_> =
        work.disk.commands().iter().chain(work.prepare).map(|line| format!("`{line}`")).collect();
    let before = if prepared.is_empty() { "nothing".to_owned() } else { prepared.join(", ") };
    let lost = if row.lost == 0 { "none lost".to_owned() } else { format!("{} lost", number(row.lost)) };
    let start = if row.start_is_exact { "exact" } else { "a fit" };
    format!(
        "# {name}.arrows\n\n{}\n\n| | |\n|---|---|\n\
         | events | {} ({} allocations, {} frees, {} fallbacks), {lost} |\n\
         | time | {:.1} s |\n\
         | kernel | Debian's {}, {}, pages of {} KiB: `{kernel}` |\n\
         | machine | QEMU, emulated, {} CPUs, {} MiB, {nodes}, {} of CMA{parameters} |\n\
         | before | {before} |\n\
         | command | `{}`, of `traces/workloads` |\n\
         | pressure | {} |\n\
         | start | {start} |\n\
         | made by | `{}` |\n",
        work.what,
        number(row.events),
        number(row.allocations),
        number(row.frees),
        number(row.fallbacks),
        row.seconds,
        row.kernel,
        row.architecture,
        row.page_bytes / 1024,
        row.cpus,
        machine.memory_mib,
        memory(row.cma_bytes),
        row.workload,
        row.pressure,
        recipe.command(),
    )
}

fn number(number: i64) -> String {
    grouped(number.unsigned_abs())
}

/// Returns a size in MiB, or in GiB if it is at least one.
fn memory(bytes: i64) -> String {
    let mib = bytes / (1 << 20);
    if mib < 1024 { format!("{mib} MiB") } else { format!("{:.1} GiB", mib as f64 / 1024.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_replaces_the_old_one() {
        let old = "# Traces\n\ntext\n\n## The set\n\n| old |\n";
        let new = with_table(old, &Index::default()).unwrap();
        assert!(
            new.starts_with("# Traces\n\ntext\n\n## The set\n\n| trace |") && !new.contains("old"),
            "{new}"
        );
        assert_eq!(with_table(&new, &Index::default()).unwrap(), new);
        assert!(with_table("# Traces\n", &Index::default()).is_err());
    }

    #[test]
    fn sizes_are_in_mib_or_gib() {
        assert_eq!((memory(64 << 20), memory(3 << 29)), ("64 MiB".into(), "1.5 GiB".into()));
    }
}
