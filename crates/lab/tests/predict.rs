//! Predictions from generated recordings, and the replays for them.

use freehold::Era;
use freehold_lab::predict::{
    BaselineRecording, ChangedRecording, Facts, PredictOptions, Prediction, PredictionVerdict, SettingChange,
};
use freehold_lab::sweep::Knob;
use freehold_lab::workload::{Generated, Synthetic};
use freehold_lab::{Lab, Options, SampleDetail, Variant};

#[test]
fn detail_totals_changes_only_the_samples() {
    let generated = Synthetic { events: 40_000, ..Synthetic::default() }.generate().expect("a trace");
    let lab = Lab::new(generated.trace()).expect("a lab");
    for era in Era::ALL {
        let replay = |detail| {
            let options = Options { runs: 1, detail, ..Options::default() };
            lab.replay(&Variant::new(era), options).expect("a replay").measures
        };
        let (all, totals) = (replay(SampleDetail::All), replay(SampleDetail::Totals));
        assert_eq!((all.locked, all.events, all.followed), (totals.locked, totals.events, totals.followed));
        assert_eq!((all.mixed.start, all.mixed.end), (totals.mixed.start, totals.mixed.end));
        assert_eq!(
            (all.free_at_end, all.free_pageblocks_at_end),
            (totals.free_at_end, totals.free_pageblocks_at_end)
        );
        assert_eq!(all.samples.len(), totals.samples.len());
        for (all, totals) in all.samples.iter().zip(&totals.samples) {
            assert_eq!(all.fallbacks, totals.fallbacks);
            for (all, totals) in all.zones.iter().zip(&totals.zones) {
                assert_eq!(all.free_pages, totals.free_pages);
                assert_eq!(
                    (all.unusable_index, all.extfrag_index),
                    (totals.unusable_index, totals.extfrag_index)
                );
            }
        }
    }
}

fn recordings(era: Era) -> Vec<Generated> {
    // Memory is scarce enough for fallbacks, but not so scarce that failures of an era change the requests.
    let scarce =
        Synthetic { era, pages: 1 << 15, events: 100_000, free_fraction: 16, ..Synthetic::default() };
    (1..=4).map(|seed| Synthetic { seed, ..scarce }.generate().expect("a trace")).collect()
}

fn change(text: &str) -> SettingChange {
    let (knob, value) = text.split_once('=').expect("KNOB=VALUE");
    let knob = Knob::from_name(knob).expect("a knob");
    let value = knob.parse(value).expect("a value");
    SettingChange::new(vec![(knob, value)]).expect("a change")
}

fn baseline(recordings: &[Generated], change: &SettingChange) -> Vec<BaselineRecording> {
    let options = PredictOptions { replays: 2, threads: None };
    let observe =
        |of: &Generated| Lab::new(of.trace()).expect("a lab").observe(change, options).expect("replays");
    recordings.iter().map(observe).collect()
}

fn predict(before: &[Generated], change: &SettingChange, against: &[Generated]) -> Prediction {
    let observed: Vec<_> =
        against.iter().map(|of| ChangedRecording::new(of.trace()).expect("a machine")).collect();
    let first = Facts::new("first", &before[0].origin, &before[0].start);
    Prediction::new(change, &first, &baseline(before, change), Some(&observed), Vec::new())
}

/// Returns the number of right and of wrong predictions.
fn score(prediction: &Prediction) -> (usize, usize) {
    let count =
        |verdicts: &[PredictionVerdict]| verdicts.iter().map(|&verdict| prediction.count(verdict)).sum();
    let right = count(&[PredictionVerdict::Right, PredictionVerdict::Quiet]);
    (
        right,
        count(&[
            PredictionVerdict::Size,
            PredictionVerdict::Direction,
            PredictionVerdict::Missed,
            PredictionVerdict::FalseAlarm,
        ]),
    )
}

#[test]
fn predictions_from_one_era_to_another_are_mostly_right() {
    let (old, new) = (recordings(Era::Linux6_1), recordings(Era::Linux7_3));
    for (before, era, against) in [(&old, "era=linux-7.3", &new), (&new, "era=linux-6.1", &old)] {
        let prediction = predict(before, &change(era), against);
        let (right, wrong) = score(&prediction);
        assert!(right > wrong, "{right} right, {wrong} wrong:\n{}", prediction.text(true));
    }
}

#[test]
fn a_change_without_effect_predicts_no_change() {
    let recordings = recordings(Era::Linux7_3);
    // The era does not have counts.
    let change = change("counts=off");
    let prediction = predict(&recordings, &change, &recordings);
    let (_, wrong) = score(&prediction);
    assert_eq!((wrong, prediction.count(PredictionVerdict::Right)), (0, 0), "{}", prediction.text(true));
    assert!(prediction.count(PredictionVerdict::Quiet) > 5, "{}", prediction.text(true));
}
