//! `freehold predict`: what it prints, and what does not go together.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Ran, finish, folder, freehold, run, sample};

/// Recordings of one work by two kernels, made up.
struct Recordings {
    folder: TempDir,
}

/// The names and contents of the recordings, made once: each test has files of its own.
static MADE: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let recordings = Recordings { folder: folder() };
    let mut made = Vec::new();
    for era in ["linux-6.1", "linux-7.3"] {
        for seed in ["1", "2", "3"] {
            let name = format!("{era}-{seed}");
            recordings.make(&name, &["--era", era, "--seed", seed, "--events", "60000"]);
            let bytes = fs::read(recordings.path(&name)).expect("a recording");
            made.push((name, bytes));
        }
    }
    made
});

impl Recordings {
    fn new() -> Self {
        let recordings = Self { folder: folder() };
        for (name, bytes) in MADE.iter() {
            fs::write(recordings.path(name), bytes).expect("a file in a new folder");
        }
        recordings
    }

    fn make(&self, name: &str, more: &[&str]) {
        let mut command = freehold(["dev", "generate", "mmap-read", "--memory", "256MiB"]);
        command.args(more).arg("-o").arg(self.path(name));
        finish(command).ok();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.arrows"))
    }

    fn of(&self, era: &str) -> Vec<PathBuf> {
        (1..=3).map(|seed| self.path(&format!("{era}-{seed}"))).collect()
    }
}

fn predict(before: &[PathBuf], change: &[&str], against: &[PathBuf], more: &[&str]) -> Ran {
    let mut command = freehold(["predict", "--replicates", "2"]);
    command.args(before).args(change).args(more);
    if !against.is_empty() {
        command.arg("--against").args(against);
    }
    finish(command)
}

const ERA: [&str; 2] = ["--set", "era=linux-7.3"];

#[track_caller]
fn measures(ran: &Ran) -> Vec<Value> {
    ran.json()["measures"].as_array().expect("measures").clone()
}

#[test]
fn prediction_fits_a_screen() {
    let recordings = Recordings::new();
    let (before, after) = (recordings.of("linux-6.1"), recordings.of("linux-7.3"));
    let alone = predict(&before, &ERA, &[], &[]).ok();
    assert!(
        alone.stdout.starts_with("linux-7.3 instead of linux-6.1: predicted from 3 recordings\n"),
        "{}",
        alone.stdout
    );
    assert!(!alone.stdout.contains("verdict"), "{}", alone.stdout);
    let judged = predict(&before, &ERA, &after, &[]).ok();
    assert!(
        judged.stdout.lines().next().is_some_and(|line| line.ends_with("compared with 3")),
        "{}",
        judged.stdout
    );
    assert!(judged.stdout.contains("score: "), "{}", judged.stdout);
    for text in [&alone.stdout, &judged.stdout] {
        assert!(text.lines().count() <= 40, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    let full = predict(&before, &ERA, &after, &["--full"]).ok();
    assert!(full.stdout.contains("mixed pageblocks at the end") && full.stdout.contains("undecided: "));
}

#[test]
fn json_has_a_value_or_null_for_each_measure() {
    let recordings = Recordings::new();
    let (before, after) = (recordings.of("linux-6.1"), recordings.of("linux-7.3"));
    let alone = measures(&predict(&before, &ERA, &[], &["--json"]).ok());
    let judged = measures(&predict(&before, &ERA, &after, &["--json"]).ok());
    let numbers = ["before", "before_sd", "predicted", "predicted_sd", "observed", "observed_sd"];
    let verdicts = ["right", "size", "direction", "missed", "false-alarm", "quiet", "undecided"];
    for measure in alone.iter().chain(&judged) {
        assert!(measure["measure"].is_string() && measure["unit"].is_string(), "{measure}");
        for number in numbers {
            assert!(
                measure.get(number).is_some_and(|value| value.is_number() || value.is_null()),
                "{measure}"
            );
        }
    }
    for measure in &alone {
        assert!(
            measure["observed"].is_null() && measure["observed_sd"].is_null() && measure["verdict"].is_null()
        );
    }
    for measure in &judged {
        let verdict = measure["verdict"].as_str().expect("a verdict");
        assert!(verdicts.contains(&verdict), "{measure}");
        assert_eq!(verdict == "undecided", measure["why"].is_string(), "{measure}");
        let is_known = measure["predicted_sd"].is_number() && measure["observed_sd"].is_number();
        assert!(is_known || verdict == "undecided", "{measure}");
    }
    let named = |name: &str| judged.iter().find(|measure| measure["measure"] == name).expect("a measure");
    assert!(named("free pageblocks at the end")["observed"].is_number());
    assert!(
        named("zone lock holds")["predicted"].is_number() && named("zone lock holds")["observed"].is_null()
    );
}

#[test]
fn one_recording_predicts_and_stays_undecided() {
    let recordings = Recordings::new();
    let (before, after) = (recordings.of("linux-6.1"), recordings.of("linux-7.3"));
    let ran = predict(&before[..1], &ERA, &after, &["--json"]).ok();
    assert!(ran.json()["notes"][0].as_str().is_some_and(|note| note.contains("one recording")));
    assert!(measures(&ran).iter().all(|measure| measure["verdict"] == "undecided"));
    assert!(measures(&ran).iter().any(|measure| measure["predicted"].is_number()));
    let text = predict(&before[..1], &ERA, &[], &[]).ok();
    assert!(
        text.stdout.contains("one recording before the change: standard deviation and noise are unknown"),
        "{}",
        text.stdout
    );
}

/// Nothing is tidied that is not paid for.
#[test]
fn costly_page_moves_gain_no_pageblocks() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/forks.arrows");
    let free_at = |ns: &str| {
        let more = ["--json", "--page-move-ns", ns];
        let ran = predict(std::slice::from_ref(&trace), &["--set", "era=freehold"], &[], &more).ok();
        assert_eq!(ran.json()["page_move_ns"].as_u64().map(|ns| ns.to_string()).as_deref(), Some(ns));
        let free =
            measures(&ran).into_iter().find(|measure| measure["measure"] == "free pageblocks at the end");
        let free = free.expect("a measure");
        free["predicted"].as_f64().expect("predicted") - free["before"].as_f64().expect("before")
    };
    let (cheap, dear) = (free_at("4000"), free_at("1000000000"));
    assert!(cheap > 20.0, "{cheap} pageblocks more at 4 µs a page");
    assert!(dear.abs() < 1.0, "{dear} pageblocks more at a second a page");
}

#[test]
fn contradictory_options_are_refused() {
    let recordings = Recordings::new();
    let (old, new) = (recordings.of("linux-6.1"), recordings.of("linux-7.3"));
    let both: Vec<_> = old[..1].iter().chain(&new[..1]).cloned().collect();
    predict(&both, &ERA, &[], &[]).fails(64, &["6.1.0", "7.3.0", "recordings of one kernel"]);
    predict(&old, &ERA, &old[..1], &[]).fails(64, &["same recording", "once"]);
    predict(&[old[0].clone(), old[0].clone()], &ERA, &[], &[]).fails(64, &["same recording"]);
    predict(&old[..2], &ERA, &old[2..], &[])
        .fails(64, &["the same setting", "give recordings under linux-7.3"]);
    predict(&old, &["--set", "era=linux-6.12"], &new, &[]).fails(64, &["nearest era is linux-7.3"]);
    predict(&old, &["--set", "era=linux-6.1"], &[], &[]).fails(64, &["nothing would change"]);
    predict(&old, &["--set", "defrag_mode=1"], &[], &[]).fails(64, &["6.1.0", "has no defrag_mode", "6.15"]);
    let twice = ["--set", "extfrag_threshold=0", "--set", "extfrag_threshold=1"];
    predict(&old, &twice, &[], &[]).fails(64, &["extfrag_threshold is given twice"]);
    recordings.make("other", &["--era", "linux-6.1", "--cpus", "2", "--events", "60000"]);
    let other = [old[0].clone(), recordings.path("other")];
    predict(&other, &ERA, &[], &[]).fails(64, &["another machine", "2 CPUs, not 4"]);
    recordings.make("long", &["--era", "linux-6.1", "--events", "200000"]);
    let long = [old[1].clone(), recordings.path("long")];
    predict(&long, &ERA, &[], &[]).fails(64, &["pages requested", "more than 2 times", "same work"]);
    predict(&old, &ERA, &[recordings.folder.path().join("none")], &[]).fails(66, &["check the path"]);
}

#[test]
fn a_recorded_setting_is_known() {
    let [build, forks] = ["c-build.arrows", "forks.arrows"].map(|name| PathBuf::from(sample(name)));
    let boost = |value: &str| ["--set".to_owned(), format!("watermark_boost_factor={value}")];
    let predict = |value: &str, against: &[PathBuf]| {
        let change = boost(value);
        predict(std::slice::from_ref(&build), &change.each_ref().map(String::as_str), against, &[])
    };
    predict("15000", &[]).fails(64, &["c-build", "watermark_boost_factor=15000", "nothing would change"]);
    predict("0", std::slice::from_ref(&forks)).fails(64, &["forks", "the same setting", "--against"]);
}

#[test]
fn unknown_words_are_refused() {
    let trace = sample("c-build.arrows");
    assert!(Path::new(&trace).exists());
    for (words, said) in [
        ("--set era=linux-2.4", "linux-6.1"),
        ("--set swappiness=1", "the settings are"),
        ("--set defrag_mode=2", "0 to 1"),
        ("--set defrag_mode", "SETTING=VALUE"),
        ("--set kindness=on", "hygiene"),
        ("--replicates 0 --set counts=on", "1.."),
        ("", "--set"),
    ] {
        run(["predict", &trace].into_iter().chain(words.split_ascii_whitespace())).fails(64, &[said]);
    }
}
