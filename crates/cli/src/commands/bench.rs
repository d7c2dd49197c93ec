//! `freehold bench`: the tables of the benchmarks, measured on this machine.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use freehold_bench::{Options, Outside, Report, Scale};
use freehold_measure::Environment;
use serde::Serialize;

use crate::args::Bench;
use crate::exit::{Cause, Failure};
use crate::output;
use crate::scratch::Scratch;

/// What `--json` writes.
#[derive(Serialize)]
struct Measured<'a> {
    environment: &'a Environment,
    reports: &'a [Report],
}

pub(crate) fn run(args: &Bench) -> Result<(), Failure> {
    if let Some(work) = args.work {
        return output::print(&format!("{:016x}", work.run()?));
    }
    #[cfg(feature = "peers")]
    if args.serve {
        return Ok(freehold_bench::serve_engine()?);
    }
    let outside = outside(args)?;
    // A long run should not find out at its end that it cannot write.
    let json = args.json.as_deref().map(|path| Scratch::create(path, true)).transpose()?;
    let mut pictures = pictures(args)?;
    let options = Options {
        scale: if args.quick { Scale::Quick } else { Scale::Full },
        orders: args.orders.clone(),
        program: std::env::current_exe().ok(),
        outside,
    };
    freehold_bench::check(&options)?;
    let environment = Environment::here(freehold_linux::cpu_model());
    output::print(&environment.headline())?;
    let mut reports = Vec::new();
    for &bench in &args.table.0 {
        let report = freehold_bench::run(bench, &options)?;
        output::print(&format!("\n{}", report.to_text()))?;
        reports.push(report);
    }
    if let (Some(path), Some(file)) = (&args.json, json) {
        let measured = Measured { environment: &environment, reports: &reports };
        let text =
            serde_json::to_string_pretty(&measured).map_err(|error| Failure::new(Cause::Bug, error))?;
        keep(path, file, &text)?;
    }
    // One of all of them, or one of each.
    let shown = reports.len().div_ceil(pictures.len().max(1));
    for ((path, file), reports) in pictures.drain(..).zip(reports.chunks(shown.max(1))) {
        keep(&path, file, &freehold_bench::draw(reports)?)?;
    }
    Ok(())
}

/// A file that was named, and what becomes it.
type Place = (PathBuf, (Scratch, File));

/// The files for pictures: none, one, or in a folder one a table.
fn pictures(args: &Bench) -> Result<Vec<Place>, Failure> {
    let paths = match &args.svg {
        None => Vec::new(),
        Some(folder) if folder.is_dir() => {
            let tables = args.table.0.iter();
            tables.map(|bench| folder.join(format!("bench-{}.svg", bench.name()))).collect()
        }
        Some(path) => vec![path.clone()],
    };
    paths.into_iter().map(|path| Scratch::create(&path, true).map(|file| (path, file))).collect()
}

/// The sides that other processes measure.
fn outside(args: &Bench) -> Result<Vec<Outside>, Failure> {
    let programs = args.outside.iter().cloned().map(Outside::Program);
    let outside: Vec<_> = programs.chain(args.linux.iter().cloned().map(Outside::Linux)).collect();
    if args.serve || (!outside.is_empty() && !args.table.0.iter().any(|bench| bench.name() == "peers")) {
        let what = anyhow!("--outside and --linux are for peers, in a build with --features peers");
        return Err(Failure::new(Cause::Input, what));
    }
    Ok(outside)
}

/// Writes a file and puts it into its place.
fn keep(path: &Path, (scratch, mut file): (Scratch, File), text: &str) -> Result<(), Failure> {
    file.write_all(text.as_bytes())
        .with_context(|| format!("{} cannot be written; name another file", path.display()))
        .map_err(|error| Failure::new(Cause::Output, error))?;
    scratch.keep()
}
