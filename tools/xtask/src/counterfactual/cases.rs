//! The cases: a workload, the side that is recorded to foretell from, and the side that is foretold.

use std::fmt;

use super::kernels::Kernel;
use super::workloads::{WORKLOADS, Workload};

/// Where a side runs, and what is set there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// The kernel of its guests.
    pub(crate) kernel: &'static Kernel,
    /// What differs from the defaults.
    pub(crate) setting: Option<Setting>,
    /// What is set besides.
    pub(crate) also: Option<Setting>,
    /// True if it is set when the workload is prepared, right before the recording; otherwise, before that.
    pub(crate) is_late: bool,
}

/// A sysctl below `vm` with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) value: u64,
}

/// One case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) workload: &'static Workload,
    pub(crate) before: Side,
    pub(crate) after: Side,
}

/// From which kernel to which.
const KERNEL_PAIRS: [(&str, &str); 8] = [
    ("6.1", "6.12"),
    ("6.12", "6.1"),
    ("6.12", "6.18"),
    ("6.18", "6.12"),
    ("6.12", "7.3"),
    ("7.3", "6.12"),
    ("6.1", "7.3"),
    ("7.3", "6.1"),
];

/// The kernel and the workloads that settings are tried under, and those: every setting that the lab can vary, but those
/// that no kernel can change while it runs.
const SETTINGS: (&str, [&str; 2], [Setting; 7]) = (
    "7.3",
    ["build", "memory-files"],
    [
        Setting { name: "percpu_pagelist_high_fraction", value: 64 },
        Setting { name: "watermark_boost_factor", value: 0 },
        Setting { name: "watermark_scale_factor", value: 300 },
        Setting { name: "min_free_kbytes", value: 12_000 },
        Setting { name: "defrag_mode", value: 1 },
        Setting { name: "compaction_proactiveness", value: 100 },
        Setting { name: "extfrag_threshold", value: 100 },
    ],
);

/// The workloads under which the series `tidying` is held against Linux 7.3 as it is.
const TIDIED: [&str; 5] = ["build", "files", "huge-pages", "database", "memory-short"];

/// More pages a second than an emulated machine can move: its budget of time bounds tidying.
const TIDYING: Setting = Setting { name: "pageblock_tidying_pages", value: 1_000_000 };

/// What Linux 7.3 has for the same end.
const RIVALS: [Setting; 2] =
    [Setting { name: "compaction_proactiveness", value: 100 }, Setting { name: "defrag_mode", value: 1 }];

/// Returns the cases of the series `tidying`: with it, with it turned on where a replay turns it on, which is where a
/// recording begins, and with what Linux has for the same end.
pub(crate) fn tidying_cases() -> Vec<Case> {
    let guest = |version, setting| Side::of_guest(version, setting, None);
    let tidied = WORKLOADS.iter().filter(|workload| TIDIED.contains(&workload.name));
    let of = |workload| {
        let proactive_baselines = RIVALS.map(|setting| guest("7.3-built", Some(setting)));
        let tidying = guest("7.3-tidying", Some(TIDYING));
        let afters = [tidying, Side { is_late: true, ..tidying }].into_iter().chain(proactive_baselines);
        afters.map(move |after| Case { workload, before: guest("7.3-built", None), after })
    };
    tidied.flat_map(of).collect()
}

/// As often as tidying looks at the pageblocks: it drains no zone more often.
const DRAINS: Setting = Setting { name: "pageblock_only_drains", value: 10 };

/// About the time of a second that kcompactd takes under proactive compaction where that moves pages: 5 to 7 ms.
const RIVALS_TIME: Setting = Setting { name: "pageblock_tidying_ms", value: 6 };

/// Returns the sides of the series `tidying`, each under every workload: as it is, a kernel that only drains the CPUs'
/// lists, tidying, tidying with the rival's time, what Linux has for the same end, and tidying from the recording on.
pub(crate) fn tidying_sides() -> Vec<(&'static Workload, Side)> {
    let guest = Side::of_guest;
    let sides = [
        guest("7.3-built", None, None),
        guest("7.3-tidying", Some(DRAINS), None),
        guest("7.3-tidying", Some(TIDYING), None),
        guest("7.3-tidying", Some(TIDYING), Some(RIVALS_TIME)),
        guest("7.3-built", Some(RIVALS[0]), None),
        guest("7.3-built", Some(RIVALS[1]), None),
        Side { is_late: true, ..guest("7.3-tidying", Some(TIDYING), None) },
    ];
    let tidied = WORKLOADS.iter().filter(|workload| TIDIED.contains(&workload.name));
    tidied.flat_map(|workload| sides.map(|side| (workload, side))).collect()
}

/// Returns every other case: between kernels, and settings.
pub(crate) fn cases() -> Vec<Case> {
    let guest = |version, setting| Side::of_guest(version, setting, None);
    let mut cases = Vec::new();
    for workload in &WORKLOADS {
        for (before, after) in KERNEL_PAIRS {
            cases.push(Case { workload, before: guest(before, None), after: guest(after, None) });
        }
    }
    let (version, names, settings) = SETTINGS;
    for workload in WORKLOADS.iter().filter(|workload| names.contains(&workload.name)) {
        for setting in settings {
            cases.push(Case { workload, before: guest(version, None), after: guest(version, Some(setting)) });
        }
    }
    cases
}

impl Side {
    fn of_guest(version: &str, setting: Option<Setting>, also: Option<Setting>) -> Self {
        let kernel = Kernel::from_version(version).expect("a kernel of the table");
        Self { kernel, setting, also, is_late: false }
    }
}

impl Case {
    /// Returns the case's name, by which `--case` finds it.
    pub(crate) fn name(&self) -> String {
        format!("{}: {} to {}", self.workload.name, self.before, self.after)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kernel.version)?;
        [self.setting, self.also].into_iter().flatten().try_for_each(|setting| write!(f, "+{setting}"))?;
        f.write_str(if self.is_late { "+late" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_case_has_a_name_of_its_own_and_two_sides_that_differ() {
        let cases = [cases(), tidying_cases()].concat();
        let names: BTreeSet<_> = cases.iter().map(Case::name).collect();
        assert_eq!(names.len(), cases.len());
        for case in &cases {
            assert_ne!(case.before.to_string(), case.after.to_string());
        }
    }

    #[test]
    fn the_sides_of_tidying_differ_and_have_every_case() {
        let sides = tidying_sides();
        let name = |workload: &Workload, side: &Side| format!("{}: {side}", workload.name);
        let names: BTreeSet<_> = sides.iter().map(|(workload, side)| name(workload, side)).collect();
        assert_eq!((names.len(), names.len() % TIDIED.len()), (sides.len(), 0));
        assert!(names.contains("build: 7.3-tidying+pageblock_tidying_pages=1000000+pageblock_tidying_ms=6"));
        for Case { workload, before, after } in tidying_cases() {
            assert!(names.contains(&name(workload, &before)) && names.contains(&name(workload, &after)));
        }
    }
}
