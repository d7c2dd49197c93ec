//! `freehold analyze`: what a trace asks of an allocator.

use std::path::Path;

use anyhow::anyhow;
use freehold_lab::analysis::{Analysis, Analyzer};
use freehold_measure::{Table, grouped};

use crate::args::Analyze;
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output::{self, FinishedFile, FinishedFolder, csv};

pub(crate) fn run(args: &Analyze) -> Result<(), Failure> {
    let mut reader = load::open(&args.input)?;
    let name = args.input.trace.display().to_string();
    let (start, sections) = load::without_holes(&reader, &args.input)?;
    let mut analyzer = Analyzer::new(&start).map_err(|error| {
        let mut failure = Failure::from(error);
        failure.error = failure.error.context(name.clone());
        failure
    })?;
    while let Some(batch) = reader.next_batch()? {
        match &sections {
            Some(sections) => {
                analyzer.add(&batch.iter().map(|event| sections.event(*event)).collect::<Vec<_>>());
            }
            None => analyzer.add(batch),
        }
    }
    load::warn_if_cut_short(&reader, &args.input);
    let analysis = analyzer.finish();
    if let Some(folder) = &args.svg {
        draw(&analysis, folder)?;
    }
    if args.form.json {
        output::print_json(&analysis)
    } else if args.form.csv {
        output::print(&csv(&analysis.tables()))
    } else {
        let seconds = analysis.duration_ns as f64 / 1e9;
        let head = format!("{name}: {} events in {seconds:.1} s", grouped(analysis.events));
        let tables = analysis.short_tables();
        let texts = tables.iter().filter(|table| !table.rows.is_empty()).map(Table::to_text);
        let texts: Vec<_> = [head].into_iter().chain(texts).collect();
        output::print(&texts.join("\n\n"))
    }
}

/// Draws every picture; no file appears before all are drawn.
fn draw(analysis: &Analysis, folder: &Path) -> Result<(), Failure> {
    let pictures = analysis.pictures()?;
    if !folder.exists() {
        let new = FinishedFolder::create(folder)?;
        pictures.iter().try_for_each(|picture| new.write(picture.file, picture.svg.as_bytes()))?;
        return new.keep();
    }
    if !folder.is_dir() {
        let what = anyhow!("{} exists and is no folder; name a folder", folder.display());
        return Err(Failure::new(Cause::Input, what));
    }
    let mut written = Vec::new();
    for picture in pictures {
        let mut file = FinishedFile::create(&folder.join(picture.file), true)?;
        file.write_text(&picture.svg)?;
        written.push(file);
    }
    FinishedFile::keep_all(written)
}
