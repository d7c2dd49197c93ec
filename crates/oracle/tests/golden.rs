//! Every golden transcript of every kernel, compared word by word.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use freehold::Switches;
use freehold_oracle::families::Family;
use freehold_oracle::{CheckOptions, Golden, KernelVersion, Verdict, check};

/// Returns every golden file, and the kernel of its folder.
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
fn engine_matches_golden_transcripts() {
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

/// Returns the difference between the engine and a golden transcript, with locks and through an owner.
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
fn every_kernel_has_a_golden_file_of_every_family() {
    let files = kept();
    for kernel in KernelVersion::ALL {
        for family in Family::of(kernel) {
            let wanted = Golden::folder().join(kernel.name()).join(format!("{}.zst", family.name()));
            assert!(files.contains(&(kernel, wanted.clone())), "{} is missing", wanted.display());
        }
    }
}

/// The evidence that a switch has an effect.
#[derive(Clone, Copy)]
enum Shown {
    /// The transcripts of these kernels differ if the switch is flipped.
    Kernels(&'static [KernelVersion]),
    /// This test, in a file below `crates`, fails if the switch does nothing.
    Test(&'static str, &'static str),
    /// No result depends on the switch, for this reason.
    Nothing(&'static str),
}

/// Every switch of the engine, with the evidence of its effect.
const FLIPS: [(&str, Shown); Switches::FIELDS.len()] = {
    use KernelVersion::{V6_1, V6_12, V7_3, V7_3Tidying};
    use Shown::{Kernels, Nothing, Test};
    const SINCE_6_12: &[KernelVersion] = &[V6_12, V7_3, V7_3Tidying];
    const TIDYING: &[KernelVersion] = &[V7_3Tidying];
    [
        ("hygiene", Kernels(&KernelVersion::ALL)),
        ("remembered_mode", Kernels(&[V6_12, V7_3])),
        ("claims_by_counts", Kernels(TIDYING)),
        ("batched_decay", Test("engine/tests/switches.rs", "a_batched_decay_holds_the_lock_for_one_batch")),
        ("batched_free", Kernels(&KernelVersion::ALL)),
        ("batched_drain", Test("engine/tests/switches.rs", "a_batched_drain_holds_the_lock_for_one_batch")),
        ("counts", Test("engine/tests/switches.rs", "without_counts_only_a_walk_counts_by_type")),
        ("derived_total", Test("engine/src/zone/counts.rs", "a_derived_total_is_not_stored")),
        ("claims_used_first", Kernels(TIDYING)),
        ("retypes_pageblocks", Kernels(TIDYING)),
        ("unmixes_pageblocks", Kernels(TIDYING)),
        ("empties_pageblocks", Kernels(TIDYING)),
        ("marks_movable_pages", Kernels(TIDYING)),
        ("tidies_by_mobility", Kernels(TIDYING)),
        ("retypes_to_unmovable", Test("engine/tests/tidying.rs", "series_makes_no_pageblock_reclaimable")),
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
            Test("engine/tests/direct_switches.rs", "range_freed_in_blocks_bypasses_lists_of_single_pages"),
        ),
        (
            "ranges_stay_apart",
            Test("engine/tests/direct_switches.rs", "refused_range_keeps_isolation_of_another_caller"),
        ),
        (
            "bulk_mark_by_missing",
            Test("engine/tests/direct_switches.rs", "bulk_watermark_check_counts_missing_pages"),
        ),
        (
            "retries_with_new_rights",
            Nothing(
                "the second attempt has the result of the first, unless another CPU frees a page between them",
            ),
        ),
        (
            "compacts_large_blocks",
            Test("engine/tests/direct_switches.rs", "large_blocks_move_only_if_switched_on"),
        ),
        (
            "suits_by_counts",
            Test("engine/tests/direct_switches.rs", "compaction_starts_only_with_pages_for_the_free_scanner"),
        ),
        (
            "drains_only_if_it_helps",
            Test("engine/tests/drains.rs", "no_drain_if_lists_cannot_merge_into_a_block"),
        ),
        (
            "percpu_large_orders",
            Test("engine/tests/direct_switches.rs", "large_orders_have_lists_only_if_switched_on"),
        ),
        (
            "bypasses_lists_when_short",
            Test("engine/tests/aged.rs", "lists_are_used_again_once_a_pageblock_is_free"),
        ),
        ("marks_by_pages", Test("engine/tests/aged.rs", "refusal_for_lack_of_a_block_leaves_the_mark_alone")),
    ]
};

#[test]
fn every_switch_has_a_row_with_evidence() {
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
fn flipped_switches_change_transcripts() {
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
                missed.push(format!("{name}: flipped in Linux {kernel}, no transcript differs"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
