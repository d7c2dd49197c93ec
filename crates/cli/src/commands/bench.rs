//! `freehold bench`: the tables of the benchmarks, measured on this machine.

use anyhow::anyhow;
use freehold_bench::{Options, Outside, Report, Scale};
use freehold_measure::Environment;
use serde::Serialize;

use crate::args::Bench;
use crate::exit::{Cause, Failure};
use crate::output::{self, FinishedFile};

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
    // Output files are opened first, so that a long run does not fail at its end.
    let mut json = args.json.as_deref().map(|path| FinishedFile::create(path, true)).transpose()?;
    let pictures = pictures(args)?;
    let options = Options {
        scale: if args.quick { Scale::Quick } else { Scale::Full },
        orders: args.orders.clone(),
        program: std::env::current_exe().ok(),
        outside,
    };
    freehold_bench::check(&options)?;
    let environment = output::environment();
    output::print(&environment.headline())?;
    let mut reports = Vec::new();
    for &bench in &args.table.0 {
        let report = freehold_bench::run(bench, &options)?;
        output::print(&format!("\n{}", report.to_text()))?;
        reports.push(report);
    }
    if let Some(json) = &mut json {
        let measured = Measured { environment: &environment, reports: &reports };
        let text =
            serde_json::to_string_pretty(&measured).map_err(|error| Failure::new(Cause::Bug, error))?;
        json.write_text(&text)?;
    }
    // One picture shows all reports, or each picture shows one.
    let shown = reports.len().div_ceil(pictures.len().max(1));
    let mut written = Vec::new();
    for (mut picture, reports) in pictures.into_iter().zip(reports.chunks(shown.max(1))) {
        picture.write_text(&freehold_bench::draw(reports)?)?;
        written.push(picture);
    }
    FinishedFile::keep_all(json.into_iter().chain(written))
}

/// Opens the picture files: none, one, or one for each table if the path is a folder.
fn pictures(args: &Bench) -> Result<Vec<FinishedFile>, Failure> {
    let paths = match &args.svg {
        None => Vec::new(),
        Some(folder) if folder.is_dir() => {
            let tables = args.table.0.iter();
            tables.map(|bench| folder.join(format!("bench-{}.svg", bench.name()))).collect()
        }
        Some(path) => vec![path.clone()],
    };
    paths.into_iter().map(|path| FinishedFile::create(&path, true)).collect()
}

/// Returns the programs and kernels that measure the other sides. Fails if no table needs them.
fn outside(args: &Bench) -> Result<Vec<Outside>, Failure> {
    let programs = args.outside.iter().cloned().map(Outside::Program);
    let outside: Vec<_> = programs.chain(args.linux.iter().cloned().map(Outside::Linux)).collect();
    if args.serve || (!outside.is_empty() && !args.table.0.iter().any(|bench| bench.name() == "peers")) {
        let what = anyhow!("--outside and --linux are for peers, in a build with --features peers");
        return Err(Failure::new(Cause::Input, what));
    }
    Ok(outside)
}
