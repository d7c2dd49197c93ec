//! The BPF sensor against the machine that the tests run on. It needs root and the feature `bpf`; without
//! them each test says by name that it is skipped.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use freehold::Migratetype;
use freehold_linux::Error;
use freehold_linux::pageblocks::{Pace, Unflagged, UnmovableKind, pageblock_types, read_pageblocks};
use freehold_linux::procfs::{BuddyZone, STAT_REFRESH, read_buddyinfo, read_pagetypeinfo, read_zoneinfo};
use freehold_linux::sample::Sampler;
use freehold_linux::sensor::{BPF_BUILT, BpfError, BpfSensor, Choice, FreeBlocks, Ration, Sensor, Source};
use freehold_needs::{has_file, is_root, skip};
use freehold_trace::PageTypeInfo;
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};

/// One test at a time: each wants the machine quiet, or busy in its own way.
static MACHINE: Mutex<()> = Mutex::new(());

/// Bits of `/proc/kpageflags`.
const SLAB: u64 = 1 << 7;
const BUDDY: u64 = 1 << 10;
const ANON: u64 = 1 << 12;

const PAGE: u64 = 4096;

fn machine() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn root() -> &'static Path {
    Path::new("/")
}

/// A sensor; says by name that `test` is skipped where there can be none.
fn sensor(test: &str) -> Option<BpfSensor> {
    if !is_root(test) {
        return None;
    }
    let order = read_pagetypeinfo(root()).unwrap().pageblock_order;
    match BpfSensor::open(&read_zoneinfo(root()).unwrap(), Some(order)) {
        Ok(sensor) => Some(sensor),
        Err(
            error @ (BpfError::NotBuilt
            | BpfError::NoBtf { .. }
            | BpfError::NotPermitted { .. }
            | BpfError::Refused { .. }),
        ) => {
            skip(test, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A reading between two of `/proc/pagetypeinfo` that are the same; says that `test` is skipped where the
/// machine does not keep still.
fn quiet(test: &str, sensor: &mut BpfSensor) -> Option<(FreeBlocks, PageTypeInfo)> {
    for _ in 0..500 {
        let before = read_pagetypeinfo(root()).unwrap();
        let reading = sensor.read().unwrap();
        if read_pagetypeinfo(root()).unwrap() == before {
            return Some((reading, before));
        }
    }
    skip(test, "the machine is too busy to compare two readings");
    None
}

/// Free blocks of an order that may come and go during a reading without a word.
const NEAR: u64 = 1000;

/// A reading between two of `/proc/buddyinfo` that differ by less than [`NEAR`] blocks in each order, and
/// those two; says that `test` is skipped where the machine does not keep still.
fn with_near_totals(test: &str, sensor: &mut BpfSensor) -> Option<(FreeBlocks, [Vec<BuddyZone>; 2])> {
    for _ in 0..500 {
        let before = read_buddyinfo(root()).unwrap();
        let reading = sensor.read().unwrap();
        let after = read_buddyinfo(root()).unwrap();
        let near = |(zone, later): (&BuddyZone, &BuddyZone)| {
            zone.free.iter().zip(&later.free).all(|(one, other)| one.abs_diff(*other) < NEAR)
        };
        if before.iter().zip(&after).all(near) {
            return Some((reading, [before, after]));
        }
    }
    skip(test, "the machine is too busy to compare a reading with the totals");
    None
}

/// What holds for every reading: the types' numbers make up the total.
fn assert_sums(reading: &FreeBlocks) {
    for zone in &reading.zones {
        let by_type = zone.by_type.as_ref().unwrap();
        for order in 0..zone.total.len() {
            let sum: u64 = by_type.iter().map(|counts| counts[order].blocks).sum();
            assert_eq!(sum, zone.total[order].blocks, "{} order {order}", zone.name);
        }
    }
}

/// Everything in `reading` that the kernel's text tells exactly is the same there.
fn assert_equal(reading: &FreeBlocks, text: &PageTypeInfo) {
    assert_eq!(reading.types, text.types);
    for theirs in &text.zones {
        let zone = reading.zones.iter().find(|z| z.node == theirs.node && z.name == theirs.name).unwrap();
        let ours = zone.by_type.as_ref().unwrap();
        for kind in &reading.types {
            for order in 0..zone.total.len() {
                let (ours, theirs) = (ours[kind.index()][order], theirs.free[kind.index()][order]);
                let same = if theirs.capped { ours.blocks >= theirs.blocks } else { ours == theirs };
                assert!(same, "{} {kind} order {order}: {ours:?} and {theirs:?}", zone.name);
            }
        }
    }
}

/// A file in memory of `pages` pages, all written.
fn file_in_memory(pages: u64) -> File {
    let file = File::from(memfd_create("freehold-test", MemfdFlags::CLOEXEC).unwrap());
    let block = vec![1; 1 << 20];
    for at in (0..pages * PAGE).step_by(block.len()) {
        file.write_all_at(&block, at).unwrap();
    }
    file
}

fn available_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

fn flags(pfn: u64, count: usize) -> Vec<u64> {
    let mut bytes = vec![0; count * 8];
    let read = File::open("/proc/kpageflags").unwrap().read_at(&mut bytes, pfn * 8).unwrap_or(0);
    bytes[..read].chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn a_build_without_the_program_says_so() {
    if BPF_BUILT {
        return;
    }
    let error = BpfSensor::open(&[], None).unwrap_err();
    assert_eq!(error, BpfError::NotBuilt);
    assert!(error.to_string().contains("built without the bpf feature"));
}

#[test]
fn the_sensor_asks_bpf_first() {
    let _machine = machine();
    let folder = Sensor::open(Path::new("/nowhere"), Choice::Bpf, Ration::ByCost).map(|_| ());
    assert!(matches!(folder, Err(Error::Bpf(BpfError::NotBuilt | BpfError::NotLive { .. }))));
    if sensor("the_sensor_asks_bpf_first").is_some() {
        let mut sensor = Sensor::open(root(), Choice::Auto, Ration::ByCost).unwrap();
        assert_eq!(sensor.read().unwrap().source, Source::Bpf);
        assert_eq!(sensor.notes(), Vec::<String>::new());
    }
}

#[test]
fn counts_equal_pagetypeinfo() {
    let _machine = machine();
    let Some(mut sensor) = sensor("counts_equal_pagetypeinfo") else { return };
    let Some((reading, text)) = quiet("counts_equal_pagetypeinfo", &mut sensor) else { return };
    assert_eq!((reading.source, reading.pageblock_order), (Source::Bpf, Some(text.pageblock_order)));
    assert_sums(&reading);
    assert_equal(&reading, &text);
}

#[test]
fn pageblocks_by_type_are_those_of_pagetypeinfo() {
    let test = "pageblocks_by_type_are_those_of_pagetypeinfo";
    let _machine = machine();
    let Some(mut sensor) = sensor(test) else { return };
    for _ in 0..500 {
        let before = read_pagetypeinfo(root()).unwrap();
        let mut zones = sensor.read().unwrap().zones;
        sensor.count_pageblocks(&mut zones).unwrap();
        if read_pagetypeinfo(root()).unwrap() != before {
            continue;
        }
        for theirs in &before.zones {
            let zone = zones.iter().find(|z| z.node == theirs.node && z.name == theirs.name).unwrap();
            let ours =
                zone.pageblocks.as_ref().unwrap_or_else(|| panic!("zone {} has no numbers", zone.name));
            assert_eq!(*ours, theirs.blocks, "{}", zone.name);
        }
        return;
    }
    skip(test, "the machine is too busy to compare two readings");
}

#[test]
fn zones_that_are_not_the_kernels_are_refused() {
    let _machine = machine();
    if sensor("zones_that_are_not_the_kernels_are_refused").is_none() {
        return;
    }
    let zones = read_zoneinfo(root()).unwrap();
    let mut shifted = zones.clone();
    shifted.last_mut().unwrap().name = "Nowhere".to_owned();
    shifted.last_mut().unwrap().present = 1;
    assert!(matches!(BpfSensor::open(&shifted, None), Err(BpfError::NoZone { .. })));
    let mut longer = zones;
    longer[0].spanned += 1;
    assert!(matches!(BpfSensor::open(&longer, None), Err(BpfError::WrongZone { what: "spanned", .. })));
}

#[test]
fn long_lists_are_counted_to_their_end() {
    const TEST: &str = "long_lists_are_counted_to_their_end";
    const PAGES: u64 = 3 << 18;
    let _machine = machine();
    let Some(mut sensor) = sensor(TEST) else { return };
    if available_bytes() < 3 * PAGES * PAGE {
        return skip(TEST, "not enough memory");
    }
    let file = file_in_memory(PAGES);
    for page in (0..PAGES).step_by(2) {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&file, hole, page * PAGE, PAGE).unwrap();
    }
    // Since Linux 6.7 most of what was freed stays on CPUs' lists, and comes back by thousands of pages.
    for _ in 0..100 {
        let _ = std::fs::read(root().join(STAT_REFRESH));
    }
    let Some((reading, text)) = quiet(TEST, &mut sensor) else { return };
    assert_sums(&reading);
    assert_equal(&reading, &text);
    let Some((reading, [before, after])) = with_near_totals(TEST, &mut sensor) else { return };
    assert_sums(&reading);
    for (zone, after) in before.iter().zip(&after) {
        let ours = reading.zones.iter().find(|z| z.node == zone.node && z.name == zone.name).unwrap();
        assert_eq!(ours.total.len(), zone.free.len());
        for order in 0..zone.free.len() {
            let (one, other) = (zone.free[order], after.free[order]);
            let bounds = one.min(other).saturating_sub(NEAR)..=one.max(other) + NEAR;
            let blocks = ours.total[order].blocks;
            assert!(bounds.contains(&blocks), "{} order {order}: {blocks}, {bounds:?}", zone.name);
        }
    }
    let movable =
        |zone: usize| reading.zones[zone].by_type.as_ref().unwrap()[Migratetype::Movable.index()][0];
    let most = (0..reading.zones.len()).map(movable).max_by_key(|count| count.blocks).unwrap();
    assert!(!most.capped);
    if most.blocks <= 100_000 {
        skip(TEST, format!("the longest list has only {} blocks", most.blocks));
    }
}

#[test]
fn readings_of_a_busy_machine_stay_within_what_changed() {
    /// Pages that the busy thread takes and gives back.
    const PAGES: u64 = 1 << 14;
    let _machine = machine();
    let Some(mut sensor) = sensor("readings_of_a_busy_machine_stay_within_what_changed") else { return };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                drop(file_in_memory(PAGES));
            }
        });
        for _ in 0..500 {
            let before = read_buddyinfo(root()).unwrap();
            let reading = sensor.read().unwrap();
            let after = read_buddyinfo(root()).unwrap();
            assert_sums(&reading);
            for zone in &reading.zones {
                let is_it = |z: &&BuddyZone| z.node == zone.node && z.name == zone.name;
                let (before, after) = (before.iter().find(is_it).unwrap(), after.iter().find(is_it).unwrap());
                for order in 0..zone.total.len() {
                    let (one, other) = (before.free[order], after.free[order]);
                    let bounds = one.min(other).saturating_sub(2 * PAGES)..=one.max(other) + 2 * PAGES;
                    let blocks = zone.total[order].blocks;
                    assert!(bounds.contains(&blocks), "{} order {order}: {blocks}, {bounds:?}", zone.name);
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    println!("{} orders did not hold still in 500 readings", sensor.unsettled());
}

#[test]
fn ten_thousand_readings_in_a_row() {
    let _machine = machine();
    let Some(mut sensor) = sensor("ten_thousand_readings_in_a_row") else { return };
    for _ in 0..10_000 {
        assert_sums(&sensor.read().unwrap());
    }
}

#[test]
fn pageblocks_with_free_blocks_are_where_kpageflags_has_them() {
    const TEST: &str = "pageblocks_with_free_blocks_are_where_kpageflags_has_them";
    let _machine = machine();
    let Some(mut sensor) = sensor(TEST) else { return };
    let types = sensor.free_list_types().unwrap();
    let text = read_pagetypeinfo(root()).unwrap();
    let mut wrong = 0;
    let every = types.len().div_ceil(500);
    let largest = sensor.read().unwrap().zones[0].total.largest().get();
    let looked_at: Vec<_> = types.iter().step_by(every).collect();
    for (pageblock, _) in &looked_at {
        let pages = 1 << text.pageblock_order;
        // A block larger than a pageblock shows at its first page only.
        let begin = (pageblock * pages) & !((1 << largest) - 1);
        let end = (pageblock + 1) * pages;
        wrong += usize::from(!flags(begin, (end - begin) as usize).iter().any(|flags| flags & BUDDY != 0));
    }
    assert!(!looked_at.is_empty() && wrong * 20 < looked_at.len(), "{wrong} of {}", looked_at.len());
    for kind in [Migratetype::Unmovable, Migratetype::Movable] {
        assert!(types.iter().any(|(_, found)| *found == kind), "no pageblock of type {kind}");
    }
}

#[test]
fn samples_know_the_types_of_pageblocks() {
    const TEST: &str = "samples_know_the_types_of_pageblocks";
    let Some(mut sensor) = sensor(TEST) else { return };
    if !has_file("/proc/kpageflags", TEST) {
        return;
    }
    let mut sampler = Sampler::open(root(), Choice::Bpf).unwrap();
    sampler.survey_pageblocks(Pace::Watched);
    let surveyed = loop {
        let surveyed = sampler.sample().unwrap().pageblocks.expect("a survey");
        if surveyed.first_round.is_none() {
            break surveyed;
        }
        assert_eq!(surveyed.types, None, "types are of use once all pageblocks are known");
        thread::sleep(Duration::from_millis(500));
    };
    let known = surveyed.types.expect("the sensor tells them");
    let now = pageblock_types(sensor.free_list_types().unwrap(), &surveyed.map);
    let pairs = known.types.iter().flatten().zip(now.iter().flatten());
    let compared: Vec<_> = pairs.filter(|(known, now)| known.is_some() && now.is_some()).collect();
    let other = compared.iter().filter(|(known, now)| known != now).count();
    assert!(
        compared.len() > 100 && other * 20 < compared.len(),
        "{other} of {} are other now",
        compared.len()
    );
}

#[test]
fn slab_pages_are_named_and_others_are_not() {
    const TEST: &str = "slab_pages_are_named_and_others_are_not";
    const FRAMES: usize = 20_000;
    let _machine = machine();
    let Some(mut sensor) = sensor(TEST) else { return };
    let (mut slabs, mut others) = (Vec::new(), Vec::new());
    for zone in read_zoneinfo(root()).unwrap() {
        for first in (zone.start_pfn..zone.start_pfn + zone.spanned).step_by(1 << 16) {
            for (pfn, flags) in (first..).zip(flags(first, 1 << 16)) {
                if flags & SLAB != 0 && slabs.len() < FRAMES {
                    slabs.push(pfn);
                } else if flags & (BUDDY | ANON) != 0 && others.len() < FRAMES {
                    others.push(pfn);
                }
            }
        }
    }
    let names = sensor.slab_names(&slabs).unwrap();
    let named = names.iter().flatten().count();
    assert!(named * 20 > slabs.len() * 19, "{named} of {}", slabs.len());
    assert!(names.iter().flatten().any(|name| name.starts_with("kmalloc-") || name == "dentry"));
    let named = sensor.slab_names(&others).unwrap().into_iter().flatten().count();
    assert!(named * 20 < others.len(), "{named} of {} pages that are no slab's", others.len());
    assert_eq!(sensor.slab_names(&[u64::MAX, u64::MAX >> 12]), Ok(vec![None, None]), "no such frames");
}

/// The verifier keeps a state for each way to each call that it follows: `count` once took 12 791 steps, and 34 MiB of
/// Unmovable memory while Linux 7.3 checked it, for which a small machine gave up eighteen pageblocks.
/// Fills a file in memory, and has a pipe refer to some of its pages: of each `stride`th.
fn spliced(pages: u64, stride: u64) -> (File, Vec<(std::os::fd::OwnedFd, std::os::fd::OwnedFd)>) {
    let file = file_in_memory(pages);
    let mut pipes = Vec::new();
    for page in (0..pages).step_by(stride as usize) {
        if (page / stride).is_multiple_of(16) {
            pipes.push(rustix::pipe::pipe().unwrap());
        }
        let mut offset = page * PAGE;
        let (_, writer) = pipes.last().unwrap();
        let flags = rustix::pipe::SpliceFlags::NONBLOCK;
        let moved = rustix::pipe::splice(&file, Some(&mut offset), writer, None, PAGE as usize, flags);
        assert_eq!(moved.unwrap(), PAGE as usize);
    }
    (file, pipes)
}

/// Pages on the LRU, and those of them that are pinned, in all zones.
fn pinned_pages(sensor: &mut BpfSensor) -> (u64, u64) {
    let threads = std::num::NonZero::<usize>::MIN;
    let sensor = Mutex::new(sensor);
    let pinned = |from: u64, count: u64| sensor.lock().unwrap().pinned_frames(from, count).unwrap();
    let unflagged = Unflagged { pinned: &pinned, ..Unflagged::NONE };
    let map = read_pageblocks(root(), &read_zoneinfo(root()).unwrap(), unflagged, threads).unwrap();
    let movable = map.zones.iter().flat_map(|zone| &zone.blocks).map(|block| u64::from(block.movable()));
    (movable.sum(), map.unmovable_pages(UnmovableKind::Pinned))
}

#[test]
fn pinned_pages_are_not_counted_as_movable() {
    let test = "pinned_pages_are_not_counted_as_movable";
    let _machine = machine();
    let Some(mut sensor) = sensor(test) else { return };
    let (movable, before) = pinned_pages(&mut sensor);
    let (file, pipes) = spliced(32_768, 8);
    let (_, during) = pinned_pages(&mut sensor);
    drop(pipes);
    let (_, after) = pinned_pages(&mut sensor);
    drop(file);
    println!("{before} of {movable} pinned, {during} with 4096 in pipes, {after} without");
    assert!(during.abs_diff(before + 4096) < 400, "{before} before, {during} with 4096 in pipes");
    assert!(after < before + 400, "{before} before, {after} after");
    assert!(
        before < movable / 20 + 400,
        "{before} of {movable}: pages that are only mapped and cached are not pinned"
    );
}

#[test]
fn a_page_of_ones_own_shows_the_table_where_the_zones_do() {
    let _machine = machine();
    let Some(sensor) = sensor("a_page_of_ones_own_shows_the_table_where_the_zones_do") else { return };
    let [by_zones, by_own_page] = sensor.page_table_by_each_way().unwrap();
    // Elsewhere nobody knows how the table is aligned.
    assert!(by_zones.is_some() || !cfg!(target_arch = "x86_64"), "the zones show no table");
    assert!(by_own_page.is_some() && by_zones.is_none_or(|table| Some(table) == by_own_page));
}

#[cfg(feature = "bpf")]
#[test]
fn the_kernel_checks_the_programs_in_few_steps() {
    const MOST_STEPS: u32 = 4000;
    let _machine = machine();
    let Some(_sensor) = sensor("the_kernel_checks_the_programs_in_few_steps") else { return };
    let programs: Vec<_> = libbpf_rs::query::ProgInfoIter::default()
        .filter(|program| ["count", "mark", "edges", "find_nodes"].iter().any(|name| program.name == *name))
        .collect();
    assert!(programs.len() >= 4, "{programs:?}");
    for program in programs {
        let steps = program.verified_insns;
        assert!(steps > 0 && steps < MOST_STEPS, "{:?}: {steps} steps", program.name);
    }
}
