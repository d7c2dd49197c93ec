//! The effects of the four systems on the measures of a comparison.

use freehold::{Era, Switch};
use freehold_lab::workload::Synthetic;
use freehold_lab::{Comparison, Lab, Measures, Options, Variant};
use freehold_measure::Cell;

fn compare(workload: &Synthetic) -> Comparison {
    let made = workload.generate().expect("a valid workload");
    let lab = Lab::new(made.trace()).expect("a valid trace");
    lab.compare(Options { runs: 1, ..Options::default() }.into()).expect("a comparison")
}

#[test]
fn each_system_improves_its_measure() {
    let comparison = compare(&Synthetic { events: 150_000, ..Synthetic::default() });
    let of = |era: Era| comparison.eras.iter().find(|m| m.variant == era.name()).expect("every era");
    // The effect of a system in the era that introduced it: the era without and with the system.
    let taken_out = |name: &str, era: Era, of_measures: fn(&Measures) -> u64| {
        let part = comparison.attributed.iter().find(|part| part.step.part == name && part.step.after == era);
        let without =
            part.expect("every part of every era").taken_out.as_ref().expect("no part depends on it");
        (of_measures(without), of_measures(of(era)))
    };
    let (less, with) = taken_out("remembered-mode", Era::Linux6_12, |m| m.locked.claim_attempts);
    assert!(with * 2 < less, "remembered mode: {less} claim attempts become {with}");
    let (less, with) = taken_out("hygiene", Era::Linux6_12, |m| m.locked.hygiene_violations);
    assert!(with == 0 && less > 0, "hygiene: {less} blocks on another type's list become {with}");
    let (less, with) = taken_out("counts", Era::Linux7_3Counts, |m| m.nodes.max);
    assert!(with == 0 && less > 0, "counts: {less} list nodes visited become {with}");
    let base = of(Era::Freehold);
    assert!(comparison.eras.iter().all(|m| m.followed.refused == 0 && m.followed.misplaced == 0));
    assert!(base.metadata_bytes_per_page <= 16.0);
    let sentences = comparison.sentences();
    for name in ["hygiene, alone on linux-6.1: ", "counts, in linux-7.3-counts without it and with it: "] {
        assert!(sentences.iter().any(|s| s.starts_with(name)), "{sentences:?}");
    }
    // The steps between eras of Linux come first.
    assert!(sentences[0].starts_with("linux-6.1 → linux-6.12: "), "{sentences:?}");
}

/// The part that Linux has shows only if a whole list is drained, as in `traces/c-build.arrows`. This trace shows all
/// parts.
#[test]
fn batched_draining_reduces_the_largest_drain() {
    let made = Synthetic { events: 150_000, ..Synthetic::default() }.generate().expect("a valid workload");
    let lab = Lab::new(made.trace()).expect("a valid trace");
    let largest = |variant: &Variant| {
        let options = Options { runs: 1, ..Options::default() };
        lab.replay(variant, options).expect("a replay").measures.locked.largest_drain
    };
    let with = Variant::new(Era::Freehold);
    let (with, less) = (largest(&with), largest(&with.without(Switch::BatchedDraining)));
    assert!(with * 2 < less, "a largest drain of {less} pages becomes {with}");
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
    for era in Era::COMPARED {
        for measure in ["claim attempts", "largest drain", "longest hold", "all orders", "speed"] {
            known(measure, era);
        }
    }
    let distance = comparison.distance.expect("the generated machine has an end");
    assert_eq!(distance.variant, "linux-6.12");
}
