//! The table of the peers.

use freehold_measure::{Cell, Table};

use super::peer::{Peer, named};
use super::shapes::{Figures, Plan, Shape};
use super::targets::Targets;
use super::{arena, engine, indexed, other_process};
use crate::error::BenchError;
use crate::harness::{Digest, Summary, calmest, interleave, on_one_processor};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// Checks that each side in another process sends its greeting.
pub(crate) fn check(options: &Options) -> Result<(), BenchError> {
    let plan = Plan::new(options.scale);
    options.outside.iter().try_for_each(|side| other_process::peer(side, plan).map(|_| ()))
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let plan = Plan::new(options.scale);
    let rounds = match options.scale {
        Scale::Tiny => 1,
        Scale::Quick => 5,
        Scale::Full => 15,
    };
    let mut peers = engine::peers();
    peers.extend(indexed::peers());
    peers.extend(arena::peers());
    let mut notes = Vec::new();
    for outside in &options.outside {
        let (peer, of_peer) = other_process::peer(outside, plan)?;
        notes.extend(of_peer.iter().map(|note| format!("{}: {note}", peer.name)));
        peers.push(peer);
    }
    let mut digest = Digest::default();
    let mut tables = Tables::new(&peers);
    for shape in Shape::ALL {
        let mut work = || one_shape(shape, plan, rounds, &peers, &mut digest);
        // The two threads choose their processors themselves.
        let samples = if shape == Shape::TwoThreads { work()? } else { on_one_processor(work)? };
        for (figure, label) in shape.figures().iter().enumerate() {
            let sums: Vec<_> = samples.iter().map(|side| summary(side.as_deref(), figure)).collect();
            tables.add(shape, label, &sums);
        }
    }
    let mut report = tables.finish(&peers);
    report.notes.push(format!("{} pages; {rounds} rounds; – is unsupported work", plan.pages));
    report.notes.push("buddy-alloc is left out: it keeps its lists in the pages themselves".to_owned());
    report.notes.extend(notes);
    Ok(report.finish(digest))
}

/// The tables so far: medians, the targets, ratios to freehold's, and the spread.
struct Tables {
    medians: Table,
    ratios: Table,
    spreads: Table,
    targets: Targets,
    chart: Chart,
}

impl Tables {
    fn new(peers: &[Peer]) -> Self {
        let names = || peers.iter().map(|peer| peer.name.clone());
        let table = |title: &str| Table::new(title, names().collect());
        Self {
            medians: table("peers: medians"),
            ratios: table("peers: ratio to freehold's locked handle"),
            spreads: table("peers: spread of the rounds"),
            targets: Targets::new(),
            chart: Chart {
                title: "Page-frame allocators in one harness".into(),
                height: "ns a call".into(),
                points: Vec::new(),
                lines: names().map(|name| (name, Vec::new())).collect(),
            },
        }
    }

    fn add(&mut self, shape: Shape, label: &str, sums: &[Option<Summary>]) {
        let cells = |pick: &dyn Fn(Summary) -> f64| {
            sums.iter().map(|sum| sum.map_or(Cell::Empty, |sum| Cell::Real(pick(sum)))).collect()
        };
        let is_share = label.contains('%');
        self.medians.push(shape.name(), label, if is_share { "%" } else { "ns" }, cells(&|sum| sum.median));
        self.targets.add(shape, label, sums);
        self.spreads.push(shape.name(), label, "%", cells(&|sum| sum.spread_percent));
        if is_share {
            return;
        }
        let base = sums[engine::LOCKED].map_or(f64::NAN, |sum| sum.median);
        self.ratios.push(shape.name(), label, "×", cells(&|sum| sum.median / base));
        self.chart.points.push(format!("{}, {label}", shape.name()));
        for (line, sum) in self.chart.lines.iter_mut().zip(sums) {
            line.1.push(sum.map_or(0.0, |sum| sum.median));
        }
    }

    fn finish(mut self, peers: &[Peer]) -> Report {
        let bytes = peers.iter().map(|peer| peer.bytes_per_page.map_or(Cell::Empty, Cell::Real));
        self.medians.push("memory", "metadata", "B a page", bytes.collect());
        let mut report = Report::new("peers");
        report.tables.extend([self.medians, self.targets.finish(), self.ratios]);
        report.details.push(self.spreads);
        report.charts.push(self.chart);
        report
    }
}

/// Returns samples by peer and round; `None` for a peer that does not support the shape.
fn one_shape(
    shape: Shape,
    plan: Plan,
    rounds: usize,
    peers: &[Peer],
    digest: &mut Digest,
) -> Result<Vec<Option<Vec<Figures>>>, BenchError> {
    let mut runners = Vec::new();
    let mut places = Vec::new();
    for peer in peers {
        let runner = (peer.prepare)(shape, plan).map_err(|error| named(error, &peer.name))?;
        places.push(runner.is_some().then_some(runners.len()));
        runners.extend(runner);
    }
    let mut samples = interleave(rounds, &mut runners, |runner| {
        if shape == Shape::TwoThreads || runner.calms_itself {
            return (runner.run)(digest);
        }
        calmest(|| (runner.run)(digest))
    })?;
    Ok(places.into_iter().map(|place| place.map(|at| std::mem::take(&mut samples[at]))).collect())
}

fn summary(rounds: Option<&[Figures]>, figure: usize) -> Option<Summary> {
    let values: Vec<f64> = rounds?.iter().map(|figures| figures[figure]).collect();
    Some(Summary::of(&values))
}
