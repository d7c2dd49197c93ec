//! `freehold compare`: replays traces through every era.

use std::fmt::Write as _;

use anyhow::anyhow;
use freehold_lab::{
    CompareOptions, Comparison, Lab, Loaded, Options, Provenance, Report, SCREEN, SampleDetail,
    UNKNOWN_RELEASE, trust_table,
};
use serde::Serialize;

use crate::args::Compare;
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output::{self, FinishedFile, FinishedFolder, csv};

/// The load below which a machine is quiet enough to time lock holds.
const QUIET: f64 = 0.25;

/// The JSON of each trace if there are several.
#[derive(Serialize)]
struct OfSeveral {
    trace: String,
    comparison: serde_json::Value,
}

pub(crate) fn run(args: &Compare) -> Result<(), Failure> {
    if args.svg.is_some() && args.traces.len() > 1 {
        let what = anyhow!("--svg draws one trace; --out has the pictures of several");
        return Err(Failure::new(Cause::Usage, what));
    }
    for output in args.html.iter().chain(&args.svg) {
        output::refuse_input(output, &args.traces)?;
    }
    // Every input is opened first, so that a long run does not fail at its end.
    args.inputs().try_for_each(|input| load::open(&input).map(drop))?;
    if args.trust {
        return trust(args);
    }
    let quiet = output::environment().load < QUIET;
    let mut outputs = Outputs::create(args)?;
    let mut printed = Vec::new();
    for input in args.inputs() {
        let loaded = load::whole(&input)?;
        let lab = load::lab(&loaded)?;
        let options = options(args, &lab, quiet);
        let comparison = lab.compare(options).map_err(|error| load::failure(&loaded.name, error))?;
        printed.push(shown(args, &loaded, &comparison)?);
        outputs.take(&loaded, &lab, comparison)?;
    }
    outputs.keep()?;
    if args.form.json {
        let json = printed.join(",\n");
        output::print_json_text(&if args.traces.len() > 1 { format!("[{json}]") } else { json })
    } else {
        output::print(&printed.join(if args.form.csv { "\r\n" } else { "\n" }))
    }
}

/// Returns how much is replayed: for the answer in short neither maps and times nor parts of eras.
fn options(args: &Compare, lab: &Lab<'_>, quiet: bool) -> CompareOptions {
    let replicates = args.replicates.unwrap_or_else(|| lab.replays_by_default());
    let all = args.wants_all();
    let detail = if all || args.svg.is_some() { SampleDetail::All } else { SampleDetail::Totals };
    let in_short = CompareOptions::in_short(replicates);
    let runs = if all { args.timing_rounds } else { in_short.replay.runs };
    CompareOptions {
        replay: Options { runs, detail, ..in_short.replay },
        attribution: all,
        times: quiet,
        ..in_short
    }
}

/// Prints how far the replays of each trace are off in the era of its own kernel.
fn trust(args: &Compare) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for input in args.inputs() {
        let loaded = load::whole(&input)?;
        match load::lab(&loaded)?.trust().map_err(|error| load::failure(&loaded.name, error))? {
            Some(trust) => rows.push((loaded.name.clone(), trust)),
            None => output::note(&format!("freehold: {}: {UNKNOWN_RELEASE}", loaded.name)),
        }
    }
    if args.form.json {
        return output::print_json(&rows);
    }
    let table = trust_table(&rows);
    if args.form.csv {
        return output::print(&csv(&[table]));
    }
    let mut text = table.to_text();
    for (name, trust) in &rows {
        for line in trust.start_and_answers() {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\n{name}: {line}");
        }
    }
    output::print(&text)
}

/// Returns the text to print for one trace.
fn shown(args: &Compare, loaded: &Loaded, comparison: &Comparison) -> Result<String, Failure> {
    let several = args.traces.len() > 1;
    if args.form.json {
        let bug = |error| Failure::new(Cause::Bug, error);
        if !several {
            return serde_json::to_string_pretty(comparison).map_err(bug);
        }
        let comparison = serde_json::to_value(comparison).map_err(bug)?;
        let of_several = OfSeveral { trace: loaded.name.clone(), comparison };
        return serde_json::to_string_pretty(&of_several).map_err(bug);
    }
    if args.form.csv {
        let mut tables = comparison.tables();
        for table in tables.iter_mut().filter(|_| several) {
            table.title = format!("{}: {}", loaded.name, table.title);
        }
        return Ok(csv(&tables));
    }
    Ok(if args.full { full(loaded, comparison) } else { screen(loaded, comparison) })
}

/// The requested output files; none appears before all are complete.
struct Outputs {
    html: Option<FinishedFile>,
    svg: Option<FinishedFile>,
    folder: Option<FinishedFolder>,
    report: Option<Report>,
}

impl Outputs {
    fn create(args: &Compare) -> Result<Self, Failure> {
        let html = args.html.as_deref().map(|path| FinishedFile::create(path, args.force)).transpose()?;
        let svg = args.svg.as_deref().map(|path| FinishedFile::create(path, true)).transpose()?;
        let folder = args.out.as_deref().map(FinishedFolder::create).transpose()?;
        let report = (html.is_some() || folder.is_some()).then(|| Report::new(provenance(args)));
        Ok(Self { html, svg, folder, report })
    }

    /// Takes from a comparison what the files need.
    fn take(&mut self, loaded: &Loaded, lab: &Lab<'_>, comparison: Comparison) -> Result<(), Failure> {
        if let Some(svg) = &mut self.svg {
            svg.write_text(&comparison.picture().map_err(|error| load::failure(&loaded.name, error))?)?;
        }
        if let Some(report) = &mut self.report {
            report.add(&loaded.name, lab, comparison);
        }
        Ok(())
    }

    /// Writes all files, then puts them into their places.
    fn keep(mut self) -> Result<(), Failure> {
        if let Some(report) = &self.report {
            if let Some(html) = &mut self.html {
                html.write_text(&report.html())?;
            }
            if let Some(folder) = &self.folder {
                for file in report.files()? {
                    folder.write(&file.name, &file.contents)?;
                }
            }
        }
        self.folder.map_or(Ok(()), FinishedFolder::keep)?;
        FinishedFile::keep_all([self.html, self.svg].into_iter().flatten())
    }
}

/// Describes how the figures are obtained.
fn provenance(args: &Compare) -> Provenance {
    let environment = output::environment();
    let commit = env!("FREEHOLD_COMMIT");
    let of = if commit.is_empty() { String::new() } else { format!(", commit {commit}") };
    let unoptimised = if environment.optimised { "" } else { ", not optimised" };
    let partial = if args.partial { " --partial" } else { "" };
    let replicates = args.replicates.map(|replays| format!(" --replicates {replays}")).unwrap_or_default();
    let busy = if environment.load < QUIET { "" } else { "; the machine was busy" };
    Provenance {
        program: format!("freehold {}{of}{unoptimised}", environment.version),
        machine: format!(
            "{}, {} processors, Linux {}",
            environment.processor, environment.processors, environment.kernel
        ),
        settings: format!(
            "--timing-rounds {}{replicates}{partial}: of each zone lock hold the shortest time of {0} runs{busy}",
            args.timing_rounds
        ),
    }
}

/// Returns the answer in short, on one screen.
fn screen(loaded: &Loaded, comparison: &Comparison) -> String {
    format!("{}\n", comparison.summary().to_screen(loaded.headline()))
}

/// Returns the answer in short, every table, and every finding.
fn full(loaded: &Loaded, comparison: &Comparison) -> String {
    let (start, trust) = (comparison.start.sentence(), comparison.trust_line());
    let summary = comparison.summary().to_text(SCREEN.0, usize::MAX);
    let mut text = format!("{}\n{start}\n{trust}\n\n{summary}\n\n", loaded.headline());
    // Indices by order are only on the page.
    for table in comparison.shown_tables().iter().filter(|table| !table.title.starts_with("Fragmentation")) {
        text += &table.to_text();
        text += "\n\n";
    }
    if !comparison.times {
        text += "Lock hold times are missing: this machine was busy.\n\n";
    }
    for sentence in comparison.sentences() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "- {sentence}");
    }
    text
}
