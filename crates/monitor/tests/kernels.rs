//! The model of real kernels' files against the kernel's own indices and texts, and of numbers that no
//! machine has.

use std::fs;
use std::path::{Path, PathBuf};

use freehold_linux::procfs::Machine;
use freehold_linux::sample::{Sample, Sampler};
use freehold_linux::sensor::Choice;
use freehold_monitor::model::{Model, ZoneModel};
use freehold_monitor::series::Monitor;
use freehold_monitor::text::{Cap, Part, buddyinfo, pagetypeinfo};
use freehold_trace::FreeCount;

/// Roots of machines whose kernel gave its indices, too.
const KERNELS: [&str; 15] = [
    "linux-5.10",
    "linux-5.10-numa",
    "linux-6.1",
    "linux-6.1-capped",
    "linux-6.12",
    "linux-6.12-arm64",
    "linux-6.12-arm64-16k",
    "linux-6.12-arm64-64k",
    "linux-6.12-arm64-numa",
    "linux-6.12-arm64-order13",
    "linux-6.12-isolate",
    "linux-6.12-numa",
    "linux-6.18-arm64-16k",
    "linux-7.3",
    "linux-7.3-cma-numa",
];

fn root(kernel: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures").join(kernel)
}

fn sample(kernel: &str) -> (Machine, Sample) {
    let mut sampler = Sampler::open(&root(kernel), Choice::Procfs).unwrap();
    let sample = sampler.sample().unwrap();
    (sampler.machine().clone(), sample)
}

fn is_capped(zone: &ZoneModel) -> bool {
    zone.free.iter().any(|count| count.capped)
}

/// The rows of one of the kernel's files of indices: zones with a number for each order.
fn rows(kernel: &str, name: &str) -> Vec<(String, Vec<f64>)> {
    let text = fs::read_to_string(root(kernel).join("sys/kernel/debug/extfrag").join(name)).unwrap();
    let row = |row: &str| {
        let words: Vec<_> = row.split_whitespace().collect();
        (words[..4].join(" "), words[4..].iter().map(|n| n.parse().unwrap()).collect())
    };
    text.lines().map(row).collect()
}

#[test]
fn indices_are_the_kernels_own() {
    let mut fragmented = 0;
    for kernel in KERNELS {
        let (machine, now) = sample(kernel);
        let model = Model::new(&machine, None, &now);
        let (unusable, extfrag) = (rows(kernel, "unusable_index"), rows(kernel, "extfrag_index"));
        assert_eq!([model.zones.len(); 2], [unusable.len(), extfrag.len()], "{kernel}");
        for ((zone, unusable), extfrag) in model.zones.iter().zip(unusable).zip(extfrag) {
            assert_eq!([&zone.title(); 2], [&unusable.0, &extfrag.0], "{kernel}");
            if is_capped(zone) {
                continue;
            }
            for (order, (unusable, extfrag)) in unusable.1.into_iter().zip(extfrag.1).enumerate() {
                let at = format!("{kernel}: {} order {order}", zone.title());
                assert!((zone.unusable_index[order] - unusable).abs() < 1e-9, "{at}: {unusable}");
                assert!(
                    (zone.extfrag_index[order].unwrap_or(-1.0) - extfrag).abs() < 1e-9,
                    "{at}: {extfrag}"
                );
                fragmented += usize::from(unusable > 0.0);
            }
        }
    }
    assert!(fragmented > 50, "{fragmented} indices say something");
}

#[test]
fn texts_are_the_kernels_own() {
    for kernel in KERNELS {
        let (machine, now) = sample(kernel);
        let file = |name: &str| fs::read_to_string(root(kernel).join("proc").join(name)).unwrap();
        assert_eq!(
            pagetypeinfo(&now.free, Cap::Kernels, Part::Whole).unwrap(),
            file("pagetypeinfo"),
            "{kernel}"
        );
        if !Model::new(&machine, None, &now).zones.iter().any(is_capped) {
            assert_eq!(buddyinfo(&now.free), file("buddyinfo"), "{kernel}");
        }
    }
}

#[test]
fn numbers_that_no_machine_has_never_panic() {
    for blocks in [u64::MAX, u64::MAX / 2, 1 << 63, 1 << 53, 1 << 52] {
        for order in 0..11 {
            let (machine, first) = sample("linux-6.12-numa");
            let mut monitor = Monitor::new(machine);
            let mut second = first.clone();
            monitor.take(first);
            for zone in &mut second.free.zones {
                zone.total[order] = FreeCount { blocks, capped: false };
                zone.total[0] = zone.total[order];
                for counts in zone.by_type.iter_mut().flat_map(|types| types.iter_mut()) {
                    counts[order].blocks = blocks;
                }
            }
            for zone in &mut second.zones {
                (zone.free, zone.managed, zone.present, zone.watermark_min) =
                    (blocks, blocks, blocks, blocks);
                for set in &mut zone.pagesets {
                    set.count = blocks;
                }
            }
            second.counters.values_mut().for_each(|count| *count = blocks);
            second.unix_ms = blocks;
            let model = monitor.take(second);
            for zone in &model.zones {
                assert!(zone.unusable_index.iter().all(|share| (0.0..=1.0).contains(share)), "{zone:?}");
            }
        }
    }
}
