//! `freehold compare`: one trace through every era.

use std::fmt::Write;

use anyhow::Context;
use freehold_lab::{Comparison, Options, StartReport, Table, grouped};

use crate::args::Compare;
use crate::exit::{Cause, Failure};
use crate::load::{self, Loaded};
use crate::output;

pub(crate) fn run(args: &Compare) -> Result<(), Failure> {
    let loaded = load::whole(&args.input)?;
    let lab = loaded.lab()?;
    let options = Options { runs: args.repeat, ..Options::default() };
    let comparison = lab.compare(options).map_err(|error| loaded.failure(error))?;
    if let Some(path) = &args.svg {
        let picture = lab.picture(&comparison).map_err(|error| loaded.failure(error))?;
        std::fs::write(path, picture)
            .with_context(|| format!("{} cannot be written", path.display()))
            .map_err(|error| Failure::new(Cause::Output, error))?;
    }
    if args.form.json {
        output::print_json(&comparison)
    } else if args.form.csv {
        output::print(&csv(&comparison.tables()))
    } else {
        output::print(&text(&loaded, &comparison))
    }
}

/// Every table, each below a line with its title.
pub(crate) fn csv(tables: &[Table]) -> String {
    let blocks: Vec<_> =
        tables.iter().map(|table| format!("# {}\r\n{}", table.title, table.to_csv())).collect();
    blocks.join("\r\n")
}

fn text(loaded: &Loaded, comparison: &Comparison) -> String {
    let mut text = format!("{}\n{}\n\n", loaded.headline(), start_line(&comparison.start));
    text += &comparison.overview.to_text();
    text += "\n\n";
    for sentence in &comparison.sentences {
        // Writing into a string does not fail.
        let _ = writeln!(text, "- {sentence}");
    }
    text
}

/// How well the start state agrees with the machine's.
pub(crate) fn start_line(start: &StartReport) -> String {
    let differ: u64 = start.fit.zones.iter().map(|zone| zone.free_pages).sum();
    let free: u64 = start.fit.zones.iter().map(|zone| zone.machine_free_pages).sum();
    let percent = differ as f64 * 100.0 / free.max(1) as f64;
    let made_up = if start.corrections.made_up { "; made up, as no occupancy was recorded" } else { "" };
    format!(
        "start state: {} of {} free pages under another order or type than the machine's ({percent:.1} %){made_up}",
        grouped(differ),
        grouped(free)
    )
}
