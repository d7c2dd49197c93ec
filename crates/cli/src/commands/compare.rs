//! `freehold compare`: one trace through every era.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Context;
use freehold_lab::{Comparison, Options, StartReport, Table, grouped};

use crate::args::Compare;
use crate::exit::{Cause, Failure};
use crate::load::{self, Loaded};
use crate::output;
use crate::scratch::Scratch;

pub(crate) fn run(args: &Compare) -> Result<(), Failure> {
    let loaded = load::whole(&args.input)?;
    let lab = loaded.lab()?;
    let svg = args.svg.as_deref().map(|path| Scratch::create(path, true)).transpose()?;
    let options = Options { runs: args.repeat, ..Options::default() };
    let comparison = lab.compare(options).map_err(|error| loaded.failure(error))?;
    if let (Some(path), Some((scratch, mut file))) = (&args.svg, svg) {
        let picture = lab.picture(&comparison).map_err(|error| loaded.failure(error))?;
        file.write_all(picture.as_bytes())
            .with_context(|| format!("{} cannot be written; name another file", path.display()))
            .map_err(|error| Failure::new(Cause::Output, error))?;
        scratch.keep()?;
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
    let mut text = format!("{}\n{}\n", loaded.headline(), start_line(&comparison.start));
    if let Some(trust) = &comparison.trust {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{trust}");
    }
    text.push('\n');
    let distance = comparison.distance.as_ref().map(freehold_lab::EndDistance::table);
    let tables = [&comparison.overview, &comparison.placement, &comparison.systems, &comparison.free_blocks];
    for table in tables.into_iter().chain(&distance) {
        text += &table.to_text();
        text += "\n\n";
    }
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
