//! The cases: a workload, the side whose recordings the prediction starts from, and the predicted side.

use std::fmt;

use super::kernels::Kernel;
use super::workloads::{WORKLOADS, Workload};

/// A kernel and its settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// The kernel of its guests.
    pub(crate) kernel: &'static Kernel,
    /// The setting that differs from the default.
    pub(crate) setting: Option<Setting>,
    /// A second such setting.
    pub(crate) also: Option<Setting>,
    /// True if it is set right before the recording, once the workload is prepared; otherwise it is set at boot.
    pub(crate) is_late: bool,
}

/// A sysctl below `vm` with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) value: u64,
}

/// A case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) workload: &'static Workload,
    pub(crate) before: Side,
    pub(crate) after: Side,
}

/// The pairs of kernels: from, to.
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

/// The kernel, the workloads and the settings to try: every setting that the lab can vary and that a running kernel
/// can change.
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

/// The workloads under which the series `tidying` is compared with an unchanged Linux 7.3.
const TIDIED: [&str; 5] = ["build", "files", "huge-pages", "database", "memory-short"];

/// More pages a second than an emulated machine can move: its budget of time bounds tidying.
const TIDYING: Setting = Setting { name: "pageblock_tidying_pages", value: 1_000_000 };

/// The settings of Linux 7.3 with the same purpose.
const BASELINES: [Setting; 2] =
    [Setting { name: "compaction_proactiveness", value: 100 }, Setting { name: "defrag_mode", value: 1 }];

/// Returns the cases of the series `tidying`: tidying from the boot on, tidying from the start of the recording on
/// as in a replay, and Linux's own settings with the same purpose.
pub(crate) fn tidying_cases() -> Vec<Case> {
    let guest = |version, setting| Side::of_guest(version, setting, None);
    let tidied = WORKLOADS.iter().filter(|workload| TIDIED.contains(&workload.name));
    let of = |workload| {
        let proactive_baselines = BASELINES.map(|setting| guest("7.3-built", Some(setting)));
        let tidying = guest("7.3-tidying", Some(TIDYING));
        let afters = [tidying, Side { is_late: true, ..tidying }].into_iter().chain(proactive_baselines);
        afters.map(move |after| Case { workload, before: guest("7.3-built", None), after })
    };
    tidied.flat_map(of).collect()
}

/// Drains as often as tidying scans the pageblocks, which is how often tidying drains at most.
const DRAINS: Setting = Setting { name: "pageblock_only_drains", value: 10 };

/// About the time in each second that kcompactd spends under proactive compaction when it moves pages: 5 to 7 ms.
const EQUAL_COST: Setting = Setting { name: "pageblock_tidying_ms", value: 6 };

/// Returns the sides of the series `tidying`, each under every workload: an unchanged kernel, a kernel that only drains
/// the CPUs' lists, tidying, tidying at equal cost, Linux's own settings, and tidying from the recording on.
pub(crate) fn tidying_sides() -> Vec<(&'static Workload, Side)> {
    let guest = Side::of_guest;
    let sides = [
        guest("7.3-built", None, None),
        guest("7.3-tidying", Some(DRAINS), None),
        guest("7.3-tidying", Some(TIDYING), None),
        guest("7.3-tidying", Some(TIDYING), Some(EQUAL_COST)),
        guest("7.3-built", Some(BASELINES[0]), None),
        guest("7.3-built", Some(BASELINES[1]), None),
        Side { is_late: true, ..guest("7.3-tidying", Some(TIDYING), None) },
    ];
    let tidied = WORKLOADS.iter().filter(|workload| TIDIED.contains(&workload.name));
    tidied.flat_map(|workload| sides.map(|side| (workload, side))).collect()
}

/// Returns every other case: pairs of kernels, and settings.
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
