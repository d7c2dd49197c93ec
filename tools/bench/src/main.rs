//! `cargo xtask bench`: the tables of the benchmarks, measured on this machine.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use freehold::Order;
use freehold_bench::{Bench, Options, Outside, Report, Scale, Work};
use freehold_measure::Environment;
use serde::Serialize;

/// Measure the engine on this machine: a table for each of its systems
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// Which table, or all.
    #[arg(value_parser = parse_table, value_name = "TABLE")]
    table: Tables,
    /// Fewer rounds: all tables in under three minutes.
    #[arg(long)]
    quick: bool,
    /// Also write the figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also draw the figures as an SVG picture; in a folder that is there, a picture of each table.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Orders for pagealloc instead of 4, 0 and 9; may be given several times.
    #[arg(long = "order", value_parser = parse_order, value_name = "N")]
    orders: Vec<Order>,
    /// Another side for peers: a program that docs/evidence/benchmarks.md describes; may be given several times.
    #[arg(long, value_name = "PROGRAM")]
    outside: Vec<PathBuf>,
    /// Another side for peers: a User-Mode Linux that `cargo xtask oracle` has built.
    #[arg(long, value_name = "KERNEL")]
    linux: Vec<PathBuf>,
    /// Be a side of another run: the engine's locked handle.
    #[arg(long, hide = true)]
    serve: bool,
    /// One side's work alone, as the counting of instructions asks for it.
    #[arg(long, hide = true, value_name = "WORK")]
    work: Option<Work>,
}

/// The tables that a run measures.
#[derive(Clone, Debug)]
struct Tables(Vec<Bench>);

/// What `--json` writes.
#[derive(Serialize)]
struct Measured<'a> {
    environment: &'a Environment,
    reports: &'a [Report],
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Arguments) -> Result<()> {
    if let Some(work) = args.work {
        println!("{:016x}", work.run()?);
        return Ok(());
    }
    #[cfg(feature = "peers")]
    if args.serve {
        return Ok(freehold_bench::serve_engine()?);
    }
    let outside = outside(args)?;
    // Output files are opened first, so that a long run does not fail at its end.
    let json = args.json.as_deref().map(create).transpose()?;
    let pictures = pictures(args)?;
    let options = Options {
        scale: if args.quick { Scale::Quick } else { Scale::Full },
        orders: args.orders.clone(),
        program: std::env::current_exe().ok(),
        outside,
    };
    freehold_bench::check(&options)?;
    let processors = freehold_linux::procfs::read_processors(Path::new("/")).unwrap_or_default();
    let environment = Environment::here(processors.model);
    println!("{}", environment.headline());
    let mut reports = Vec::new();
    for &bench in &args.table.0 {
        let report = freehold_bench::run(bench, &options)?;
        println!("\n{}", report.to_text());
        reports.push(report);
    }
    if let Some(json) = json {
        serde_json::to_writer_pretty(json, &Measured { environment: &environment, reports: &reports })?;
    }
    // One picture shows all reports, or each picture shows one.
    let shown = reports.len().div_ceil(pictures.len().max(1));
    for (mut picture, reports) in pictures.into_iter().zip(reports.chunks(shown.max(1))) {
        picture.write_all(freehold_bench::draw(reports)?.as_bytes())?;
    }
    Ok(())
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("{} cannot be created; name another file", path.display()))
}

/// Opens the picture files: none, one, or one for each table if the path is a folder.
fn pictures(args: &Arguments) -> Result<Vec<File>> {
    match &args.svg {
        None => Ok(Vec::new()),
        Some(folder) if folder.is_dir() => {
            let tables = args.table.0.iter();
            tables.map(|bench| create(&folder.join(format!("bench-{}.svg", bench.name())))).collect()
        }
        Some(path) => Ok(vec![create(path)?]),
    }
}

/// Returns the programs and kernels that measure the other sides. Fails if no table needs them.
fn outside(args: &Arguments) -> Result<Vec<Outside>> {
    let programs = args.outside.iter().cloned().map(Outside::Program);
    let outside: Vec<_> = programs.chain(args.linux.iter().cloned().map(Outside::Linux)).collect();
    let has_peers = args.table.0.iter().any(|bench| bench.name() == "peers");
    ensure!(
        !args.serve && (outside.is_empty() || has_peers),
        "--outside and --linux are for the table peers: cargo xtask bench --peers -- peers"
    );
    Ok(outside)
}

fn parse_order(text: &str) -> Result<Order, String> {
    text.parse()
        .ok()
        .and_then(Order::of_linux)
        .ok_or_else(|| format!("an order of the memory that is measured is 0 to {}", Order::MAX_PAGE_ORDER))
}

fn parse_table(name: &str) -> Result<Tables, String> {
    if name == "all" {
        return Ok(Tables(Bench::ALL.to_vec()));
    }
    Bench::from_name(name).map(|bench| Tables(vec![bench])).ok_or_else(|| {
        let known: Vec<_> = Bench::ALL.iter().map(|bench| bench.name()).collect();
        let others =
            if cfg!(feature = "peers") { "" } else { "; peers by cargo xtask bench --peers -- peers" };
        format!("the tables are {}, all of these by `all`, and sensor{others}", known.join(", "))
    })
}
