//! `freehold repair` over copies of other machines' files: plans, refusals and exit codes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ran, finish, folder, freehold, run, run_words};

/// Flags of a page in `/proc/kpageflags`.
const ANON: u64 = 1 << 5 | 1 << 12 | 1 << 14;
const CACHE: u64 = 1 << 5;
const SLAB: u64 = 1 << 7;

/// A machine of eight pageblocks of 2 MiB, each half free and half filled with one kind of page.
fn machine(flags: [u64; 8]) -> tempfile::TempDir {
    let root = folder();
    let proc = root.path().join("proc");
    let huge = root.path().join("sys/kernel/mm/transparent_hugepage");
    fs::create_dir_all(&proc).expect("a new folder");
    fs::create_dir_all(&huge).expect("a new folder");
    let put = |path: PathBuf, text: &[u8]| fs::write(path, text).expect("a file");
    put(huge.join("hpage_pmd_size"), b"2097152\n");
    let page = |at: usize, flags: u64| if at.is_multiple_of(2) { 1 << 10 } else { flags };
    let words = flags.iter().flat_map(|&flags| (0..512).flat_map(move |at| page(at, flags).to_le_bytes()));
    put(proc.join("kpageflags"), &words.collect::<Vec<u8>>());
    let zone = "Node 0, zone   Normal\n  pages free     2048\n        boost    0\n        min      8\n        low      \
                10\n        high     12\n        spanned  4096\n        present  4096\n        managed  4096\n        \
                cma      0\n        protection: (0, 0)\n  pagesets\n  start_pfn:           0\n";
    put(proc.join("zoneinfo"), zone.as_bytes());
    put(proc.join("buddyinfo"), b"Node 0, zone   Normal 2048 0 0 0 0 0 0 0 0 0 0\n");
    put(proc.join("vmstat"), b"nr_kernel_stack 16\nnr_slab_reclaimable 700\nnr_shmem 300\n");
    put(proc.join("vmallocinfo"), b"");
    let slabs = "slabinfo - version: 2.1\ndentry 9 9 192 21 1 : tunables 0 0 0 : slabdata 512 512 0\n";
    put(proc.join("slabinfo"), slabs.as_bytes());
    root
}

fn repair(root: &Path, words: &str) -> Ran {
    let mut command = freehold(["repair", "--root"]);
    command.arg(root).args(words.split_ascii_whitespace());
    finish(command)
}

/// Gives a machine a process.
fn process(root: &Path, pid: u32, name: &str, anon_kib: u64, locked_kib: u64) {
    let folder = root.join("proc").join(pid.to_string());
    fs::create_dir_all(&folder).expect("a new folder");
    let status = format!("Name:\t{name}\nVmLck:\t{locked_kib} kB\nVmPin:\t0 kB\nRssAnon:\t{anon_kib} kB\n");
    fs::write(folder.join("status"), status).expect("a file");
}

#[test]
fn a_launch_is_repaired_for_all_its_requests() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let file = root.path().join("job.demand");
    fs::write(&file, "order 0 x 10\nhugetlb 2M=2\nthp 2M\n").expect("a file");
    let with = |words: &str| repair(root.path(), &format!("--demand {} {words}", file.display()));
    let ran = with("--dry-run");
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let plan = "PLANNED: 0 blocks of 2 MiB are free now, 3 requested. ";
    assert!(ran.stdout.starts_with(plan) && ran.stdout.contains("\n1. compact node 0: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n\nWARNING: may not start ("), "{}", ran.stdout);
    let json = with("--dry-run --json").json();
    assert_eq!(json["rehearsal"]["repair"]["blocks"], 3, "{json:#}");
    assert_eq!(
        (&json["repairs"][0]["ending"], &json["repairs"][1]),
        (&"planned".into(), &serde_json::Value::Null)
    );
    // Nothing to do, and nothing that helps.
    fs::write(&file, "anon 4K\n").expect("a file");
    let ran = with("--dry-run");
    assert!(ran.code == Some(0) && ran.stdout.starts_with("OK: starts"), "{}", ran.stdout);
    fs::write(&file, "anon 1G\n").expect("a file");
    let ran = with("--dry-run");
    assert!(ran.code == Some(2) && !ran.stdout.contains("PLANNED"), "{}", ran.stdout);
    with("--yes").fails(3, &["--root", "Add --dry-run"]);
    with("--dry-run --need 2M").fails(3, &["--demand", "--need"]);
    repair(root.path(), "--dry-run --demand /nowhere").fails(3, &["/nowhere cannot be read"]);
}

#[test]
fn plan_has_the_cheapest_sufficient_steps() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let plans = |words: &str, code: i32, expected: &[&str]| {
        let ran = repair(root.path(), &format!("--dry-run {words}"));
        assert_eq!(ran.code, Some(code), "{words}: {}{}", ran.stdout, ran.stderr);
        for text in expected {
            assert!(ran.stdout.contains(text), "{words}: no {text:?} in: {}", ran.stdout);
        }
        ran.stdout
    };
    let enough = plans("--need 4K=2000", 0, &["DONE: nothing to do: 2038 blocks of 4 KiB"]);
    assert_eq!(enough.lines().count(), 1, "{enough}");
    let compacts = plans(
        "--need 2M=3",
        1,
        &[
            "PLANNED: 0 blocks of 2 MiB are free now, 3 requested.",
            "Action: freehold repair --need 2M=3 (compacts: 3 expected, 0 free now)",
            "1. compact node 0: 3 blocks predicted after it, at least",
        ],
    );
    assert!(!compacts.contains("page cache"), "{compacts}");
    let drops = plans("--need 4", 1, &["1. drop page cache of node 0", "2. compact node 0"]);
    assert!(drops.starts_with("PLANNED"), "{drops}");
    plans("--need 8", 2, &["CANNOT: 0 blocks of 2 MiB are free now, 8 requested"]);
    let json = repair(root.path(), "--dry-run --json --need 4").json();
    let steps = json["plan"]["steps"].as_array().expect("steps");
    assert_eq!((json["ending"].as_str(), json["exit_code"].as_u64()), (Some("planned"), Some(1)));
    assert_eq!(
        steps.iter().map(|step| step["work"].as_str()).collect::<Vec<_>>(),
        [Some("drop-page-cache"), Some("compact")]
    );
    // Three pageblocks of page cache have 768 pages of it, of which a part is enough.
    let pages = steps[0]["pages"].as_u64().expect("a number");
    assert!(pages > 0 && pages < 768 && steps[1]["predicted"].as_u64() >= Some(4), "{json}");
}

#[test]
fn dirty_pages_are_written_back_first() {
    let dirty = CACHE | 1 << 4;
    let root = machine([dirty, dirty, SLAB, SLAB, SLAB, SLAB, SLAB, SLAB]);
    let plan = |words: &str| repair(root.path(), &format!("--dry-run {words}"));
    assert_eq!(plan("--need 2").code, Some(2), "{}", plan("--need 2").stdout);
    fs::write(root.path().join("proc/vmstat"), "nr_dirty 500\nnr_writeback 12\n").expect("a file");
    let ran = plan("--need 2");
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains("1. write back 512 dirty pages"), "{}", ran.stdout);
    assert!(ran.stdout.contains("3. compact node 0: 2 blocks predicted after it, at most"), "{}", ran.stdout);
    assert_eq!(plan("--need 3").code, Some(2), "slab pages stay");
}

#[test]
fn owners_of_memory_are_named() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, SLAB, SLAB, SLAB]);
    process(root.path(), 7, "database", 900_000, 5000);
    process(root.path(), 8, "x\u{1b}[31m", 100_000, 0);
    let pool = root.path().join("sys/kernel/mm/hugepages/hugepages-2048kB");
    fs::create_dir_all(&pool).expect("a new folder");
    for (name, number) in
        [("nr_hugepages", 9), ("free_hugepages", 5), ("resv_hugepages", 1), ("surplus_hugepages", 0)]
    {
        fs::write(pool.join(name), format!("{number}\n")).expect("a file");
    }
    let ran = repair(root.path(), "--dry-run --need 8");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    let first = ran.stdout.lines().next().expect("a line");
    let holder = "Action: free memory: process 7 (database) holds 878 MiB of anonymous memory.";
    assert!(first.starts_with("CANNOT: ") && first.ends_with(holder), "{first}");
    for text in [
        "hugetlb's pool holds 4 pages of 2048 KiB that nobody uses; `echo 5 > ",
        "process 7 (database) holds 4 MiB that it mlocked",
        "`echo 2 > /proc/sys/vm/drop_caches` may free some of it, which no forecast covers",
        "tmpfs and shared memory hold 1 MiB",
    ] {
        assert!(ran.stdout.contains(text), "no {text:?} in: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn repair_makes_no_contiguous_ranges() {
    let root = machine([ANON, SLAB, SLAB, SLAB, CACHE, CACHE, CACHE, CACHE]);
    let ran = repair(root.path(), "--dry-run --need 8M");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    for text in ["CANNOT: ", "made only on request", "hugepages-8192kB/nr_hugepages", "1 expected"] {
        assert!(ran.stdout.contains(text), "no {text:?} in: {}", ran.stdout);
    }
}

#[test]
fn without_pageblocks_nothing_is_planned() {
    let root = machine([ANON; 8]);
    fs::remove_file(root.path().join("proc/kpageflags")).expect("a file");
    let ran = repair(root.path(), "--dry-run");
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("UNKNOWN: ") && ran.stdout.contains("kpageflags"), "{}", ran.stdout);
}

#[test]
fn unusable_arguments_are_refused() {
    let root = machine([ANON; 8]);
    repair(root.path(), "--yes").fails(3, &["--root", "Add --dry-run"]);
    repair(root.path(), "--dry-run --node 1").fails(3, &["node 1 has no memory"]);
    repair(root.path(), "--dry-run --need 3M").fails(3, &["3 MiB is no power of two"]);
    for words in
        ["--stall-budget 50", "--stall-budget 0ms", "--need 0", "--need 0M", "--no-such", "--yes --dry-run"]
    {
        assert_eq!(run_words(&format!("repair {words}")).code, Some(3), "{words}");
    }
    assert!(run(["repair", "--help"]).ok().stdout.contains("2 not possible, or too few blocks became free"));
}
