//! The arguments of `freehold bench`.

use std::path::PathBuf;

use clap::Args;
use freehold::Order;

#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Which table, or all.
    #[arg(value_parser = parse_bench, value_name = "TABLE")]
    pub(crate) table: Tables,
    /// Fewer rounds: all tables in under three minutes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also write the figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Also draw the figures as an SVG picture; in a folder that is there, a picture of each table.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Orders for pagealloc instead of 4, 0 and 9; may be given several times.
    #[arg(long = "order", value_parser = parse_order, value_name = "N")]
    pub(crate) orders: Vec<Order>,
    /// Another side for peers: a program that docs/benchmarks.md describes; may be given several times.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) outside: Vec<PathBuf>,
    /// Another side for peers: a User-Mode Linux that `cargo xtask oracle` has built.
    #[arg(long, value_name = "KERNEL")]
    pub(crate) linux: Vec<PathBuf>,
    /// Be a side of another run: the engine's locked handle.
    #[arg(long, hide = true)]
    pub(crate) serve: bool,
    /// One side's work alone, as the counting of instructions asks for it.
    #[arg(long, hide = true, value_name = "WORK")]
    pub(crate) work: Option<freehold_bench::Work>,
}

fn parse_order(text: &str) -> Result<Order, String> {
    text.parse()
        .ok()
        .and_then(Order::of_linux)
        .ok_or_else(|| format!("an order of the memory that is measured is 0 to {}", Order::MAX_PAGE_ORDER))
}

/// The tables that a run is to measure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tables(pub(crate) Vec<freehold_bench::Bench>);

fn parse_bench(name: &str) -> Result<Tables, String> {
    let all = freehold_bench::Bench::ALL;
    if name == "all" {
        return Ok(Tables(all.to_vec()));
    }
    freehold_bench::Bench::from_name(name).map(|bench| Tables(vec![bench])).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|bench| bench.name()).collect();
        let others = if cfg!(feature = "peers") { "" } else { "; peers needs a build with --features peers" };
        format!("the tables are {}, all of these by `all`, and sensor{others}", known.join(", "))
    })
}
