//! `freehold analyze`: what a trace asks of an allocator.

use std::path::Path;

use anyhow::anyhow;
use freehold_lab::analysis::Analysis;

use crate::args::Analyze;
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output::{self, FinishedFile, FinishedFolder, csv};

pub(crate) fn run(args: &Analyze) -> Result<(), Failure> {
    let name = args.input.name();
    let analysis = load::analysis(&args.input)?;
    if let Some(folder) = &args.svg {
        draw(&analysis, folder)?;
    }
    if args.form.json {
        output::print_json(&analysis)
    } else if args.form.csv {
        output::print(&csv(&analysis.tables()))
    } else {
        output::print(&analysis.text(&name))
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
        let what = anyhow!("{} exists and is not a folder; name a folder", folder.display());
        return Err(Failure::new(Cause::Usage, what));
    }
    let mut written = Vec::new();
    for picture in pictures {
        let mut file = FinishedFile::create(&folder.join(picture.file), true)?;
        file.write_text(&picture.svg)?;
        written.push(file);
    }
    FinishedFile::keep_all(written)
}
