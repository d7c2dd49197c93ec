//! All pictures of a trace, with their names.

use super::style::Trouble;
use super::{blocks, fallbacks, holds, map};
use crate::compare::unusable_index;
use crate::error::LabError;
use crate::report::trace_report::TraceReport;

/// Returns all pictures of a trace, with their file names without extension.
pub(in crate::report) fn pictures(report: &TraceReport) -> Result<Vec<(String, String)>, LabError> {
    let eras = &report.comparison.eras;
    let drawn =
        |svg: Result<String, Trouble>| svg.map_err(|error| LabError::Picture { what: error.to_string() });
    let mut pictures = Vec::new();
    for zone in &report.zones {
        let svg = unusable_index(eras, zone.place(), report.pageblock_order)?;
        pictures.push((format!("unusable-index-{}", file_name(&zone.name)), svg));
    }
    if let Some(zone) = report.main_zone() {
        for era in eras {
            let name = format!("free-blocks-{}-{}", file_name(&zone.name), file_name(&era.variant));
            pictures.push((name, drawn(blocks::picture(report, era, zone))?));
        }
    }
    pictures.push(("lock-holds-time".to_owned(), drawn(holds::picture(eras, holds::Size::Time))?));
    pictures.push(("lock-holds-touched".to_owned(), drawn(holds::picture(eras, holds::Size::Touched))?));
    pictures.push(("fallbacks".to_owned(), drawn(fallbacks::picture(report))?));
    for era in eras {
        pictures.push((format!("pageblocks-{}", file_name(&era.variant)), map::picture(report, era)));
    }
    Ok(pictures)
}

/// Returns a name in a form for file names.
fn file_name(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-', "-").to_lowercase()
}
