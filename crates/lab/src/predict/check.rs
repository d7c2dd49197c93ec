//! Checks of recordings: one machine, one kernel and one setting on each side.

use freehold::Era;

use super::change::{SettingChange, Turned};
use super::error::PredictError;
use super::facts::Facts;

/// The largest ratio of requested pages between two recordings of the same work.
const MOST_TIMES: u64 = 2;

/// The settings that older kernels lack, with the first kernel that has each.
const SINCE: [(&str, (u32, u32)); 5] = [
    ("watermark_scale_factor", (4, 6)),
    ("watermark_boost_factor", (5, 0)),
    ("compaction_proactiveness", (5, 9)),
    ("percpu_pagelist_high_fraction", (5, 14)),
    ("defrag_mode", (6, 15)),
];

/// Checks that `before` are recordings of one machine, kernel and setting that differ from the change, and that
/// `against` are recordings of that machine under the change. Returns a sentence for each property that could not be
/// checked.
///
/// # Errors
/// The first problem, with the name of its recording.
pub fn check_settings(
    change: &SettingChange,
    before: &[Facts],
    against: &[Facts],
) -> Result<Vec<String>, PredictError> {
    let Some(first) = before.first() else { return Err(PredictError::NoChange) };
    for (number, facts) in before.iter().chain(against).enumerate() {
        same_machine(first, facts)?;
        let earlier = before.iter().chain(against).take(number);
        if let Some(same) = earlier.into_iter().find(|earlier| earlier.is_same_recording(facts)) {
            return Err(PredictError::Twice { name: facts.name.clone(), first: same.name.clone() });
        }
    }
    for side in [before, against] {
        let Some(first) = side.first() else { continue };
        for facts in side {
            same_kernel(first, facts)?;
            same_settings(first, facts, |_| true)?;
        }
    }
    let era = first.era().ok_or_else(|| PredictError::UnknownKernel { name: first.name.clone() })?;
    would_change(change, first, era)?;
    against.first().map_or(Ok(Vec::new()), |other| shows(change, first, era, other))
}

/// Checks that recordings of the same work request about the same number of pages.
///
/// # Errors
/// The first recording that requests more than twice or less than half of the pages of an earlier one, or no pages.
pub fn check_lengths(recordings: &[(&str, u64)]) -> Result<(), PredictError> {
    for (number, &(name, pages)) in recordings.iter().enumerate() {
        if pages == 0 {
            return Err(PredictError::Empty { name: name.to_owned() });
        }
        let differs = |other: u64| {
            let (least, most) = (pages.min(other), pages.max(other));
            most > least.saturating_mul(MOST_TIMES)
        };
        if let Some(&(first, expected)) = recordings[..number].iter().find(|(_, other)| differs(*other)) {
            let (name, first) = (name.to_owned(), first.to_owned());
            return Err(PredictError::Length { name, pages, first, expected, times: MOST_TIMES });
        }
    }
    Ok(())
}

fn same_machine(first: &Facts, facts: &Facts) -> Result<(), PredictError> {
    let differ = |what: String| {
        Err(PredictError::Machine { name: facts.name.clone(), first: first.name.clone(), what })
    };
    if facts.cpus != first.cpus {
        return differ(format!("{} CPUs, not {}", facts.cpus, first.cpus));
    }
    if facts.page_bytes != first.page_bytes {
        return differ(format!("pages of {} bytes, not {}", facts.page_bytes, first.page_bytes));
    }
    if facts.zones != first.zones {
        return differ("its zones have other names, starts or sizes".to_owned());
    }
    Ok(())
}

fn same_kernel(first: &Facts, facts: &Facts) -> Result<(), PredictError> {
    if facts.kernel_release == first.kernel_release {
        return Ok(());
    }
    Err(PredictError::Kernel {
        name: facts.name.clone(),
        release: release(facts),
        first: first.name.clone(),
        expected: release(first),
    })
}

fn release(facts: &Facts) -> String {
    let release = &facts.kernel_release;
    if release.is_empty() { "an unnamed kernel".to_owned() } else { release.clone() }
}

/// Checks that the settings in both recordings whose names pass `compared` have equal values.
fn same_settings(first: &Facts, facts: &Facts, compared: impl Fn(&str) -> bool) -> Result<(), PredictError> {
    for name in facts.setting_names().filter(|name| compared(name)) {
        if let Some((own, expected)) = facts.setting(name).zip(first.setting(name))
            && own != expected
        {
            return Err(PredictError::Setting {
                name: facts.name.clone(),
                setting: format!("{name}={own}"),
                first: first.name.clone(),
                expected: expected.to_owned(),
            });
        }
    }
    Ok(())
}

/// Checks that the recorded kernel has the changed settings, with other values.
fn would_change(change: &SettingChange, first: &Facts, era: Era) -> Result<(), PredictError> {
    let mut switches = era.switches();
    let mut is_number_new = false;
    for turned in change.each() {
        match turned {
            Turned::Era(other) => switches = other.switches(),
            Turned::Switch(switch, on) => switches = switch.set(switches, on),
            Turned::Number(knob, number) => {
                has(first, knob)?;
                is_number_new |= first.number(knob) != Some(number);
            }
        }
    }
    if switches != era.switches() || is_number_new {
        return Ok(());
    }
    Err(PredictError::Already { name: first.name.clone(), change: described(change, era) })
}

/// Returns the change as text. For a change of the kernel, adds the era nearest to the recorded kernel.
fn described(change: &SettingChange, era: Era) -> String {
    if change.keeps_kernel() {
        change.to_string()
    } else {
        format!("{change} (the era nearest to its kernel is {})", era.name())
    }
}

/// Checks that the recorded kernel has a setting.
fn has(first: &Facts, knob: &'static str) -> Result<(), PredictError> {
    let since = SINCE.iter().find(|(name, _)| *name == knob).map(|(_, version)| *version);
    let is_too_old = since.zip(first.version()).is_some_and(|(since, version)| version < since);
    let is_missing = knob != "pageblock_order" && first.has_settings() && first.setting(knob).is_none();
    if first.setting(knob).is_some() || !(is_too_old || is_missing) {
        return Ok(());
    }
    let since =
        since.map_or(String::new(), |(major, minor)| format!(" (Linux has it since {major}.{minor})"));
    Err(PredictError::Lacking { name: first.name.clone(), release: release(first), knob, since })
}

/// Checks that a recording was made under the change. Returns a sentence for each property that could not be checked.
fn shows(
    change: &SettingChange,
    first: &Facts,
    era: Era,
    other: &Facts,
) -> Result<Vec<String>, PredictError> {
    let same = |setting: String| PredictError::Same {
        name: other.name.clone(),
        first: first.name.clone(),
        setting,
        change: change.to_string(),
    };
    let mut unchecked = Vec::new();
    if change.keeps_kernel() {
        same_kernel(first, other)?;
    } else if other.kernel_release == first.kernel_release {
        return Err(same(release(first)));
    }
    for turned in change.each() {
        match turned {
            Turned::Number(knob, number) => match other.number(knob) {
                Some(value) if value == number => {}
                Some(value) if Some(value) == first.number(knob) => {
                    return Err(same(format!("{knob}={value}")));
                }
                Some(value) => {
                    return Err(PredictError::Other {
                        name: other.name.clone(),
                        setting: format!("{knob}={value}"),
                        change: change.to_string(),
                    });
                }
                None => {
                    unchecked
                        .push(format!("{}: {knob} was not recorded; assumed to be {number}", other.name));
                }
            },
            Turned::Era(wanted) => {
                let expected = nearest_of(wanted);
                if let Some(expected) = expected {
                    same_era(change, first, era, other, expected)?;
                }
                if expected != Some(wanted) {
                    unchecked.push(unrecorded(other, turned));
                }
            }
            Turned::Switch(..) => unchecked.push(unrecorded(other, turned)),
        }
    }
    let is_turned = |name: &str| change.number(name).is_some();
    if change.keeps_kernel() {
        same_settings(first, other, |name| !is_turned(name))?;
    }
    Ok(unchecked)
}

fn unrecorded(other: &Facts, turned: Turned) -> String {
    format!("{}: recordings do not show {turned}; assumed", other.name)
}

/// Returns the era nearest to the kernel releases of an era; `None` if any release may belong to the era.
fn nearest_of(era: Era) -> Option<Era> {
    match era {
        Era::Linux7_3Counts | Era::Linux7_3Tidying => Some(Era::Linux7_3),
        Era::Freehold => None,
        linux => Some(linux),
    }
}

/// Checks that the kernel of a recording is nearest to the era of the change.
fn same_era(
    change: &SettingChange,
    first: &Facts,
    era: Era,
    other: &Facts,
    expected: Era,
) -> Result<(), PredictError> {
    let nearest = other.era().ok_or_else(|| PredictError::UnknownKernel { name: other.name.clone() })?;
    if nearest == expected {
        return Ok(());
    }
    let setting = format!("{}, whose nearest era is {}", release(other), nearest.name());
    let (name, change) = (other.name.clone(), change.to_string());
    Err(if nearest == era {
        PredictError::Same { name, first: first.name.clone(), setting, change }
    } else {
        PredictError::Other { name, setting, change }
    })
}

#[cfg(test)]
mod tests {
    use freehold_trace::{Origin, Snapshot, ZoneSnapshot};

    use super::super::change::tests::change;
    use super::*;

    /// Returns the facts of a recording under some settings.
    fn facts(name: &str, release: &str, settings: &[(&str, &str)]) -> Facts {
        facts_of(name, release, settings, |_, _| ())
    }

    fn facts_of(
        name: &str,
        release: &str,
        settings: &[(&str, &str)],
        edit: fn(&mut Origin, &mut Snapshot),
    ) -> Facts {
        let zone = ZoneSnapshot { name: "Normal".to_owned(), spanned: 4096, ..ZoneSnapshot::default() };
        let time_ns = name.bytes().map(u64::from).sum();
        let mut start = Snapshot { zones: vec![zone], time_ns, ..Snapshot::default() };
        start.sysctl =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut origin =
            Origin { kernel_release: release.to_owned(), cpus: 2, page_bytes: 4096, ..Origin::default() };
        edit(&mut origin, &mut start);
        Facts::new(name, &origin, &start)
    }

    const BOOST: &str = "watermark_boost_factor";

    fn boosted(name: &str, boost: &str) -> Facts {
        facts(name, "6.18.1", &[(BOOST, boost), ("swappiness", "60")])
    }

    /// Checks that the recordings are refused with an error that contains all of `words`.
    #[track_caller]
    fn refused(change_of: &str, before: &[Facts], against: &[Facts], words: &[&str]) {
        let change = change(&[change_of]).expect("a change");
        let said = check_settings(&change, before, against).expect_err("refused").to_string();
        for word in words {
            assert!(said.contains(word), "no {word:?} in: {said}");
        }
        assert!(said.contains(';') && !said.contains('\n'), "one sentence with an action: {said}");
    }

    #[test]
    fn recordings_before_and_under_the_change_are_accepted() {
        let change = change(&["watermark_boost_factor=0"]).expect("a change");
        let (before, against) = ([boosted("a", "15000"), boosted("b", "15000")], [boosted("c", "0")]);
        assert_eq!(check_settings(&change, &before, &against), Ok(Vec::new()));
        assert_eq!(check_settings(&change, &before, &[]), Ok(Vec::new()));
        let unrecorded = [facts("d", "6.18.1", &[])];
        let notes = check_settings(&change, &before, &unrecorded).expect("no error");
        assert!(notes[0].starts_with("d: watermark_boost_factor was not recorded"), "{notes:?}");
    }

    #[test]
    fn each_side_has_one_machine_kernel_and_setting() {
        let first = || boosted("a", "15000");
        let set = "watermark_boost_factor=0";
        let other = |edit| facts_of("b", "6.18.1", &[(BOOST, "15000")], edit);
        let cpus = other(|origin, _| origin.cpus = 4);
        refused(set, &[first(), cpus.clone()], &[], &["b: ", "another machine than a", "4 CPUs, not 2"]);
        refused(set, &[first()], &[cpus], &["another machine"]);
        let pages = other(|origin, _| origin.page_bytes = 16_384);
        refused(set, &[first(), pages], &[], &["pages of 16384 bytes, not 4096"]);
        let zones = other(|_, start| start.zones[0].spanned = 8192);
        refused(set, &[first(), zones], &[], &["zones"]);
        let kernel = facts("b", "6.12.1", &[]);
        refused(set, &[first(), kernel.clone()], &[], &["recorded on 6.12.1", "a on 6.18.1", "one kernel"]);
        refused(set, &[first()], &[kernel], &["one kernel"]);
        refused(set, &[first(), boosted("b", "0")], &[], &["watermark_boost_factor=0", "with 15000"]);
        refused(set, &[first(), first()], &[], &["same recording as a", "once"]);
        let swaps = facts("b", "6.18.1", &[(BOOST, "0"), ("swappiness", "10")]);
        refused(set, &[first()], &[swaps], &["swappiness=10", "with 60"]);
    }

    #[test]
    fn a_change_without_effect_is_refused() {
        refused(
            "watermark_boost_factor=15000",
            &[boosted("a", "15000")],
            &[],
            &["factor=15000, so nothing", "another value"],
        );
        refused(
            "era=linux-7.3",
            &[boosted("a", "0")],
            &[],
            &["the same setting, linux-7.3", "nothing would change"],
        );
        refused("hygiene=on", &[boosted("a", "0")], &[], &["with hygiene", "linux-7.3"]);
        refused("hygiene=on", &[facts("a", "", &[])], &[], &["not known", "--kernel-release"]);
    }

    #[test]
    fn a_setting_that_the_kernel_lacks_is_refused() {
        for (release, knob, since) in [
            ("6.12.30", "defrag_mode=1", "6.15"),
            ("5.4.0", "compaction_proactiveness=50", "5.9"),
            ("5.10.0", "percpu_pagelist_high_fraction=64", "5.14"),
        ] {
            refused(knob, &[facts("a", release, &[])], &[], &[release, "since", since]);
            refused(knob, &[facts("a", release, &[("swappiness", "60")])], &[], &[since]);
        }
        // A new kernel that was built without the setting.
        refused(
            "extfrag_threshold=0",
            &[facts("a", "6.18.1", &[("swappiness", "60")])],
            &[],
            &["has no extfrag"],
        );
        let unrecorded = facts("a", "6.18.1", &[]);
        let change = change(&["defrag_mode=1"]).expect("a change");
        assert_eq!(check_settings(&change, &[unrecorded], &[]), Ok(Vec::new()));
    }

    #[test]
    fn recordings_under_another_change_are_refused() {
        let a = [boosted("a", "15000")];
        let set = "watermark_boost_factor=0";
        refused(set, &a, &[boosted("b", "15000")], &["b: ", "the same setting as a", "--against"]);
        refused(set, &a, &[boosted("b", "100")], &["watermark_boost_factor=100", "factor=0"]);
        let on = |name: &str, release: &str| facts(name, release, &[]);
        let era = "era=linux-6.1";
        refused(era, &a, &[on("b", "6.18.1")], &["the same setting as a", "linux-6.1"]);
        refused(era, &a, &[on("b", "6.17.9")], &["the same setting", "nearest era is linux-7.3"]);
        refused(era, &a, &[on("b", "6.12.1")], &["nearest era is linux-6.12"]);
        refused(era, &a, &[on("b", "")], &["not known"]);
        refused("counts=on", &a, &[on("b", "6.18.1")], &["the same setting"]);
        let checked =
            |of: &str, release| check_settings(&change(&[of]).expect("a change"), &a, &[on("b", release)]);
        assert_eq!(checked(era, "6.1.9"), Ok(Vec::new()));
        let notes = checked("era=linux-7.3-counts", "7.3.0-counts").expect("a kernel with patches");
        assert!(notes[0].contains("assumed"), "{notes:?}");
        assert!(checked("era=linux-7.3-counts", "6.12.1").is_err());
    }

    #[test]
    fn lengths_must_be_within_a_factor_of_two() {
        assert_eq!(check_lengths(&[("a", 100), ("b", 200), ("c", 150)]), Ok(()));
        let between = check_lengths(&[("a", 100), ("b", 200), ("c", 99)]).expect_err("refused").to_string();
        assert!(between.starts_with("c: 99") && between.contains("200 in b"), "{between}");
        for other in [201, 49] {
            let said = check_lengths(&[("a", 100), ("b", other)]).expect_err("refused").to_string();
            assert!(said.contains("more than 2 times") && said.contains("same work"), "{said}");
        }
        assert!(
            check_lengths(&[("a", 100), ("b", 0)])
                .expect_err("refused")
                .to_string()
                .contains("no allocation")
        );
        assert_eq!(check_lengths(&[]), Ok(()));
    }
}
