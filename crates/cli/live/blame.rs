//! `freehold blame` on the machine that the tests run on.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use freehold_needs::{has_file, is_root, skip, unprivileged_command};
use serde_json::Value;

use crate::alone::alone;
use crate::blamed::{blamed, culprit, pages_of, title};
use crate::common::{finish, folder, run_words};
use crate::fragment::{self, Random, WAYS};

/// MiB that are fragmented.
const PLANTED_MIB: usize = 64;

/// How often movable memory is planted at most: page cache that goes meanwhile, by other work on the machine, hides it.
const TRIES: usize = 5;

#[test]
fn blame_and_callers_without_root_are_refused() {
    let place = folder();
    let binary = place.path().join("freehold");
    fs::copy(env!("CARGO_BIN_EXE_freehold"), &binary).expect("a copy");
    fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    for name in ["blame", "callers"] {
        let test = "blame_and_callers_without_root_are_refused";
        let Some(mut command) = unprivileged_command(&binary, &["--version"], test) else { return };
        command.args([name, "--duration", "0.1"]);
        finish(command).fails(69, &["root"]);
    }
}

/// Returns true if this machine's kernel lets BPF watch; otherwise says by name why not.
fn can_watch(test: &str) -> bool {
    if !is_root(test) || !has_file("/sys/kernel/btf/vmlinux", test) || !has_file("/proc/kpageflags", test) {
        return false;
    }
    let ran = run_words("blame --duration 0.1 --sensor bpf");
    if ran.code != Some(0) {
        skip(test, ran.stderr);
        return false;
    }
    true
}

#[test]
fn a_planted_culprit_is_named() {
    if !can_watch("a_planted_culprit_is_named") {
        return;
    }
    let _alone = alone();
    let program = Path::new(env!("CARGO_BIN_EXE_freehold"));
    let place = folder();
    let before = blamed(program, place.path(), || Ok(Vec::new())).expect("an answer");
    let ways = WAYS.iter().filter(|(name, _)| !name.starts_with("mixed"));
    for (name, way) in ways {
        let (signs, each_mib) = culprit(name);
        if signs.is_empty() {
            continue;
        }
        let plant = || way(&mut Random(1), PLANTED_MIB, place.path());
        let json = blamed(program, place.path(), plant).expect("an answer");
        let least = (each_mib * PLANTED_MIB as f64) as u64;
        let (earlier, pages) = (pages_of(&before, &signs), pages_of(&json, &signs));
        let rows: Vec<_> = json["rows"].as_array().into_iter().flatten().map(title).collect();
        assert!(pages >= earlier + least, "{name}: {pages} of {least} pages are named {signs:?}: {rows:#?}");
        assert!(
            *name == "hugetlb" || earlier < least,
            "{name}: {earlier} of {least} pages were named before anything was planted"
        );
        assert_eq!(json["watch"]["lost"], 0, "{name}");
    }
}

/// Returns by how many pages the code whose function has `sign` in its name has grown, by the kernel's own account.
fn pages_grown(json: &Value, sign: &str) -> i64 {
    let sites = json["code_in_use"]["sites"].as_array().into_iter().flatten();
    let of = sites.filter(|site| site["function"].as_str().unwrap_or_default().contains(sign));
    let bytes: i64 = of.filter_map(|site| site["grown_bytes"].as_i64()).sum();
    bytes / rustix::param::page_size() as i64
}

#[test]
fn the_account_by_code_names_a_planted_culprit() {
    const TEST: &str = "the_account_by_code_names_a_planted_culprit";
    if !is_root(TEST) || !has_file("/proc/allocinfo", TEST) || !has_file("/proc/kpageflags", TEST) {
        return;
    }
    let _alone = alone();
    let program = Path::new(env!("CARGO_BIN_EXE_freehold"));
    let place = folder();
    // Of slabs the account has the objects, and most of these inodes are gone.
    let ways = [
        ("slab-inodes", "_alloc_inode", 0.25),
        ("pipes", "anon_pipe_", 1.0),
        ("page-tables", "pte_alloc", 1.0),
    ];
    for (name, sign, part) in ways {
        let each_mib = part * culprit(name).1;
        let (_, way) = WAYS.iter().find(|(way, _)| *way == name).expect("a way");
        let before = blamed(program, place.path(), || Ok(Vec::new())).expect("an answer");
        let plant = || way(&mut Random(1), PLANTED_MIB, place.path());
        let json = blamed(program, place.path(), plant).expect("an answer");
        let least = (each_mib * PLANTED_MIB as f64) as i64;
        let (earlier, pages) = (pages_grown(&before, sign), pages_grown(&json, sign));
        println!("{name}: {earlier} pages more without it, {pages} with it, at least {least}: {sign}");
        assert!(
            pages >= least && earlier < least,
            "{name}: {pages} of {least} pages more, and {earlier} without"
        );
    }
}

#[test]
fn movable_memory_is_never_blamed() {
    if !can_watch("movable_memory_is_never_blamed") {
        return;
    }
    let _alone = alone();
    let program = Path::new(env!("CARGO_BIN_EXE_freehold"));
    let place = folder();
    let pages = |json: &Value| json["movable"]["pages"].as_u64().expect("a number");
    let answer = |plant: &dyn Fn() -> std::io::Result<fragment::PinnedMemory>| {
        pages(&blamed(program, place.path(), plant).expect("an answer"))
    };
    for name in ["anonymous", "tmpfs-punched", "mlocked"] {
        let (_, way) = WAYS.iter().find(|(way, _)| *way == name).expect("a way");
        // A fourth of what is planted stays at least, and half of that may be in pageblocks that others keep.
        let least = (PLANTED_MIB << 19) as u64 / rustix::param::page_size() as u64;
        let mut seen = Vec::new();
        while seen.len() < TRIES && seen.last().is_none_or(|&more| more < least) {
            let before = answer(&|| Ok(Vec::new()));
            let after = answer(&|| way(&mut Random(1), 4 * PLANTED_MIB, place.path()));
            seen.push(after.saturating_sub(before));
        }
        assert!(seen.last() >= Some(&least), "{name}: {seen:?} of {least} pages are movable only");
    }
}

#[test]
fn the_watch_ends_with_its_command() {
    if !can_watch("the_watch_ends_with_its_command") {
        return;
    }
    let _alone = alone();
    let started = Instant::now();
    let json = run_words("blame --json -- true").ok().json();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(json["watch"]["seconds"].as_f64().expect("a number") < 5.0);
    let cpus = json["watch"]["cpus"].as_f64().expect("a number");
    assert!((0.0..1.0).contains(&cpus), "{cpus}");
}
