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

/// Measure the engine on this machine, and print tables
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// Table to measure, or `all`
    #[arg(value_parser = parse_table, value_name = "TABLE")]
    table: Tables,
    /// Run fewer rounds: all tables take under three minutes
    #[arg(long)]
    quick: bool,
    /// Also write the figures as JSON to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also draw an SVG picture to this file, or one for each table to this folder
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Order for pagealloc instead of 4, 0 and 9; may be repeated
    #[arg(long = "order", value_parser = parse_order, value_name = "N")]
    orders: Vec<Order>,
    // docs/evidence/benchmarks.md describes the protocol.
    /// Program that measures another allocator for peers; may be repeated
    #[arg(long, value_name = "PROGRAM")]
    outside: Vec<PathBuf>,
    /// User-Mode Linux, built by `cargo xtask oracle`, as another side of peers
    #[arg(long, value_name = "KERNEL")]
    linux: Vec<PathBuf>,
    /// Measure the engine's locked handle as a side of another run
    #[arg(long, hide = true)]
    serve: bool,
    /// Do only one side's work, for a tool that counts instructions
    #[arg(long, hide = true, value_name = "WORK")]
    work: Option<Work>,
}

/// The tables that a run measures.
#[derive(Clone, Debug)]
struct Tables(Vec<Bench>);

/// The content of the file of `--json`.
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
        .ok_or_else(|| format!("an order is a number from 0 to {}", Order::MAX_PAGE_ORDER))
}

fn parse_table(name: &str) -> Result<Tables, String> {
    if name == "all" {
        return Ok(Tables(Bench::ALL.to_vec()));
    }
    Bench::from_name(name).map(|bench| Tables(vec![bench])).ok_or_else(|| {
        let known: Vec<_> = Bench::ALL.iter().map(|bench| bench.name()).collect();
        let others =
            if cfg!(feature = "peers") { "" } else { "; peers by cargo xtask bench --peers -- peers" };
        format!("the tables are {}, which `all` measures, and sensor{others}", known.join(", "))
    })
}
