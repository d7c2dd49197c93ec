//! Samples of real kernels' files, against numbers read from the same files by other means.

use freehold::Migratetype;
use freehold_linux::pageblocks::pageblock_order;
use freehold_linux::procfs::{Occupancy, snapshot};
use freehold_linux::sample::Sample;
use freehold_linux::sensor::{Source, ZoneFreeBlocks};
use freehold_trace::{FrameUse, KernelType};

use crate::roots::{file, root, sample, sampler};

/// A fixture, and what is known of its machine from how it was started.
struct Kernel {
    folder: &'static str,
    release: &'static str,
    cpus: u32,
    memory_mib: u64,
    zones: &'static [(u32, &'static str)],
    has_cma: bool,
    /// Counts that end at the cap.
    capped: usize,
    page_kib: u64,
    /// The largest order, and that of a pageblock.
    orders: (u8, u8),
}

const fn kernel(folder: &'static str, release: &'static str, memory_mib: u64) -> Kernel {
    let zones = &[(0, "DMA"), (0, "DMA32")];
    Kernel {
        folder,
        release,
        cpus: 2,
        memory_mib,
        zones,
        has_cma: false,
        capped: 0,
        page_kib: 4,
        orders: (10, 9),
    }
}

const TWO_NODES: &[(u32, &str)] = &[(0, "DMA"), (0, "DMA32"), (1, "DMA32")];

const KERNELS: [Kernel; 16] = [
    kernel("linux-4.19", "4.19.0", 512),
    kernel("linux-5.10", "5.10.0-46-amd64", 512),
    Kernel { zones: TWO_NODES, ..kernel("linux-5.10-numa", "5.10.0-46-amd64", 640) },
    kernel("linux-6.1", "6.1.0-50-amd64", 128),
    Kernel { capped: 1, ..kernel("linux-6.1-capped", "6.1.0-50-amd64", 1536) },
    kernel("linux-6.12", "6.12.107+deb13-amd64", 512),
    Kernel {
        cpus: 4,
        zones: &[(0, "DMA"), (0, "DMA32"), (1, "DMA32"), (3, "Movable")],
        ..kernel("linux-6.12-numa", "6.12.107+deb13-amd64", 896)
    },
    Kernel {
        zones: &[(0, "DMA"), (0, "DMA32"), (0, "Movable")],
        ..kernel("linux-6.12-isolate", "6.12.107+deb13-amd64", 1024)
    },
    Kernel { zones: &[(0, "DMA")], has_cma: true, ..kernel("linux-6.12-arm64", "6.12.107+deb13-arm64", 640) },
    Kernel {
        zones: &[(0, "DMA"), (1, "DMA")],
        has_cma: true,
        ..kernel("linux-6.12-arm64-numa", "6.12.117+deb13-arm64", 640)
    },
    Kernel {
        zones: &[(0, "DMA")],
        has_cma: true,
        page_kib: 16,
        orders: (11, 11),
        ..kernel("linux-6.12-arm64-16k", "6.12.117+deb13-arm64-16k", 512)
    },
    Kernel {
        zones: &[(0, "Normal")],
        has_cma: true,
        page_kib: 64,
        orders: (13, 13),
        ..kernel("linux-6.12-arm64-64k", "6.12.117", 3072)
    },
    Kernel {
        zones: &[(0, "Normal")],
        has_cma: true,
        orders: (13, 9),
        ..kernel("linux-6.12-arm64-order13", "6.12.117", 512)
    },
    Kernel {
        zones: &[(0, "DMA")],
        has_cma: true,
        page_kib: 16,
        orders: (11, 11),
        ..kernel("linux-6.18-arm64-16k", "6.18.15+deb13-arm64-16k", 1024)
    },
    Kernel { has_cma: true, ..kernel("linux-7.3", "7.3.4+deb13-amd64", 192) },
    Kernel { zones: TWO_NODES, has_cma: true, ..kernel("linux-7.3-cma-numa", "7.3.4+deb13-amd64", 768) },
];

#[test]
fn machines_are_known() {
    for Kernel { folder, release, cpus, memory_mib, page_kib, .. } in KERNELS {
        let sampler = sampler(&root(folder));
        let machine = sampler.machine();
        assert_eq!((machine.kernel_release.as_str(), machine.cpus), (release, cpus), "{folder}");
        assert_eq!(machine.page_bytes, page_kib << 10, "{folder}");
        let mib = machine.memory_bytes >> 20;
        assert!((memory_mib * 6 / 10..memory_mib).contains(&mib), "{folder}: {mib} MiB");
    }
}

#[test]
fn zones_and_types_are_those_of_the_machine() {
    for Kernel { folder, zones, has_cma, orders: (largest, pageblock), .. } in KERNELS {
        let sample = sample(folder);
        let free: Vec<_> = sample.free.zones.iter().map(|zone| (zone.node, zone.name.as_str())).collect();
        let known: Vec<_> = sample.zones.iter().map(|zone| (zone.node, zone.name.as_str())).collect();
        assert_eq!((free.as_slice(), known.as_slice()), (zones, zones), "{folder}");
        assert_eq!(sample.free.source, Source::Pagetypeinfo, "{folder}");
        assert_eq!(sample.free.pageblock_order, Some(pageblock), "{folder}");
        let without = crate::roots::copy(folder);
        std::fs::remove_file(without.path().join("proc/pagetypeinfo")).unwrap();
        assert_eq!(pageblock_order(without.path()), pageblock, "{folder}: without pagetypeinfo");
        let orders = sample.free.zones.iter().map(|zone| zone.total.largest().get());
        assert!(orders.clone().all(|order| order == largest), "{folder}: {:?}", orders.collect::<Vec<_>>());
        let types: Vec<_> = sample.free.types.iter().map(KernelType::name).collect();
        let without = ["Unmovable", "Movable", "Reclaimable", "HighAtomic", "Isolate"];
        let with = ["Unmovable", "Movable", "Reclaimable", "HighAtomic", "CMA", "Isolate"];
        assert_eq!(types, if has_cma { with.as_slice() } else { without.as_slice() }, "{folder}");
    }
}

/// The numbers of each row of buddyinfo.
fn buddyinfo(folder: &str) -> Vec<Vec<u64>> {
    let text = file(folder, "proc/buddyinfo");
    text.lines().map(|row| row.split_whitespace().skip(4).map(|n| n.parse().unwrap()).collect()).collect()
}

#[test]
fn totals_are_those_of_buddyinfo() {
    for Kernel { folder, capped, .. } in KERNELS {
        let sample = sample(folder);
        let mut caps = 0;
        for (zone, expected) in sample.free.zones.iter().zip(buddyinfo(folder)) {
            for (order, (total, expected)) in zone.total.iter().zip(expected).enumerate() {
                let at = format!("{folder}: {} {} order {order}", zone.node, zone.name);
                caps += usize::from(total.capped);
                if total.capped {
                    assert!((100_000..expected).contains(&total.blocks), "{at}");
                } else {
                    assert_eq!(total.blocks, expected, "{at}");
                }
            }
        }
        assert_eq!(caps, capped, "{folder}");
        assert_eq!(file(folder, "proc/pagetypeinfo").matches('>').count(), capped, "{folder}");
    }
}

/// How far the kernel's count of a zone's free pages may be off, by its own word.
fn drift(folder: &str, cpus: u32) -> u64 {
    let text = file(folder, "proc/zoneinfo");
    let thresholds = text.lines().filter_map(|row| row.trim().strip_prefix("vm stats threshold: "));
    thresholds.map(|n| n.parse::<u64>().unwrap()).max().unwrap() * u64::from(cpus)
}

fn isolated_pages(zone: &ZoneFreeBlocks) -> u64 {
    let isolated = zone.by_type.as_ref().unwrap()[Migratetype::Isolate.index()];
    isolated.iter().enumerate().map(|(order, count)| count.blocks << order).sum()
}

#[test]
fn free_pages_are_those_of_zoneinfo() {
    for Kernel { folder, cpus, capped, orders: (_, pageblock), .. } in KERNELS {
        let sample = sample(folder);
        for (blocks, known) in sample.free.zones.iter().zip(&sample.zones) {
            // Blocks being isolated are on free lists and not in the kernel's count of free pages.
            let free = blocks.free_pages() - isolated_pages(blocks);
            let at = format!("{folder}: {} {}: {free} and {}", known.node, known.name, known.free);
            let close = free.abs_diff(known.free) <= drift(folder, cpus);
            assert!(close || (capped > 0 && free < known.free), "{at}");
            assert!(known.free <= known.managed && known.managed <= known.present, "{at}");
            assert!(known.present <= known.spanned && known.pagesets.len() == cpus as usize, "{at}");
            let pageblocks: u64 = blocks.pageblocks.as_ref().unwrap().iter().sum();
            let pages = 1_u64 << pageblock;
            assert!(pageblocks * pages >= known.present && (pageblocks - 1) * pages <= known.spanned, "{at}");
        }
    }
}

#[test]
fn counters_and_pressure_are_there() {
    for Kernel { folder, .. } in KERNELS {
        let Sample { counters, pressure, notes, .. } = sample(folder);
        let rows = file(folder, "proc/vmstat").lines().count();
        assert!(counters.len() == rows && counters["pgfree"] > 0, "{folder}");
        assert_eq!(pressure.is_some(), folder != "linux-4.19", "{folder}");
        let named = notes.iter().filter(|note| note.contains("proc/pressure/memory")).count();
        assert_eq!((notes.len(), named), if pressure.is_some() { (1, 0) } else { (2, 1) }, "{notes:?}");
    }
}

#[test]
fn isolated_blocks_are_seen() {
    let sample = sample("linux-6.12-isolate");
    let movable = &sample.free.zones[2];
    assert_eq!(movable.pageblocks.as_ref().unwrap()[Migratetype::Isolate.index()], 64);
    assert_eq!(isolated_pages(movable), 64 * 512 - 1, "all but the pinned page");
}

#[test]
fn a_node_without_memory_has_no_zone() {
    assert!(file("linux-6.12-numa", "proc/zoneinfo").contains("Node 2, zone"));
    assert!(sample("linux-6.12-numa").zones.iter().all(|zone| zone.node != 2));
}

#[test]
fn occupancy_agrees_with_free_blocks() {
    for folder in
        ["linux-6.1", "linux-6.12-arm64-16k", "linux-6.12-arm64-64k", "linux-6.12-arm64-order13", "linux-7.3"]
    {
        let snapshot = snapshot(&root(folder), Occupancy::Read).unwrap();
        let pages_of = |used_for| {
            let runs = snapshot.occupancy.iter().filter(|run| run.used_for == used_for);
            runs.map(|run| run.pages).sum::<u64>()
        };
        let free: u64 = snapshot.zones.iter().map(|zone| zone.free).sum();
        let managed: u64 = snapshot.zones.iter().map(|zone| zone.managed).sum();
        let spanned: u64 = snapshot.zones.iter().map(|zone| zone.spanned).sum();
        let seen = pages_of(FrameUse::Free);
        let page_kib = KERNELS.iter().find(|kernel| kernel.folder == folder).expect("a fixture").page_kib;
        // What the copying itself took and gave back between the two files, and the pages of the copy.
        let copy = std::fs::metadata(root(folder).join("proc/kpageflags")).expect("the copy").len();
        assert!(seen.abs_diff(free) < 512 + copy / (page_kib << 10), "{folder}: {seen} and {free}");
        assert!(pages_of(FrameUse::Slab) * page_kib > 2000 && pages_of(FrameUse::Movable) > 0, "{folder}");
        let absent = pages_of(FrameUse::Absent);
        assert!(absent.abs_diff(spanned - managed) < 512, "{folder}: {absent} of {spanned} - {managed}");
    }
}
