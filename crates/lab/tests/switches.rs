//! The four systems show in the figures of a comparison.

use freehold::Era;
use freehold_lab::workload::Synthetic;
use freehold_lab::{Comparison, Lab, Options};
use freehold_measure::Cell;

fn compare(workload: &Synthetic) -> Comparison {
    let made = workload.generate().expect("a valid workload");
    let lab = Lab::new(made.trace()).expect("a valid trace");
    lab.compare(Options { runs: 1, ..Options::default() }.into()).expect("a comparison")
}

#[test]
fn each_system_shows_in_its_figure() {
    let comparison = compare(&Synthetic { events: 150_000, ..Synthetic::default() });
    let base = &comparison.eras[4];
    let without = |name: &str| {
        &comparison.without.iter().find(|less| less.switch == name).expect("every system").measures
    };
    let (with, less) = (base.locked.claim_attempts, without("remembered-mode").locked.claim_attempts);
    assert!(with * 2 < less, "remembered mode: {less} claim attempts become {with}");
    let (with, less) = (base.locked.hygiene_violations, without("hygiene").locked.hygiene_violations);
    assert!(with == 0 && less > 0, "hygiene: {less} blocks on another type's list become {with}");
    let (with, less) = (base.locked.largest_drain, without("batched-draining").locked.largest_drain);
    assert!(with * 2 < less, "batched draining: a largest drain of {less} pages becomes {with}");
    let (with, less) = (base.nodes.max, without("counts").nodes.max);
    assert!(with == 0 && less > 0, "counts: {less} list nodes visited become {with}");
    assert!(comparison.eras.iter().all(|m| m.followed.refused == 0 && m.followed.misplaced == 0));
    assert!(base.metadata_bytes_per_page <= 16.0);
    let sentences = comparison.sentences();
    for name in ["hygiene: ", "remembered mode: ", "batched draining: ", "counts: "] {
        assert!(sentences.iter().any(|s| s.starts_with(name)), "{sentences:?}");
    }
}

#[test]
fn every_era_has_every_row() {
    let comparison = compare(&Synthetic { events: 30_000, pages: 1 << 14, ..Synthetic::default() });
    for table in comparison.tables() {
        assert!(!table.rows.is_empty(), "{} has no rows", table.title);
        for row in &table.rows {
            assert_eq!(row.cells.len(), table.columns.len(), "{}: {}", table.title, row.measure);
        }
        assert!(!table.to_text().is_empty() && !table.to_csv().is_empty());
    }
    let overview = comparison.overview();
    let known = |measure: &str, era: Era| {
        let cell = overview.cell(measure, era.name());
        assert!(
            matches!(cell, Some(Cell::Count(_) | Cell::Real(_))),
            "{measure} of {}: {cell:?}",
            era.name()
        );
    };
    for era in Era::ALL {
        for measure in ["claim attempts", "largest drain", "longest hold", "all orders", "speed"] {
            known(measure, era);
        }
    }
    let distance = comparison.distance.expect("the made-up machine has an end");
    assert_eq!(distance.variant, "linux-6.12");
}
