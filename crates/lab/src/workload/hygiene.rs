//! The table of the hygiene series: a workload without hygiene and with it.

use std::thread;

use freehold::{Switch, VmEvents};
use freehold_measure::{Cell, Table};
use serde::Serialize;

use super::host::{Host, on_a_host};
use super::hygiene_seed::{
    MISMATCHES_PATCHED, MISMATCHES_VANILLA, STEALS_PATCHED, STEALS_VANILLA, SeedRow, TABLE,
};
use super::load::Load;
use super::memcache_kbuild_thp::MemcacheKbuildThp;
use super::plan::Plan;
use crate::error::LabError;
use crate::replay::Variant;

/// The workload `memcache-kbuild-thp` without hygiene and with it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Hygiene {
    /// Without hygiene, and with it.
    pub sides: [HygieneSide; 2],
}

/// The run without hygiene, or the one with it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HygieneSide {
    /// The era, and the switches that differ from it.
    pub variant: String,
    /// What happened during each build.
    pub builds: Vec<Build>,
    /// Mean of the frames that a huge page fault scanned or reclaimed by itself.
    pub huge_work_mean: f64,
    /// Their standard deviation.
    pub huge_work_stddev: f64,
}

/// What happened during one build.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Build {
    /// Requests, or parts of refills, answered from the free lists of another type.
    pub fallbacks: u64,
    /// Requests answered from a pageblock of another type.
    pub mismatches: u64,
    /// Huge page faults that got a huge page.
    pub thp_fault_alloc: u64,
    /// Huge page faults that got small pages.
    pub thp_fault_fallback: u64,
    /// Pages swapped out.
    pub pswpout: u64,
    /// Pages swapped in.
    pub pswpin: u64,
    /// Page cache pages that were read again after reclaim.
    pub refaults: u64,
    /// What reclaim and compaction did.
    pub vm: VmEvents,
}

impl Hygiene {
    /// Runs the workload of a plan without hygiene and with it, all else equal.
    ///
    /// # Errors
    /// As [`Plan::check`].
    pub fn measure(plan: &Plan) -> Result<Self, LabError> {
        plan.check()?;
        let era = plan.variant.era;
        let own = era.switches().hygiene;
        let (without, with) = if own {
            (Variant::new(era).without(Switch::Hygiene), Variant::new(era))
        } else {
            (Variant::new(era), Variant::new(era).with(Switch::Hygiene))
        };
        let [without, with] = [without, with].map(|variant| Plan { variant, ..plan.clone() });
        thread::scope(|scope| {
            let beside = scope.spawn(|| side(&with));
            let without = side(&without)?;
            let with = beside.join().map_err(|_| LabError::Stopped)??;
            Ok(Self { sides: [without, with] })
        })
    }

    /// Returns the series' table: for each row its figures, and ours.
    ///
    /// Ours are means over the builds. Rows that are not modelled are empty.
    pub fn table(&self) -> Table {
        let [without, with] = &self.sides;
        let columns = ["series, vanilla", "patched", "%", &without.variant, &with.variant, "%"];
        let title = format!("memcache-kbuild-thp, means over {} builds", without.builds.len());
        let mut table = Table::new(title, columns.map(str::to_owned).to_vec());
        for seed in &TABLE {
            let row = Measured::of(seed);
            let ours = self.sides.each_ref().map(|side| row.mean(side));
            let change = ours[0].zip(ours[1]).filter(|(from, _)| *from != 0.0);
            let change = change.map(|(from, to)| (to - from) * 100.0 / from);
            let cells =
                [Some(seed.figures[0]), Some(seed.figures[1]), Some(seed.change), ours[0], ours[1], change];
            let cells = cells.into_iter().map(|cell| cell.map_or(Cell::Empty, Cell::Real));
            table.push("", seed.name, row.unit, cells.collect());
        }
        table
    }

    /// Returns steals and mismatches of each build, beside the series' own.
    pub fn series(&self) -> Table {
        let [without, with] = &self.sides;
        let columns: Vec<_> = ["steals", "mismatches"]
            .into_iter()
            .flat_map(|what| {
                ["series, vanilla", "patched", &without.variant, &with.variant]
                    .map(|side| format!("{what}: {side}"))
            })
            .collect();
        let mut table = Table::new("Build by build", columns);
        for (number, (a, b)) in without.builds.iter().zip(&with.builds).enumerate() {
            let seed =
                |figures: &[u64]| figures.get(number).map_or(Cell::Empty, |&figure| Cell::Count(figure));
            let steals = [seed(&STEALS_VANILLA), seed(&STEALS_PATCHED)];
            let mismatches = [seed(&MISMATCHES_VANILLA), seed(&MISMATCHES_PATCHED)];
            let ours = |of: fn(&Build) -> u64| [a, b].map(|build| Cell::Count(of(build)));
            let cells = steals
                .into_iter()
                .chain(ours(|build| build.fallbacks))
                .chain(mismatches)
                .chain(ours(|build| build.mismatches));
            table.push("", &format!("build {}", number + 1), "", cells.collect());
        }
        table
    }

    /// Returns the two tables and the data they were made of, as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "table": self.table().to_json(),
            "series": self.series().to_json(),
            "sides": serde_json::to_value(&self.sides).unwrap_or_default(),
        })
    }
}

fn side(plan: &Plan) -> Result<HygieneSide, LabError> {
    on_a_host(&plan.ground(), |mut host| {
        let mut load = MemcacheKbuildThp::new(plan.builds);
        load.settle(&mut host);
        let mut builds = Vec::new();
        let mut before = so_far(&host);
        while !load.is_done() {
            load.step(&mut host);
            if load.built() > builds.len() as u64 {
                let now = so_far(&host);
                builds.push(now.since(&before));
                before = now;
            }
        }
        host.check(&plan.variant)?;
        let (huge_work_mean, huge_work_stddev) = host.huge_work.mean_and_stddev();
        Ok(HygieneSide { variant: plan.variant.to_string(), builds, huge_work_mean, huge_work_stddev })
    })
}

/// Returns the counters since the machine started.
fn so_far(host: &Host<'_, '_>) -> Build {
    let zones = host.memory.zone_stats();
    let counter = |name| host.counters.get(name);
    Build {
        fallbacks: zones.claims + zones.steals,
        mismatches: host.memory.request_stats().type_mismatches,
        thp_fault_alloc: counter("thp_fault_alloc"),
        thp_fault_fallback: counter("thp_fault_fallback"),
        pswpout: counter("pswpout"),
        pswpin: counter("pswpin"),
        refaults: counter("workingset_refault_file"),
        vm: host.memory.vm_events(),
    }
}

impl Build {
    fn since(&self, before: &Self) -> Self {
        let (now, then) = (&self.vm, &before.vm);
        let vm = VmEvents {
            allocstall: now.allocstall - then.allocstall,
            pgscan_kswapd: now.pgscan_kswapd - then.pgscan_kswapd,
            pgscan_direct: now.pgscan_direct - then.pgscan_direct,
            pgsteal_kswapd: now.pgsteal_kswapd - then.pgsteal_kswapd,
            pgsteal_direct: now.pgsteal_direct - then.pgsteal_direct,
            pageoutrun: now.pageoutrun - then.pageoutrun,
            compact_stall: now.compact_stall - then.compact_stall,
            compact_fail: now.compact_fail - then.compact_fail,
            compact_success: now.compact_success - then.compact_success,
            compact_migrate_scanned: now.compact_migrate_scanned - then.compact_migrate_scanned,
            compact_free_scanned: now.compact_free_scanned - then.compact_free_scanned,
            compact_isolated: now.compact_isolated - then.compact_isolated,
            compact_daemon_wake: now.compact_daemon_wake - then.compact_daemon_wake,
            compact_daemon_migrate_scanned: now.compact_daemon_migrate_scanned
                - then.compact_daemon_migrate_scanned,
            compact_daemon_free_scanned: now.compact_daemon_free_scanned - then.compact_daemon_free_scanned,
            pgmigrate_success: now.pgmigrate_success - then.pgmigrate_success,
            pgmigrate_fail: now.pgmigrate_fail - then.pgmigrate_fail,
        };
        Self {
            fallbacks: self.fallbacks - before.fallbacks,
            mismatches: self.mismatches - before.mismatches,
            thp_fault_alloc: self.thp_fault_alloc - before.thp_fault_alloc,
            thp_fault_fallback: self.thp_fault_fallback - before.thp_fault_fallback,
            pswpout: self.pswpout - before.pswpout,
            pswpin: self.pswpin - before.pswpin,
            refaults: self.refaults - before.refaults,
            vm,
        }
    }
}

/// Our figure for a row of the series.
struct Measured {
    unit: &'static str,
    of: Of,
}

enum Of {
    /// A figure of each build; `None` for a build that has none.
    Build(fn(&Build) -> Option<f64>),
    Side(fn(&HygieneSide) -> f64),
    NotModelled,
}

impl Measured {
    fn of(seed: &SeedRow) -> Self {
        let (unit, of) = measured(seed.name);
        Self { unit, of }
    }

    fn mean(&self, side: &HygieneSide) -> Option<f64> {
        match self.of {
            Of::Side(of) => Some(of(side)),
            Of::NotModelled => None,
            Of::Build(of) => {
                let values: Vec<_> = side.builds.iter().filter_map(of).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            }
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "one of the cells that may be empty")]
fn number(value: u64) -> Option<f64> {
    Some(value as f64)
}

/// Returns `part` in percent of `part + rest`; `None` if both are 0.
fn percent(part: u64, rest: u64) -> Option<f64> {
    (part + rest > 0).then(|| part as f64 * 100.0 / (part + rest) as f64)
}

fn measured(name: &str) -> (&'static str, Of) {
    use Of::{Build, NotModelled, Side};
    match name {
        "Hugealloc Time mean" => ("here: frames looked at", Side(|side| side.huge_work_mean)),
        "Hugealloc Time stddev" => ("here: frames looked at", Side(|side| side.huge_work_stddev)),
        "THP fault alloc" => ("", Build(|b| number(b.thp_fault_alloc))),
        "THP fault fallback" => ("", Build(|b| number(b.thp_fault_fallback))),
        "THP fault fail rate %" => ("", Build(|b| percent(b.thp_fault_fallback, b.thp_fault_alloc))),
        "Pagealloc fallback" => ("", Build(|b| number(b.fallbacks))),
        "Pagealloc type mismatch" => ("", Build(|b| number(b.mismatches))),
        "Direct compact stall" => ("", Build(|b| number(b.vm.compact_stall))),
        "Direct compact fail" => ("", Build(|b| number(b.vm.compact_fail))),
        "Direct compact success" => ("", Build(|b| number(b.vm.compact_success))),
        "Direct compact success rate %" => ("", Build(|b| percent(b.vm.compact_success, b.vm.compact_fail))),
        "Compact daemon scanned migrate" => ("", Build(|b| number(b.vm.compact_daemon_migrate_scanned))),
        "Compact daemon scanned free" => ("", Build(|b| number(b.vm.compact_daemon_free_scanned))),
        "Compact direct scanned migrate" => ("", Build(|b| number(direct_migrate(b)))),
        "Compact direct scanned free" => ("", Build(|b| number(direct_free(b)))),
        "Compact migrate scanned daemon %" => {
            ("", Build(|b| percent(b.vm.compact_daemon_migrate_scanned, direct_migrate(b))))
        }
        "Compact free scanned daemon %" => {
            ("", Build(|b| percent(b.vm.compact_daemon_free_scanned, direct_free(b))))
        }
        "Compact total migrate scanned" => ("", Build(|b| number(b.vm.compact_migrate_scanned))),
        "Compact total free scanned" => ("", Build(|b| number(b.vm.compact_free_scanned))),
        "Alloc stall" => ("", Build(|b| number(b.vm.allocstall))),
        "Pages kswapd scanned" => ("", Build(|b| number(b.vm.pgscan_kswapd))),
        "Pages kswapd reclaimed" => ("", Build(|b| number(b.vm.pgsteal_kswapd))),
        "Pages direct scanned" => ("", Build(|b| number(b.vm.pgscan_direct))),
        "Pages direct reclaimed" => ("", Build(|b| number(b.vm.pgsteal_direct))),
        "Pages total scanned" => ("", Build(|b| number(b.vm.pgscan_kswapd + b.vm.pgscan_direct))),
        "Pages scanned kswapd %" => ("", Build(|b| percent(b.vm.pgscan_kswapd, b.vm.pgscan_direct))),
        "Swap out" => ("", Build(|b| number(b.pswpout))),
        "Swap in" => ("", Build(|b| number(b.pswpin))),
        "File refaults" => ("", Build(|b| number(b.refaults))),
        // Kbuild times.
        _ => ("no processor is modelled", NotModelled),
    }
}

fn direct_migrate(build: &Build) -> u64 {
    build.vm.compact_migrate_scanned - build.vm.compact_daemon_migrate_scanned
}

fn direct_free(build: &Build) -> u64 {
    build.vm.compact_free_scanned - build.vm.compact_daemon_free_scanned
}
