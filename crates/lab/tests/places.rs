//! Moments of a replay, reported while it runs, and the places of fallbacks.

use crate::common;
use std::collections::HashMap;

use freehold::{Era, Migratetype};
use freehold_lab::{FallbackPlace, Lab, Options, ReplaySample, SampleDetail};

fn options(detail: SampleDetail) -> Options {
    Options { runs: 1, detail, ..Options::default() }
}

#[test]
fn every_fallback_has_a_place() {
    let recording = common::recorded("file-churn-3");
    let lab = Lab::new(recording.trace()).expect("a valid trace");
    for era in [Era::Linux6_1, Era::Linux7_3] {
        let mut reported: Vec<(usize, ReplaySample)> = Vec::new();
        let replay = lab
            .replay_observed(&era.into(), options(SampleDetail::Places), &mut |moment| {
                reported.push((moment.events, moment.sample.clone()));
            })
            .expect("a replay");
        let samples: Vec<_> = reported.iter().map(|(_, sample)| sample.clone()).collect();
        assert_eq!(samples, replay.measures.samples, "reported samples are the kept samples");
        assert!(reported.is_sorted_by_key(|(events, _)| *events));
        assert_eq!(reported.last().map(|(events, _)| *events), Some(recording.trace().events.len()));

        let mut all = 0;
        for pair in samples.windows(2) {
            let (before, now) = (&pair[0], &pair[1]);
            assert!(now.map.is_some(), "every sample has a map");
            let counted: u64 = now.fallbacks.iter().map(|count| count.events).sum();
            assert_eq!(now.places.len() as u64, counted);
            let claims: u64 =
                now.fallbacks.iter().filter(|count| count.claimed).map(|count| count.events).sum();
            let claimed = |place: &&FallbackPlace| place.found.change_ownership;
            assert_eq!(now.places.iter().filter(claimed).count() as u64, claims);
            let during = |place: &FallbackPlace| (before.time_ns..=now.time_ns).contains(&place.time_ns);
            assert!(now.places.iter().all(during), "a place has the time of its event");
            all += counted;
        }
        assert!(all > 10, "{era:?}: {all} fallbacks");

        let plain = lab.replay(&era.into(), options(SampleDetail::All)).expect("a replay").measures;
        assert_eq!(plain.locked, replay.measures.locked, "sampling changes nothing");
        assert!(plain.samples.iter().all(|sample| sample.places.is_empty()));
    }
}

/// With hygiene, only a claim changes the type of a pageblock, so that the map shows the last claim.
#[test]
fn a_claimed_pageblock_has_the_requested_type() {
    let recording = common::recorded("file-churn-3");
    let lab = Lab::new(recording.trace()).expect("a valid trace");
    let replay = lab.replay(&Era::Linux7_3.into(), options(SampleDetail::Places)).expect("a replay");
    let mut seen = 0;
    for sample in &replay.measures.samples {
        let map = sample.map.as_ref().expect("a map");
        assert_eq!(map.pageblocks_per_cell, 1);
        let mut last: HashMap<(usize, usize), Migratetype> = HashMap::new();
        for place in sample.places.iter().filter(|place| place.found.change_ownership) {
            last.insert((place.zone, place.pageblock), place.found.alloc_migratetype);
        }
        for ((zone, pageblock), wanted) in last {
            assert_eq!(
                map.zones[zone][pageblock].migratetype(),
                Some(wanted),
                "zone {zone} block {pageblock}"
            );
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen} claims");
}
