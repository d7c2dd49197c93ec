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

/// What shows that a switch has an effect.
#[derive(Clone, Copy)]
enum Shown {
    /// The transcripts of these kernels differ once it is turned over.
    Kernels(&'static [KernelVersion]),
    /// This test, in a file below `crates`, fails if the switch does nothing.
    Test(&'static str, &'static str),
    /// No answer depends on it, for this reason.
    Nothing(&'static str),
}

/// Every switch of the engine, with what shows its effect.
const FLIPS: [(&str, Shown); Switches::FIELDS.len()] = {
    use KernelVersion::{V6_1, V6_12, V7_3, V7_3Tidying};
    use Shown::{Kernels, Nothing, Test};
    const SINCE_6_12: &[KernelVersion] = &[V6_12, V7_3, V7_3Tidying];
    const TIDYING: &[KernelVersion] = &[V7_3Tidying];
    [
        ("hygiene", Kernels(&KernelVersion::ALL)),
        ("remembered_mode", Kernels(&[V6_12, V7_3])),
        ("claims_by_counts", Kernels(TIDYING)),
        (
            "batched_decay",
            Test(
                "engine/tests/switches.rs",
                "a_batched_decay_holds_the_lock_for_one_batch_and_says_whether_it_did_anything",
            ),
        ),
        ("batched_free", Kernels(&KernelVersion::ALL)),
        ("batched_drain", Test("engine/tests/switches.rs", "a_batched_drain_holds_the_lock_for_one_batch")),
        ("counts", Test("engine/tests/switches.rs", "without_counts_only_a_walk_knows_the_types")),
        ("derived_total", Test("engine/src/zone/counts.rs", "a_derived_total_is_not_stored")),
        ("claims_used_first", Kernels(TIDYING)),
        ("retypes_pageblocks", Kernels(TIDYING)),
        ("unmixes_pageblocks", Kernels(TIDYING)),
        ("empties_pageblocks", Kernels(TIDYING)),
        ("marks_movable_pages", Kernels(TIDYING)),
        ("tidies_by_mobility", Kernels(TIDYING)),
        (
            "retypes_to_unmovable",
            Test("engine/tests/tidying.rs", "a_kernel_with_the_series_makes_no_pageblock_reclaimable"),
        ),
        ("drains_beside_movable", Kernels(TIDYING)),
        ("empties_all_or_none", Kernels(TIDYING)),
        ("empties_to_lists", Kernels(TIDYING)),
        ("auto_tuned_high", Kernels(&KernelVersion::ALL)),
        ("lazy_high_order_flush", Kernels(SINCE_6_12)),
        ("highatomic_by_free", Kernels(&KernelVersion::ALL)),
        ("highatomic_first", Kernels(&KernelVersion::ALL)),
        ("high_ignores_boost", Kernels(&[V6_1])),
        ("below_high_mark", Kernels(&KernelVersion::ALL)),
        ("isolation_keeps_type", Kernels(&KernelVersion::ALL)),
        (
            "ranges_freed_in_blocks",
            Test(
                "engine/tests/direct_switches.rs",
                "a_range_freed_in_blocks_passes_the_lists_of_single_pages",
            ),
        ),
        (
            "ranges_stay_apart",
            Test(
                "engine/tests/direct_switches.rs",
                "a_refused_range_leaves_alone_what_another_caller_isolated",
            ),
        ),
        (
            "bulk_mark_by_missing",
            Test("engine/tests/direct_switches.rs", "a_bulk_must_leave_the_mark_above_what_is_missing"),
        ),
        (
            "retries_with_new_rights",
            Nothing(
                "the second look finds what the first found, unless another CPU frees a page between them",
            ),
        ),
        (
            "compacts_large_blocks",
            Test(
                "engine/tests/direct_switches.rs",
                "blocks_above_order_0_move_only_where_compaction_takes_them",
            ),
        ),
        (
            "suits_by_counts",
            Test(
                "engine/tests/direct_switches.rs",
                "compaction_starts_only_if_the_free_scanner_may_take_enough",
            ),
        ),
        ("drains_only_if_it_helps", Test("engine/tests/drains.rs", "lists_that_make_up_no_block_are_kept")),
        (
            "percpu_large_orders",
            Test("engine/tests/direct_switches.rs", "large_orders_have_lists_only_where_they_are_asked_for"),
        ),
    ]
};

#[test]
fn every_switch_has_a_row_that_says_what_shows_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for ((name, shown), (field, _)) in FLIPS.into_iter().zip(Switches::FIELDS) {
        assert_eq!(name, field);
        match shown {
            Shown::Kernels(kernels) => assert!(!kernels.is_empty(), "{name}"),
            Shown::Test(file, test) => {
                let text =
                    fs::read_to_string(crates.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
                let lines: Vec<_> = text.lines().map(str::trim).collect();
                let declared = ["#[test]".to_owned(), format!("fn {test}() {{")];
                assert!(lines.windows(2).any(|pair| pair == declared), "{file} has no test {test}");
                assert!(text.contains(name), "{file} does not name {name}");
            }
            Shown::Nothing(reason) => assert!(!reason.is_empty(), "{name}"),
        }
    }
}

#[test]
fn every_switch_shows_in_the_answers() {
    let files = kept();
    let mut missed = Vec::new();
    for ((name, shown), (_, field)) in FLIPS.into_iter().zip(Switches::FIELDS) {
        let Shown::Kernels(kernels) = shown else { continue };
        for &kernel in kernels {
            let mut switches = kernel.era().switches();
            *field(&mut switches) ^= true;
            let options = CheckOptions { switches: Some(switches), ..CheckOptions::default() };
            let shows = files.iter().filter(|(of, _)| *of == kernel).any(|(_, path)| {
                let mut golden = Golden::open(path).expect("the other test reads it as well");
                let verdict = check(&golden.script, &mut golden.transcript, options);
                !matches!(verdict, Ok(Verdict::Same { .. }))
            });
            if !shows {
                missed.push(format!("{name} turned over in Linux {kernel} shows nowhere"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
