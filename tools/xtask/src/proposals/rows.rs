//! The rows of the proposals' tables: the proposal's figures, and a function that computes each from a guest's output.

use super::figures::{Boot, Build};

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its name, with the unit.
    pub(super) name: &'static str,
    /// The proposal's figures without and with its change; `None` if it does not have one.
    pub(super) proposal: [Option<f64>; 2],
    /// Computes the figure of a boot.
    pub(super) here: fn(&Boot) -> Option<f64>,
}

const NONE: [Option<f64>; 2] = [None, None];

const fn row(name: &'static str, proposal: [Option<f64>; 2], here: fn(&Boot) -> Option<f64>) -> Row {
    Row { name, proposal, here }
}

/// Converts nanoseconds to microseconds.
fn us(ns: f64) -> f64 {
    ns / 1000.0
}

/// Returns the rows of proposal 001.
pub(super) fn mode() -> Vec<Row> {
    vec![
        row("real time, s", [Some(8.939), Some(5.546)], |boot| Some(boot.timed("mixed", "real_ms")? / 1e3)),
        row("user time, s", [Some(2.617), Some(2.528)], |boot| Some(boot.timed("mixed", "user_ms")? / 1e3)),
        row("system time, s", [Some(52.885), Some(30.183)], |boot| {
            Some(boot.timed("mixed", "system_ms")? / 1e3)
        }),
        row("fallbacks", NONE, |boot| boot.count("mixed", "fallbacks")),
        row("calls for a whole pageblock", NONE, |boot| Some(boot.histogram("mixed", "claims")?.total)),
        row("such calls in a hold with at least one, mean", NONE, |boot| {
            boot.histogram("mixed", "claims")?.mean()
        }),
        row("such calls in a hold, max", NONE, |boot| Some(boot.histogram("mixed", "claims")?.most)),
        row("longest hold, µs", [Some(93_635.0), None], |boot| Some(us(boot.holds("mixed")?.most))),
        row("hold, mean, µs", NONE, |boot| Some(us(boot.holds("mixed")?.mean()?))),
        row("hold, median, µs", NONE, |boot| Some(us(boot.holds("mixed")?.at(0.5)?))),
        row("hold, 99th percentile, µs", NONE, |boot| Some(us(boot.holds("mixed")?.at(0.99)?))),
        row("hold, 99.9th percentile, µs", NONE, |boot| Some(us(boot.holds("mixed")?.at(0.999)?))),
        row("holds of 1 ms or more", NONE, |boot| Some(boot.holds("mixed")?.from(1e6))),
        row("all holds together, ms", NONE, |boot| Some(us(boot.holds("mixed")?.total) / 1e3)),
    ]
}

/// Returns the rows of proposal 003 about holds.
pub(super) fn batches_holds() -> Vec<Row> {
    vec![
        row("pages freed in a hold, max", [Some(2000.0), None], |boot| {
            Some(boot.histogram("exits", "drained")?.most)
        }),
        row("pages freed in a hold with at least one, mean", NONE, |boot| {
            boot.histogram("exits", "drained")?.mean()
        }),
        row("holds that free 512 or more pages", NONE, |boot| {
            Some(boot.histogram("exits", "drained")?.from(512.0))
        }),
        row("longest hold, µs", NONE, |boot| Some(us(boot.holds("exits")?.most))),
        row("hold, mean, µs", NONE, |boot| Some(us(boot.holds("exits")?.mean()?))),
        row("hold, 99.9th percentile, µs", NONE, |boot| Some(us(boot.holds("exits")?.at(0.999)?))),
        row("holds", NONE, |boot| Some(boot.holds("exits")?.samples)),
        row("system time, s", NONE, |boot| Some(boot.timed("exits", "system_ms")? / 1e3)),
        row("all holds together, ms", NONE, |boot| Some(us(boot.holds("exits")?.total) / 1e3)),
        row("boot: pages freed in a hold, max", [Some(2000.0), None], |boot| {
            Some(boot.histogram("boot", "drained")?.most)
        }),
        row("boot: holds that free 512 or more pages", [Some(100.0), None], |boot| {
            Some(boot.histogram("boot", "drained")?.from(512.0))
        }),
        row("boot: longest hold, µs", NONE, |boot| Some(us(boot.holds("boot")?.most))),
    ]
}

/// Returns the rows of proposal 003 about the other CPU.
pub(super) fn batches_waits() -> Vec<Row> {
    vec![
        row("longest wait, µs", NONE, |boot| Some(us(boot.histogram("exits", "waited")?.most))),
        row("wait, mean, µs", NONE, |boot| Some(us(boot.histogram("exits", "waited")?.mean()?))),
        row("waits", NONE, |boot| Some(boot.histogram("exits", "waited")?.samples)),
        row("all waits together, ms", NONE, |boot| Some(us(boot.histogram("exits", "waited")?.total) / 1e3)),
        row("the other CPU's turns", NONE, |boot| boot.field("turns")),
        row("turn of the other CPU, mean, µs", NONE, |boot| boot.field("turn_us")),
        row("longest turn of the other CPU, µs", NONE, |boot| boot.field("longest_turn_us")),
    ]
}

/// The table of proposal 004: each row has the figures without and with the series. They are means over 50 consecutive
/// defconfig builds on an unnamed machine with Linux 6.8-rc5.
///
/// The proposal's own row of fallbacks has the medians of its list of 50 builds (1 328 and 1.00), and its 181 009.50
/// type mismatches are neither the mean nor the median of its list. Here, both rows have the means of the lists.
///
/// Source: "mm: `page_alloc`: freelist migratetype hygiene" v3, linux-mm, March 2024.
const HYGIENE: [(&str, [f64; 2]); 32] = [
    ("Hugealloc Time mean", [165_843.93, 113_025.88]),
    ("Hugealloc Time stddev", [158_957.35, 114_716.07]),
    ("Kbuild Real time", [310.24, 300.73]),
    ("Kbuild User time", [1_271.13, 1_259.42]),
    ("Kbuild System time", [582.02, 559.79]),
    ("THP fault alloc", [30_585.14, 40_853.62]),
    ("THP fault fallback", [36_626.46, 26_357.62]),
    ("THP fault fail rate %", [54.49, 39.22]),
    ("Pagealloc fallback", [2_221.76, 9.54]),
    ("Pagealloc type mismatch", [64_379.86, 6.22]),
    ("Direct compact stall", [434.56, 257.66]),
    ("Direct compact fail", [421.70, 249.94]),
    ("Direct compact success", [12.86, 7.72]),
    ("Direct compact success rate %", [2.86, 2.82]),
    ("Compact daemon scanned migrate", [3_370_059.62, 3_612_054.76]),
    ("Compact daemon scanned free", [7_718_439.20, 5_386_385.02]),
    ("Compact direct scanned migrate", [309_248.62, 176_721.04]),
    ("Compact direct scanned free", [433_582.84, 315_727.66]),
    ("Compact migrate scanned daemon %", [91.20, 94.48]),
    ("Compact free scanned daemon %", [94.58, 94.42]),
    ("Compact total migrate scanned", [3_679_308.24, 3_788_775.80]),
    ("Compact total free scanned", [8_152_022.04, 5_702_112.68]),
    ("Alloc stall", [872.04, 5_156.12]),
    ("Pages kswapd scanned", [510_645.86, 3_394.94]),
    ("Pages kswapd reclaimed", [134_811.62, 2_701.26]),
    ("Pages direct scanned", [99_546.06, 376_407.52]),
    ("Pages direct reclaimed", [62_123.40, 289_535.70]),
    ("Pages total scanned", [610_191.92, 379_802.46]),
    ("Pages scanned kswapd %", [76.36, 0.10]),
    ("Swap out", [12_057.54, 15_022.98]),
    ("Swap in", [209.16, 256.48]),
    ("File refaults", [17_701.64, 11_765.40]),
];

/// Returns the rows of proposal 004, each the mean over the builds of a boot.
pub(super) fn hygiene() -> Vec<Row> {
    HYGIENE
        .iter()
        .map(|&(name, figures)| Row { name, proposal: figures.map(Some), here: by_name(name) })
        .collect()
}

/// Returns the mean over the builds of a boot; `None` if there are no builds or one of them lacks the figure.
fn mean(boot: &Boot, figure: fn(&Build<'_>) -> Option<f64>) -> Option<f64> {
    let figures = boot.builds().iter().map(figure).collect::<Option<Vec<_>>>()?;
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

/// Returns `part` in percent of `part + rest`; `None` if both are 0.
fn percent(part: f64, rest: f64) -> Option<f64> {
    (part + rest > 0.0).then(|| part * 100.0 / (part + rest))
}

/// Returns the share over all builds of a boot, so that a build with no events does not distort a mean of shares.
fn share(boot: &Boot, part: &[&str], rest: &[&str]) -> Option<f64> {
    let sum = |names: &[&str]| boot.builds().iter().map(|build| build.grew(names)).sum::<Option<f64>>();
    percent(sum(part)?, sum(rest)?)
}

const ALL_MIGRATE: &[&str] = &["compact_migrate_scanned"];
const ALL_FREE: &[&str] = &["compact_free_scanned"];
const DAEMON_MIGRATE: &[&str] = &["compact_daemon_migrate_scanned"];
const DAEMON_FREE: &[&str] = &["compact_daemon_free_scanned"];

/// Returns the function that computes a row of the proposal's table from a boot.
fn by_name(name: &str) -> fn(&Boot) -> Option<f64> {
    match name {
        "Hugealloc Time mean" => |boot| mean(boot, |build| build.huge("mean_us")),
        "Hugealloc Time stddev" => |boot| mean(boot, |build| Some(build.huge("variance")?.sqrt())),
        "Kbuild Real time" => |boot| mean(boot, |build| build.seconds("real_ms")),
        "Kbuild User time" => |boot| mean(boot, |build| build.seconds("user_ms")),
        "Kbuild System time" => |boot| mean(boot, |build| build.seconds("system_ms")),
        "THP fault alloc" => |boot| mean(boot, |build| build.grew(&["thp_fault_alloc"])),
        "THP fault fallback" => |boot| mean(boot, |build| build.grew(&["thp_fault_fallback"])),
        "THP fault fail rate %" => |boot| share(boot, &["thp_fault_fallback"], &["thp_fault_alloc"]),
        "Pagealloc fallback" => |boot| mean(boot, |build| build.count("fallbacks")),
        "Pagealloc type mismatch" => |boot| mean(boot, |build| build.count("mismatches")),
        "Direct compact stall" => |boot| mean(boot, |build| build.grew(&["compact_stall"])),
        "Direct compact fail" => |boot| mean(boot, |build| build.grew(&["compact_fail"])),
        "Direct compact success" => |boot| mean(boot, |build| build.grew(&["compact_success"])),
        "Direct compact success rate %" => |boot| share(boot, &["compact_success"], &["compact_fail"]),
        "Compact daemon scanned migrate" => |boot| mean(boot, |build| build.grew(DAEMON_MIGRATE)),
        "Compact daemon scanned free" => |boot| mean(boot, |build| build.grew(DAEMON_FREE)),
        "Compact direct scanned migrate" => |boot| mean(boot, direct_migrate),
        "Compact direct scanned free" => |boot| mean(boot, direct_free),
        "Compact migrate scanned daemon %" => {
            |boot| percent(mean(boot, |build| build.grew(DAEMON_MIGRATE))?, mean(boot, direct_migrate)?)
        }
        "Compact free scanned daemon %" => {
            |boot| percent(mean(boot, |build| build.grew(DAEMON_FREE))?, mean(boot, direct_free)?)
        }
        "Compact total migrate scanned" => |boot| mean(boot, |build| build.grew(ALL_MIGRATE)),
        "Compact total free scanned" => |boot| mean(boot, |build| build.grew(ALL_FREE)),
        "Alloc stall" => |boot| mean(boot, |build| build.grew(&["allocstall*"])),
        "Pages kswapd scanned" => |boot| mean(boot, |build| build.grew(&["pgscan_kswapd"])),
        "Pages kswapd reclaimed" => |boot| mean(boot, |build| build.grew(&["pgsteal_kswapd"])),
        "Pages direct scanned" => |boot| mean(boot, |build| build.grew(&["pgscan_direct"])),
        "Pages direct reclaimed" => |boot| mean(boot, |build| build.grew(&["pgsteal_direct"])),
        "Pages total scanned" => |boot| mean(boot, |build| build.grew(&["pgscan_kswapd", "pgscan_direct"])),
        "Pages scanned kswapd %" => |boot| share(boot, &["pgscan_kswapd"], &["pgscan_direct"]),
        "Swap out" => |boot| mean(boot, |build| build.grew(&["pswpout"])),
        "Swap in" => |boot| mean(boot, |build| build.grew(&["pswpin"])),
        "File refaults" => |boot| mean(boot, |build| build.grew(&["workingset_refault_file"])),
        _ => |_| None,
    }
}

fn direct_migrate(build: &Build<'_>) -> Option<f64> {
    Some(build.grew(ALL_MIGRATE)? - build.grew(DAEMON_MIGRATE)?)
}

fn direct_free(build: &Build<'_>) -> Option<f64> {
    Some(build.grew(ALL_FREE)? - build.grew(DAEMON_FREE)?)
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::two_builds;
    use super::*;

    /// Returns every `/proc/vmstat` counter that the rows need; one of them grew by `by`.
    fn grown(counter: &str, by: u64) -> Boot {
        let names = [
            "thp_fault_alloc",
            "thp_fault_fallback",
            "compact_stall",
            "compact_fail",
            "compact_success",
            "compact_migrate_scanned",
            "compact_free_scanned",
            "compact_daemon_migrate_scanned",
            "compact_daemon_free_scanned",
            "allocstall_movable",
            "pgscan_kswapd",
            "pgsteal_kswapd",
            "pgscan_direct",
            "pgsteal_direct",
            "pswpout",
            "pswpin",
            "workingset_refault_file",
        ];
        let mut boot = two_builds();
        for object in &mut boot.0 {
            let is_after = object["phase"].as_str().is_some_and(|phase| phase.starts_with("after"));
            if let Some(vmstat) = object.get_mut("vmstat").and_then(serde_json::Value::as_object_mut) {
                vmstat.clear();
                for name in names {
                    let more = if is_after && name == counter { by } else { 0 };
                    vmstat.insert(name.to_owned(), (100 + more).into());
                }
            }
        }
        boot
    }

    #[test]
    fn every_row_of_the_hygiene_proposal_is_taken_from_its_own_counter() {
        let value = |boot: &Boot, name: &str| by_name(name)(boot);
        for (counter, name) in [
            ("thp_fault_alloc", "THP fault alloc"),
            ("thp_fault_fallback", "THP fault fallback"),
            ("compact_stall", "Direct compact stall"),
            ("compact_daemon_free_scanned", "Compact daemon scanned free"),
            ("compact_free_scanned", "Compact direct scanned free"),
            ("allocstall_movable", "Alloc stall"),
            ("pgsteal_kswapd", "Pages kswapd reclaimed"),
            ("pgsteal_direct", "Pages direct reclaimed"),
            ("pgscan_direct", "Pages total scanned"),
            ("pswpin", "Swap in"),
            ("workingset_refault_file", "File refaults"),
        ] {
            assert_eq!(value(&grown(counter, 7), name), Some(7.0), "{name}");
            assert_eq!(value(&grown("", 7), name), Some(0.0), "{name}");
        }
        let all_failed = grown("thp_fault_fallback", 5);
        assert_eq!(value(&all_failed, "THP fault fail rate %"), Some(100.0));
        assert_eq!(value(&grown("", 0), "THP fault fail rate %"), None, "there is no share of zero events");
        assert_eq!(value(&two_builds(), "Kbuild Real time"), Some(1.0));
        assert_eq!(value(&two_builds(), "Pagealloc type mismatch"), Some(5.0));
    }

    #[test]
    fn no_row_of_the_hygiene_proposal_is_forgotten() {
        let mut boot = grown("", 0);
        for object in &mut boot.0 {
            if let Some(vmstat) = object.get_mut("vmstat").and_then(serde_json::Value::as_object_mut)
                && vmstat["pswpout"] == 100
            {
                vmstat.values_mut().for_each(|value| *value = 100.into());
            }
            if object.get("timed").is_some() {
                object["user_ms"] = 1.into();
                object["system_ms"] = 1.into();
            }
            if object.get("huge_batches").is_some() {
                object["variance"] = 4.into();
            }
            if object.get("counts").is_some() {
                object["counts"]["fallbacks"] = 1.into();
            }
        }
        let shares = ["THP fault fail rate %", "Direct compact success rate %", "Pages scanned kswapd %"];
        for row in hygiene() {
            let is_share = shares.contains(&row.name) || row.name.ends_with("daemon %");
            assert_eq!((row.here)(&boot).is_some(), !is_share, "{}", row.name);
        }
    }
}
