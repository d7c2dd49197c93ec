//! Every kept transcript of every kernel, page by page.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use freehold::Switches;
use freehold_oracle::families::Family;
use freehold_oracle::{CheckOptions, Golden, KernelVersion, Verdict, check};

/// Every kept file, and the kernel whose folder it is in.
fn kept() -> Vec<(KernelVersion, PathBuf)> {
    let mut files = Vec::new();
    for kernel in KernelVersion::ALL {
        let folder = Golden::folder().join(kernel.name());
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        files.extend(entries.map(|entry| (kernel, entry.expect("a readable folder").path())));
    }
    files.sort();
    files
}

#[test]
fn the_engine_answers_as_the_kernels_did() {
    let files = kept();
    let next = Mutex::new(files.iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((kernel, path)) = next.lock().expect("no panic holds it").next() else { break };
                    if let Some(failure) = difference(*kernel, path) {
                        failures.lock().expect("no panic holds it").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("all threads are done");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What is wrong with a kept transcript, whether locks are taken or an owner asks.
fn difference(kernel: KernelVersion, path: &Path) -> Option<String> {
    difference_of(kernel, path, false).or_else(|| difference_of(kernel, path, true))
}

fn difference_of(kernel: KernelVersion, path: &Path, owned: bool) -> Option<String> {
    let name = path.display();
    let mut golden = match Golden::open(path) {
        Ok(golden) => golden,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    if golden.transcript.era().ok() != Some(kernel.era()) {
        return Some(format!("{name}: is of Linux {}", golden.transcript.release()));
    }
    let options = CheckOptions { check_every: Some(4096), owned, ..CheckOptions::default() };
    match check(&golden.script, &mut golden.transcript, options) {
        Ok(Verdict::Same { .. }) => None,
        Ok(Verdict::Differs(divergence)) => {
            Some(format!("{name}: seed {}: {divergence}", golden.script.seed))
        }
        Err(error) => Some(format!("{name}: {error}")),
    }
}

#[test]
fn every_family_is_kept_for_every_kernel() {
    let files = kept();
    for kernel in KernelVersion::ALL {
        for family in Family::of(kernel) {
            let wanted = Golden::folder().join(kernel.name()).join(format!("{}.zst", family.name()));
            assert!(files.contains(&(kernel, wanted.clone())), "{} is missing", wanted.display());
        }
    }
}

/// A switch, and whether a kernel's answers depend on it.
type Flip = (&'static str, fn(&mut Switches), &'static [KernelVersion]);

/// Every switch of the engine, with the kernels whose transcripts must differ once it is turned over.
///
/// Batched decay and drains take blocks in the same order and only let go of the lock in
/// between; counts answer no request; nothing is compacted. The others without a kernel show in rare cases only.
const FLIPS: [Flip; 30] = {
    use KernelVersion::{V6_1, V6_12, V7_3, V7_3Tidying};
    const SINCE_6_12: &[KernelVersion] = &[V6_12, V7_3, V7_3Tidying];
    const TIDYING: &[KernelVersion] = &[V7_3Tidying];
    [
        ("hygiene", |switches| switches.hygiene ^= true, &KernelVersion::ALL),
        ("remembered_mode", |switches| switches.remembered_mode ^= true, &[V6_12, V7_3]),
        ("claims_by_counts", |switches| switches.claims_by_counts ^= true, TIDYING),
        ("batched_decay", |switches| switches.batched_decay ^= true, &[]),
        ("batched_free", |switches| switches.batched_free ^= true, &KernelVersion::ALL),
        ("batched_drain", |switches| switches.batched_drain ^= true, &[]),
        ("counts", |switches| switches.counts ^= true, &[]),
        ("derived_total", |switches| switches.derived_total ^= true, &[]),
        ("claims_used_first", |switches| switches.claims_used_first ^= true, TIDYING),
        ("retypes_pageblocks", |switches| switches.retypes_pageblocks ^= true, TIDYING),
        ("unmixes_pageblocks", |switches| switches.unmixes_pageblocks ^= true, TIDYING),
        ("empties_pageblocks", |switches| switches.empties_pageblocks ^= true, TIDYING),
        ("marks_departures", |switches| switches.marks_departures ^= true, TIDYING),
        ("tidies_by_mobility", |switches| switches.tidies_by_mobility ^= true, TIDYING),
        ("retypes_to_unmovable", |switches| switches.retypes_to_unmovable ^= true, &[]),
        ("drains_beside_movable", |switches| switches.drains_beside_movable ^= true, TIDYING),
        ("empties_all_or_none", |switches| switches.empties_all_or_none ^= true, TIDYING),
        ("empties_to_lists", |switches| switches.empties_to_lists ^= true, TIDYING),
        ("auto_tuned_high", |switches| switches.auto_tuned_high ^= true, &KernelVersion::ALL),
        ("lazy_high_order_flush", |switches| switches.lazy_high_order_flush ^= true, SINCE_6_12),
        ("highatomic_by_free", |switches| switches.highatomic_by_free ^= true, &KernelVersion::ALL),
        ("highatomic_first", |switches| switches.highatomic_first ^= true, &KernelVersion::ALL),
        ("high_ignores_boost", |switches| switches.high_ignores_boost ^= true, &[V6_1]),
        ("below_high_mark", |switches| switches.below_high_mark ^= true, &KernelVersion::ALL),
        ("isolation_keeps_type", |switches| switches.isolation_keeps_type ^= true, &KernelVersion::ALL),
        ("ranges_freed_in_blocks", |switches| switches.ranges_freed_in_blocks ^= true, &[]),
        ("ranges_stay_apart", |switches| switches.ranges_stay_apart ^= true, &[]),
        ("bulk_mark_by_missing", |switches| switches.bulk_mark_by_missing ^= true, &[]),
        ("retries_with_new_rights", |switches| switches.retries_with_new_rights ^= true, &[]),
        ("compacts_large_blocks", |switches| switches.compacts_large_blocks ^= true, &[]),
    ]
};

#[test]
fn every_switch_shows_in_the_answers() {
    let files = kept();
    let mut missed = Vec::new();
    for (name, flip, shown_by) in FLIPS {
        for kernel in KernelVersion::ALL {
            let mut switches = kernel.era().switches();
            flip(&mut switches);
            let options = CheckOptions { switches: Some(switches), ..CheckOptions::default() };
            let shows = files.iter().filter(|(of, _)| *of == kernel).any(|(_, path)| {
                let mut golden = Golden::open(path).expect("the other test reads it as well");
                let verdict = check(&golden.script, &mut golden.transcript, options);
                !matches!(verdict, Ok(Verdict::Same { .. }))
            });
            if !shows && shown_by.contains(&kernel) {
                missed.push(format!("{name} turned over in Linux {kernel} shows nowhere"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
