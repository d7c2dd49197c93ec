//! Checks of every comparison: rows for every era, and a summary that fits a screen.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{ERAS, run};

/// Rows that only one era has, the one nearest to the recorded kernel.
const ONE_ERA_ONLY: &str = "distance to the machine's end";

/// Rows that a replay leaves to the trace: what the machine's kswapd did is there as frees.
const MACHINE_ONLY: [&str; 5] = [
    "pages scanned by kswapd",
    "pages reclaimed by kswapd",
    "pages swapped out",
    "pages swapped in",
    "refaults of page cache",
];

#[track_caller]
pub(crate) fn assert_every_row_for_every_era(comparison: &Value) {
    let overview = &comparison["overview"];
    let columns: Vec<_> =
        overview["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert_eq!(columns[..5], ERAS);
    assert_eq!(columns[5..], ["machine"]);
    let rows = overview["rows"].as_array().unwrap();
    assert!(rows.len() >= 42, "{} rows", rows.len());
    for row in rows {
        let cells = row["cells"].as_array().unwrap();
        assert_eq!(cells.len(), columns.len(), "{row}");
        let known = cells[..5].iter().filter(|cell| cell.is_number()).count();
        let by_machine = MACHINE_ONLY.iter().any(|measure| row["measure"] == *measure);
        let expected = if row["group"] == ONE_ERA_ONLY { 1 } else { 5 };
        assert_eq!(known, if by_machine { 0 } else { expected }, "{row}");
        assert!(!by_machine || cells[5].is_number(), "{row}");
    }
    for measure in [
        "all orders",
        "claim attempts",
        "claims",
        "steals",
        "fallback searches",
        "requests answered from another type's block",
        "blocks put on another type's list",
        "mixed pageblocks at the end",
        "holds",
        "longest hold, touched",
        "longest hold",
        "drains",
        "largest drain",
        "list nodes visited, most",
        "lost events",
        "frees of blocks without an allocation",
        "double allocations",
    ] {
        assert!(rows.iter().any(|row| row["measure"] == measure), "no row {measure}");
    }
    assert_eq!(comparison["eras"].as_array().unwrap().len(), 5);
    assert_eq!(comparison["without"].as_array().unwrap().len(), 13);
    let attributed = comparison["attributed"].as_array().unwrap();
    assert_eq!(attributed.len(), 14);
    for part in attributed {
        assert!(
            part["alone"]["variant"].as_str().unwrap().starts_with(part["before"].as_str().unwrap()),
            "{part}"
        );
        assert!(!part["fields"].as_array().unwrap().is_empty(), "{part}");
    }
    assert_eq!(comparison["steps"].as_array().unwrap().len(), 4);
    assert!(comparison["summary"]["sections"].as_array().unwrap().len() >= 3);
    assert!(comparison["sentences"].as_array().unwrap().len() >= 4);
}

pub(crate) fn has_distance(comparison: &Value) -> bool {
    let rows = comparison["overview"]["rows"].as_array().unwrap();
    rows.iter().any(|row| row["group"] == ONE_ERA_ONLY)
}

/// A screen has so many lines of so many characters.
const SCREEN: (usize, usize) = (40, 100);

#[track_caller]
pub(crate) fn assert_fits_a_screen(text: &str) {
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(text.lines().count() <= SCREEN.0 && widest <= SCREEN.1, "{widest} wide:\n{text}");
    for title in ["Recorded machine", "Changes by era", "Agreement with the machine"] {
        assert!(text.contains(title), "no {title:?} in {text}");
    }
}

/// Checks that the output for a trace fits a screen.
#[track_caller]
pub(crate) fn assert_answer_fits_a_screen(trace: &str) {
    // The least number of replicates that shows noise. One more changes no line by more than a digit.
    assert_fits_a_screen(&run(["compare", trace, "--replicates", "2"]).ok().stdout);
}

/// The committed traces directly in a folder below `traces`.
pub(crate) fn traces_in(folder: &str) -> Vec<String> {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(folder);
    let paths = fs::read_dir(traces).expect("a folder").map(|entry| entry.expect("an entry").path());
    let traces = paths.filter(|path| path.extension().is_some_and(|end| end == "arrows"));
    traces.map(|path| path.display().to_string()).collect()
}
