//! `freehold rehearse` over a copy of a machine's files.

use std::fs;
use std::path::Path;

use crate::check::{ANON, CACHE, SLAB, check, machine};
use crate::common::{self, finish, folder, freehold};

fn rehearse(root: &Path, demand: &str, words: &str) -> common::Ran {
    let folder = folder();
    let file = folder.path().join("job.demand");
    fs::write(&file, demand).expect("a file");
    let mut command = freehold(["rehearse"]);
    command.arg(&file).arg("--root").arg(root).args(words.split_ascii_whitespace());
    finish(command)
}

#[test]
fn one_request_has_the_verdict_of_check() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    for (demand, need) in [
        ("hugetlb 2M=3", "--need 2M=3"),
        ("thp 6M", "--need 2M=3 --by thp"),
        ("hugetlb 2M=8", "--need 2M=8"),
        ("order 0=2000", "--order 0 --need 2000 --by alloc"),
        ("atomic 4K=2000", "--need 4K=2000 --by atomic"),
    ] {
        let (rehearsed, checked) = (rehearse(root.path(), demand, ""), check(root.path(), need));
        assert_eq!(rehearsed.code, checked.code, "{demand}: {}{}", rehearsed.stdout, rehearsed.stderr);
        // The numbers are those of the first line of `check`, after its word.
        let numbers =
            checked.stdout.split(": ").nth(2).and_then(|rest| rest.lines().next()).expect("numbers");
        assert!(
            rehearsed.code == Some(0) || rehearsed.stdout.contains(numbers),
            "{numbers:?} is not in {}",
            rehearsed.stdout
        );
    }
}

#[test]
fn a_request_has_the_memory_that_earlier_ones_left() {
    let root = machine([ANON, ANON, ANON, ANON, ANON, ANON, SLAB, SLAB]);
    let alone = ["anon 4M", "hugetlb 2M=3"].map(|demand| rehearse(root.path(), demand, "").code);
    assert_eq!(alone, [Some(0), Some(1)]);
    let both = rehearse(root.path(), "anon 4M\nhugetlb 2M=3\n", "");
    assert_eq!(both.code, Some(2), "{}{}", both.stdout, both.stderr);
    for text in [
        "CRITICAL: does not start (probability of a start below 1 %): `hugetlb 2M=3` (line 2) fails.\n\
         By line 2 the launch needs 10.0 MiB in all: 8.0 MiB free now, 8.0 MiB (8.0 MiB to 8.2 MiB) after \
         reclaim, less than 1 % likely.\n\
         Action: free 2.0 MiB.\n",
        "\n     1  anon 4M                 starts ",
        "\n     2  hugetlb 2M=3            fails ",
    ] {
        assert!(both.stdout.contains(text), "no {text:?} in: {}", both.stdout);
    }
    // Whichever comes second fails: the memory does not suffice for both.
    let turned = rehearse(root.path(), "hugetlb 2M=3\nanon 4M\n", "");
    assert!(turned.stdout.contains("`anon 4M` (line 2) fails"), "{}", turned.stdout);
}

#[test]
fn a_repair_is_named_if_it_helps() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let ran = rehearse(root.path(), "order 0 x 10 # of a driver\nthp 6M\n", "");
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    for text in [
        "WARNING: may not start (probability of a start ",
        "`thp 6M` (line 2) may fail.",
        "\nAction: freehold repair --need 2M=3 (compacts: 3 expected, 0 free now).\nAfter `freehold repair` the probability of a start is ",
        "\nAfter the launch, other requests can have about 4.8 MiB more.",
    ] {
        assert!(ran.stdout.contains(text), "no {text:?} in: {}", ran.stdout);
    }
    let json = rehearse(root.path(), "thp 6M", "--json");
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((value["start"].as_str(), value["first"].as_u64()), (Some("perhaps"), Some(1)), "{value}");
    assert!(value["after_repair"].as_f64() > value["probability"].as_f64(), "{value}");
}

#[test]
fn what_cannot_be_rehearsed_is_unknown_with_the_remedy() {
    let root = machine([ANON; 8]);
    for (demand, words, expected) in [
        ("hugetlb 2M=3\ncma 64M\n", "", "line 2: \"cma 64M\": a request starts with hugetlb, thp, anon"),
        ("# none\n", "", "has no request; write a line such as `hugetlb 2M=512`"),
        ("range 4K=1", "", "line 1: `range 4K=1`: range reads pageblocks, of 2M here"),
        ("anon 4K", "--node 3", "node 3 has no memory"),
        (&"anon 4K\n".repeat(1001), "", "has 1001 requests, at most 1000"),
    ] {
        let ran = rehearse(root.path(), demand, words);
        assert_eq!(ran.code, Some(3), "{demand}: {}", ran.stdout);
        assert!(ran.stdout.starts_with("UNKNOWN: ") && ran.stdout.contains(expected), "{}", ran.stdout);
    }
    let ran = finish(freehold(["rehearse", "none.demand"]));
    assert!(ran.code == Some(3) && ran.stdout.contains("none.demand cannot be read"), "{}", ran.stdout);
    // Without the pageblocks only what is free now is known.
    fs::remove_file(root.path().join("proc/kpageflags")).expect("the file");
    let ran = rehearse(root.path(), "anon 1M\nhugetlb 2M=3\n", "");
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    let unknown = "UNKNOWN: it is unknown whether `hugetlb 2M=3` (line 2) is served.\nBy line 2 the launch needs 3 x 2M: 0 free now";
    assert!(ran.stdout.starts_with(unknown) && ran.stdout.contains("\nAction: "), "{}", ran.stdout);
}

/// The other requests are judged all the same.
#[test]
fn what_the_kernel_never_serves_fails_with_the_remedy() {
    let root = machine([ANON, ANON, ANON, ANON, ANON, ANON, SLAB, SLAB]);
    let settings = root.path().join("sys/kernel/mm");
    fs::write(settings.join("transparent_hugepage/enabled"), "always madvise [never]\n").expect("a file");
    let pool = settings.join("hugepages/hugepages-2048kB");
    fs::create_dir_all(&pool).expect("a folder");
    fs::write(pool.join("nr_hugepages"), "0\n").expect("a file");
    for (demand, words) in [
        ("thp 2M", "transparent huge pages are off here; write `madvise` to /sys/kernel/mm/"),
        ("hugetlb 4M=1", "the pools here are of 2M"),
        ("hugetlb 1G=1", "1 GiB fits into no zone of this machine"),
        ("order 11=1", "an allocation has at most 4M"),
    ] {
        let ran = rehearse(root.path(), &format!("anon 4K\n{demand}\nanon 8K"), "");
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        let start = format!(
            "CRITICAL: does not start (probability of a start below 1 %): `{demand}` (line 2) fails.\n"
        );
        assert!(ran.stdout.starts_with(&start), "{}", ran.stdout);
        assert!(ran.stdout.contains(&format!("The kernel never serves line 2: {words}")), "{}", ran.stdout);
        assert!(ran.stdout.contains("\n     3  anon 8K                 starts "), "{}", ran.stdout);
    }
    // What is never served takes no memory from the others.
    let json = rehearse(root.path(), "thp 1G\nanon 4K", "--json").stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let lines = [&value["lines"][0]["never_served"], &value["lines"][1]["start"]];
    assert_eq!(lines, [&serde_json::Value::Bool(true), &"at-once".into()], "{value}");
}

/// Pages that a pool has free need no memory; the others have to be put into it.
#[test]
fn pools_serve_what_they_have() {
    let root = machine([ANON, ANON, ANON, ANON, ANON, ANON, SLAB, SLAB]);
    let pool = root.path().join("sys/kernel/mm/hugepages/hugepages-2048kB");
    fs::create_dir_all(&pool).expect("a folder");
    for (name, number) in
        [("nr_hugepages", 9), ("free_hugepages", 7), ("resv_hugepages", 2), ("surplus_hugepages", 0)]
    {
        fs::write(pool.join(name), format!("{number}\n")).expect("a file");
    }
    let all = rehearse(root.path(), "hugetlb 2M=5", "");
    assert!(all.code == Some(0) && all.stdout.starts_with("OK: starts"), "{}", all.stdout);
    assert!(!all.stdout.contains("nr_hugepages"), "{}", all.stdout);
    let more = rehearse(root.path(), "hugetlb 2M=4\nhugetlb 2M=2\nanon 4K", "");
    for text in [
        "     1  hugetlb 2M=4            starts         above 99 % (4 in the pool)\n",
        "(1 in the pool)\n",
        "The pool of 2 MiB pages is short by 1; `echo 10 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages` fills it, ",
    ] {
        assert!(more.stdout.contains(text), "no {text:?} in: {}", more.stdout);
    }
    let json: serde_json::Value =
        serde_json::from_str(&rehearse(root.path(), "hugetlb 2M=7", "--json").stdout).expect("JSON");
    assert_eq!((&json["lines"][0]["in_pool"], &json["lines"][0]["needed"]), (&5.into(), &2.into()), "{json}");
}

/// Requests of the kernel and of users take the same memory, whichever comes first and of whichever size.
#[test]
fn requests_of_all_kinds_are_added_up() {
    let root = machine([ANON, ANON, ANON, ANON, ANON, ANON, SLAB, SLAB]);
    let outcome = |demand: &str| rehearse(root.path(), demand, "").code;
    for alone in ["alloc 4K=1500", "anon 6000K", "thp 2M"] {
        assert_ne!(outcome(alone), Some(2), "{alone}");
    }
    for both in [
        "alloc 4K=1500\nanon 6000K",
        "anon 6000K\nalloc 4K=1500",
        "order 3=180\nhugetlb 2M=3",
        "hugetlb 2M=3\nalloc 4K=1500",
        "hugetlb 2M=3\nrange 2M=2",
        "atomic 4K=1500\nanon 6000K",
    ] {
        assert_eq!(outcome(both), Some(2), "{both}");
    }
    let json = rehearse(root.path(), "thp 2M\nalloc 4K=10", "--json").stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["lines"][1]["needed"], 522, "all requests up to the line: {value}");
}

#[test]
fn reclaim_leaves_the_reserve_to_requests_that_may_not_wait() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let ran = rehearse(root.path(), "anon 9M\natomic 4K=1", "");
    assert!(
        ran.code == Some(1) && ran.stdout.starts_with("WARNING: starts slowly (probability of a start "),
        "{}",
        ran.stdout
    );
}

/// A repair makes blocks, and no memory.
#[test]
fn a_repair_does_not_help_where_memory_is_short() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let json = rehearse(root.path(), "anon 4900K\nthp 6M", "--json");
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let single = rehearse(root.path(), "anon 4900K\nanon 6M", "--json");
    let single: serde_json::Value = serde_json::from_str(&single.stdout).expect("JSON");
    assert!(value["after_repair"].as_f64() <= single["probability"].as_f64(), "{value} {single}");
}

/// Ranges are judged by pageblocks, which do not say how much memory there is.
#[test]
fn ranges_do_not_exceed_memory() {
    let root = machine([ANON; 8]);
    let whole = rehearse(root.path(), "range 2M=8", "");
    assert_eq!(whole.code, Some(2), "half of it is in use: {}", whole.stdout);
    let caches = machine([CACHE; 8]);
    let whole = rehearse(caches.path(), "range 2M=8", "");
    assert_eq!(whole.code, Some(2), "the kernel keeps a reserve: {}", whole.stdout);
    let one = rehearse(root.path(), "range 2M=1", "");
    assert!(
        one.stdout.contains("\nBy line 1 the launch needs ranges: 1 contiguous range of 2 MiB"),
        "{}",
        one.stdout
    );
    assert!(!one.stdout.contains("nr_hugepages"), "a pool takes them for itself: {}", one.stdout);
}

#[test]
fn a_repair_for_the_kernel_is_a_command() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let ran = rehearse(root.path(), "order 7=12", "");
    assert!(ran.stdout.contains("\nAction: freehold repair --need 512K=12 ("), "{}", ran.stdout);
}

/// What later lines need is made, too.
#[test]
fn a_repair_is_for_the_whole_launch() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let setting = root.path().join("sys/kernel/mm/transparent_hugepage/defrag");
    fs::write(setting, "always defer defer+madvise madvise [never]\n").expect("a file");
    let ran = rehearse(root.path(), "thp 4M\nhugetlb 2M=1", "");
    assert!(ran.stdout.contains("`thp 4M` (line 1) fails"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nAction: freehold repair --need 2M=3 ("), "{}", ran.stdout);
}

#[test]
fn transparent_huge_pages_have_their_own_size() {
    let root = machine([ANON; 8]);
    let size = root.path().join("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    fs::write(size, "1048576\n").expect("a file");
    let json = rehearse(root.path(), "thp 3M", "--json").stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&value["lines"][0]["needed"], &value["lines"][0]["block_bytes"]),
        (&3.into(), &(1 << 20).into())
    );
}

#[test]
fn texts_of_a_demand_reach_no_terminal() {
    let root = machine([ANON; 8]);
    for demand in ["anon 9\u{1b}[31mM", "hugetlb 2M=3\u{b}\u{1b}]0;x", "\0", "\u{2028}x"] {
        let ran = rehearse(root.path(), demand, "");
        assert_eq!(ran.code, Some(3), "{demand:?}: {}", ran.stdout);
        assert!(!ran.stdout.contains(['\u{1b}', '\u{b}', '\0']), "{:?}", ran.stdout);
    }
}

#[test]
fn a_recording_becomes_a_demand() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/c-build.arrows");
    let ran = finish(freehold(["demand", trace]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("# The most memory in use at once in "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nanon ") && ran.stdout.contains("\norder 0="), "{}", ran.stdout);
    let root = machine([ANON; 8]);
    let rehearsed = rehearse(root.path(), &ran.stdout, "");
    assert_eq!(rehearsed.code, Some(2), "8 MiB do not suffice for a build: {}", rehearsed.stdout);
    // The name of a file is a part of a comment, whatever it holds.
    let folder = folder();
    let odd = folder.path().join("x\nanon 900T.arrows");
    std::os::unix::fs::symlink(trace, &odd).expect("a link");
    let mut command = freehold(["demand"]);
    command.arg(&odd);
    let lines = finish(command).stdout;
    assert!(lines.starts_with('#') && !lines.contains("\nanon 900T"), "{lines}");
    let nobody = finish(freehold(["demand", trace, "--pid", "999999999"]));
    assert_eq!(nobody.code, Some(65), "{}", nobody.stderr);
    assert!(nobody.stderr.contains("has no allocation of these tasks"), "{}", nobody.stderr);
}
