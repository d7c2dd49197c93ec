//! `freehold check` over copies of other machines' files.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use crate::common::{self, finish, folder, freehold, run};
use crate::serve_common::{Server, wait_for};

fn kernel(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures").join(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// A machine of eight pageblocks of 2 MiB, each filled with one kind of page.
pub(super) fn machine(flags: [u64; 8]) -> tempfile::TempDir {
    let root = folder();
    let proc = root.path().join("proc");
    let huge = root.path().join("sys/kernel/mm/transparent_hugepage");
    fs::create_dir_all(&proc).expect("a new folder");
    fs::create_dir_all(&huge).expect("a new folder");
    fs::write(huge.join("hpage_pmd_size"), "2097152\n").expect("a file");
    let words = flags.iter().flat_map(|&flags| {
        // Half of each pageblock is free.
        (0..512).flat_map(move |page| if page % 2 == 0 { 1 << 10 } else { flags }.to_le_bytes())
    });
    fs::write(proc.join("kpageflags"), words.collect::<Vec<_>>()).expect("a file");
    let zone = "Node 0, zone   Normal\n  pages free     2048\n        boost    0\n        min      8\n        low      \
                10\n        high     12\n        spanned  4096\n        present  4096\n        managed  4096\n        \
                cma      0\n        protection: (0, 0)\n  pagesets\n  start_pfn:           0\n";
    fs::write(proc.join("zoneinfo"), zone).expect("a file");
    fs::write(proc.join("buddyinfo"), "Node 0, zone   Normal 2048 0 0 0 0 0 0 0 0 0 0\n").expect("a file");
    fs::write(proc.join("vmstat"), "nr_kernel_stack 16\ncompact_stall 0\n").expect("a file");
    fs::write(
        proc.join("slabinfo"),
        "slabinfo - version: 2.1\ndentry 9 9 192 21 1 : tunables 0 0 0 : slabdata 512 512 0\n",
    )
    .expect("a file");
    fs::write(proc.join("vmallocinfo"), "").expect("a file");
    root
}

pub(super) const ANON: u64 = 1 << 5 | 1 << 12 | 1 << 14;
pub(super) const CACHE: u64 = 1 << 5;
pub(super) const SLAB: u64 = 1 << 7;

pub(super) fn check(root: &Path, words: &str) -> common::Ran {
    let mut command = freehold(["check", "--root"]);
    command.arg(root).args(words.split_ascii_whitespace());
    finish(command)
}

#[test]
fn the_exit_code_is_the_verdict() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let answers = |words: &str, code: i32, expected: &[&str]| {
        let ran = check(root.path(), words);
        assert_eq!(ran.code, Some(code), "{words}: {}{}", ran.stdout, ran.stderr);
        for text in expected {
            assert!(ran.stdout.contains(text), "no {text:?} in: {}", ran.stdout);
        }
    };
    answers(
        "--order 0 --need 2000",
        0,
        &["OK: 2000 x 4K: 2038 free now, 97 % likely for an allocation that may wait."],
    );
    let compacts = "\nAction: freehold repair --need 2M=3 (compacts: 3 expected, 0 free now).\n";
    answers(
        "--need 3",
        1,
        &["WARNING: 3 x 2M: 0 free now, ", "% likely.", compacts, "reaches 3 by compaction"],
    );
    answers("--need 2 --zone normal --node 0", 1, &["--need 2M=2 --node 0 --zone normal (compacts: 3"]);
    answers("--need 8", 2, &["CRITICAL: 8 x 2M: 0 free now", "\nAction: free memory"]);
    answers("--need 4 --json", 1, &["\"after-reclaim-and-compaction\""]);
    answers(
        "--need 8",
        2,
        &["CRITICAL", "1 % likely", "Slab caches: sole blocker of 1 pageblock", "dentry 512"],
    );
    answers("--need 1 --zone normal --node 0", 1, &["WARNING"]);
    answers("--need 9", 2, &["request fewer: these zones have 8 x 2M in all"]);
    answers("--need 3 --by repair", 1, &["after `freehold repair`"]);
    answers("--need 2MiB=4 --json", 1, &["\"block_bytes\": 2097152", "\"order\": 9"]);
    answers(
        "--need 8m",
        1,
        &["1 contiguous range of 8 MiB (order 11) can be had only by reclaim and migration"],
    );
    answers(
        "--need 8m=2",
        2,
        &["2 contiguous ranges of 8 MiB (order 11) cannot be had", "slab caches (256)"],
    );
}

#[test]
fn without_kpageflags_recovery_is_unknown() {
    let root = kernel("linux-6.18");
    let now = check(Path::new(&root), "--order 0");
    assert_eq!(now.code, Some(0), "{}{}", now.stdout, now.stderr);
    let ran = check(Path::new(&root), "--need 100000000");
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("UNKNOWN") && ran.stdout.contains("is unknown"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Not read:") && ran.stdout.contains("kpageflags"), "{}", ran.stdout);
    let json = check(Path::new(&root), "--need 100000000 --json").json();
    assert_eq!((json["exit_code"].as_u64(), json["state"].as_str()), (Some(3), Some("unknown")));
    assert!(json["supply"]["after_compaction"].is_null());
}

#[test]
fn missing_nodes_and_zones_are_refused() {
    let root = machine([ANON; 8]);
    let refused = |words: &str, expected: &str| {
        check(root.path(), words).fails(3, &[expected]);
    };
    refused("--node 1", "node 1 has no memory; only node 0 has");
    refused("--zones dma", "--zones dma: this machine has no such zone with memory, only Normal");
    refused("--by alloc --need 8M", "an allocation has at most 4M");
    refused("--by range --need 64K", "--by range reads pageblocks, of 2M here");
    refused("--zone Movable", "no zone \"Movable\" has memory; the zones with memory are Normal");
    refused("--zone x\u{1b}[31m", "no zone \"x\\u{1b}[31m\" has memory");
    refused(
        "--need 3M",
        "3 MiB is no power of two times this machine's page size of 4 KiB; the nearest sizes are 2 MiB and 4 MiB",
    );
    refused("--need 1K", "the nearest size is 4 KiB");
    refused(
        "--need 1G",
        "1 GiB fits into no zone of this machine; the largest aligned block that does has 16 MiB",
    );
    let nodes = kernel("linux-7.3-cma-numa");
    check(Path::new(&nodes), "--node 7").fails(3, &["node 7 has no memory; nodes 0, 1 have"]);
    check(Path::new(&nodes), "--node 1 --zone DMA")
        .fails(3, &["zone DMA of node 1 has no memory; only node 0 has"]);
    run(["check", "--need", "0"]).fails(3, &["--need", "a number of blocks above 0"]);
    run(["check", "--need", "0M"]).fails(3, &["a size above 0"]);
    check(Path::new(&nodes), "--need 2M --order 9").fails(3, &["cannot be used with"]);
}

#[test]
fn sizes_are_those_of_the_machine_that_is_read() {
    for (name, order) in [("linux-6.12-arm64-16k", 2), ("linux-6.18", 4)] {
        let ran = check(Path::new(&kernel(name)), "--need 64K --json");
        assert_eq!(ran.json()["request"]["order"], order, "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn verdict_is_by_node_and_respects_allowed_nodes() {
    let root = folder();
    let copied = Path::new(&kernel("linux-7.3-cma-numa")).join("proc");
    let proc = root.path().join("proc");
    fs::create_dir_all(proc.join("7")).expect("a new folder");
    for name in ["zoneinfo", "buddyinfo", "vmstat", "meminfo"] {
        fs::copy(copied.join(name), proc.join(name)).expect("a file of the fixture");
    }
    let cgroup = root.path().join("sys/fs/cgroup/web");
    fs::create_dir_all(&cgroup).expect("a new folder");
    fs::write(cgroup.join("cpuset.mems.effective"), "1\n").expect("a file");
    let now = |words: &str| {
        let json = check(root.path(), &format!("--json --order 0 --need 1 {words}")).json();
        let nodes = json["nodes"].as_array().map_or(Vec::new(), Clone::clone);
        let of_nodes: Vec<_> = nodes.iter().map(|n| n["supply"]["now"].as_u64().expect("a number")).collect();
        (json["supply"]["now"].as_u64().expect("a number"), of_nodes)
    };
    let (all, nodes) = now("");
    assert!(
        nodes.len() == 2 && nodes.iter().sum::<u64>() == all && nodes.iter().all(|&now| now > 0),
        "{nodes:?}"
    );
    assert!(check(root.path(), "").stdout.contains("Node 1 alone: "));
    let only = |node: usize| (nodes[node], vec![]);
    assert_eq!((now("--node 0"), now("--node 1"), now("--for-cgroup web")), (only(0), only(1), only(1)));
    let status = |list: &str| fs::write(proc.join("7/status"), format!("Mems_allowed_list:\t{list}\n"));
    status("0").expect("a file");
    assert_eq!(now("--for-pid 7"), only(0));
    assert!(check(root.path(), "--for-pid 7").stdout.contains("Not read: memory policies of process 7"));
    check(root.path(), "--for-pid 7 --node 1").fails(3, &["process 7 may not use node 1, only 0"]);
    status("0-1").expect("a file");
    fs::write(proc.join("7/numa_maps"), "7f00 bind:1 anon=3\n").expect("a file");
    assert_eq!(now("--for-pid 7"), only(1));
    status("5").expect("a file");
    fs::remove_file(proc.join("7/numa_maps")).expect("a file");
    check(root.path(), "--for-pid 7").fails(3, &["process 7 may use only nodes without memory (5)"]);
    check(root.path(), "--for-pid 8").fails(3, &["process 8", "name a running process"]);
    check(root.path(), "--for-cgroup db").fails(3, &["cpuset.mems.effective", "below /sys/fs/cgroup"]);
}

/// A machine of `pageblocks` pageblocks of 2 MiB, of which the first, the fourth and so on hold slab, the next ones
/// anonymous memory, and the others nothing.
fn large_machine(pageblocks: usize) -> tempfile::TempDir {
    let root = machine([ANON; 8]);
    let proc = root.path().join("proc");
    let block =
        |flags: u64| [flags].repeat(512).iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let kinds = [block(SLAB), block(ANON), block(1 << 10)];
    let words: Vec<u8> = (0..pageblocks).flat_map(|at| kinds[at % 3].iter().copied()).collect();
    fs::write(proc.join("kpageflags"), words).expect("a file");
    let zone = fs::read_to_string(proc.join("zoneinfo")).expect("the zone");
    let zone = zone.replace("4096", &(pageblocks * 512).to_string());
    let free = format!("pages free     {}", pageblocks / 3 * 512);
    fs::write(proc.join("zoneinfo"), zone.replace("pages free     2048", &free)).expect("a file");
    let free = format!("Node 0, zone   Normal 0 0 0 0 0 0 0 0 0 {} 0\n", pageblocks / 3);
    fs::write(proc.join("buddyinfo"), free).expect("a file");
    root
}

#[test]
fn a_sample_agrees_with_the_full_survey() {
    let root = large_machine(300);
    let quick = |words: &str| check(root.path(), &format!("--quick --json {words}")).json();
    let all = quick("--need 90");
    assert_eq!((&all["tally"]["all"], &all["tally"]["sampled"]), (&300.into(), &300.into()), "{all}");
    assert_eq!(all["emptied"]["likely"], 200, "all blocks were looked at");
    let full = check(root.path(), "--json --need 90").json();
    assert_eq!((&all["state"], &all["now"]["likely"]), (&full["state"], &full["supply"]["now"]), "{full}");
    let ran = check(root.path(), "--quick --need 201");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("CRITICAL: 201 x 2M: 99 free now, and too few"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("Of 300 aligned blocks 300 were looked at: 200 hold nothing unmovable; free")
    );
    let ranges = quick("--need 8M=1");
    assert_eq!(
        (&ranges["emptied"]["most"], &ranges["state"]),
        (&0.into(), &"not-before-freed".into()),
        "{ranges}"
    );
    check(root.path(), "--quick --need 1M").fails(3, &["--quick reads pageblocks, of 2 MiB here"]);
}

#[test]
fn a_zone_keeps_nothing_back_from_requests_for_itself() {
    let root = kernel("linux-7.3-cma-numa");
    let ran = check(Path::new(&root), "--zone DMA --order 0 --need 20");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn unusable_arguments_exit_with_unknown() {
    run(["check", "--order", "19"]).fails(3, &["an order is 0 to 18"]);
    run(["check", "--no-such-argument"]).fails(3, &["--no-such-argument"]);
    run(["check", "--verify", "--root", "/"]).fails(3, &["cannot be used with"]);
    run(["no-such-command"]).fails(64, &["no-such-command"]);
    let empty = folder();
    check(empty.path(), "").fails(3, &["UNKNOWN", "zoneinfo"]);
    let root = machine([ANON; 8]);
    fs::write(root.path().join("proc/zoneinfo"), "Node 0, zone Nor").expect("a file");
    check(root.path(), "").fails(3, &["UNKNOWN", "zoneinfo"]);
    assert!(run(["check", "--help"]).ok().stdout.contains("2 CRITICAL, less\nthan 10 % likely"));
}

#[test]
fn orders_are_those_of_the_machine() {
    let (usual, large) = (kernel("linux-6.12-arm64-numa"), kernel("linux-6.12-arm64-16k"));
    let range = check(Path::new(&usual), "--order 11");
    assert_eq!(range.code, Some(3), "{}{}", range.stdout, range.stderr);
    assert!(
        range.stdout.starts_with("UNKNOWN: 1 contiguous range of 8 MiB (order 11)")
            && range.stdout.contains("\nAction: run as root, so that"),
        "{}",
        range.stdout
    );
    let huge = check(Path::new(&large), "");
    assert!(huge.stdout.contains("OK: 1 x 32M: 7 free now"), "{}", huge.stdout);
    check(Path::new(&large), "--order 18").fails(3, &["4 GiB fits into no zone of this machine"]);
    // Eight are free, one of them on the reserve for atomic requests.
    let there = check(Path::new(&large), "--order 11 --need 7 --json");
    assert_eq!(there.code, Some(0), "{}{}", there.stdout, there.stderr);
    assert_eq!(there.json()["supply"]["now"], 7);
    let reserved = check(Path::new(&large), "--order 11 --need 8");
    assert_eq!(reserved.code, Some(1), "{}{}", reserved.stdout, reserved.stderr);
    assert!(
        reserved.stdout.contains("1 more is free but reserved (HighAtomic, CMA or isolated)"),
        "{}",
        reserved.stdout
    );
}

#[test]
fn the_plugin_of_node_problem_detector_has_its_codes() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let plugin =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/node-problem-detector/freehold-npd");
    for (words, code, of_plugin) in [
        ("--order 0", 0, 0),
        ("--need 3", 1, 0),
        ("--need 9", 2, 1),
        ("--need 3M", 3, 2),
        ("--order 9999", 3, 2),
    ] {
        assert_eq!(check(root.path(), words).code, Some(code), "{words}");
        let mut command = std::process::Command::new(&plugin);
        command
            .env("FREEHOLD", env!("CARGO_BIN_EXE_freehold"))
            .args(words.split(' '))
            .arg("--root")
            .arg(root.path());
        let output = command.output().expect("the plugin starts");
        assert_eq!(output.status.code(), Some(of_plugin), "{words}: {output:?}");
        let said = String::from_utf8(output.stdout).expect("text");
        assert!(said.lines().count() == 1 && said.len() > 10, "{words}: {said:?}");
    }
}

/// The first event of a server's page after a scan of all pageblocks.
fn first_verdict(root: &Path) -> serde_json::Value {
    let mut command = freehold(["serve", "--interval", "0.05", "--listen", "127.0.0.1:0", "--root"]);
    let server = Server::run(command.arg(root));
    wait_for("a verdict of all pageblocks", || {
        let mut stream = server.connect();
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let mut models = lines.skip_while(|line| line != "event: model");
        let line = models.nth(1).expect("a model");
        let event: serde_json::Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
        let verdict = &event["model"]["verdicts"][0];
        verdict["supply"]["after_compaction"].is_u64().then(|| verdict.clone())
    })
}

#[test]
fn all_views_name_the_same_action() {
    for (flags, does) in [
        ([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE], "freehold repair --need 2M=1 (compacts: 3"),
        (
            [SLAB, SLAB, SLAB, CACHE, SLAB, SLAB, SLAB, SLAB],
            "freehold repair --need 2M=1 (drops page cache: 1",
        ),
    ] {
        let root = machine(flags);
        let (full, verdict) = (check(root.path(), "--json --need 1").json(), first_verdict(root.path()));
        let action = verdict["action"].as_str().unwrap_or_else(|| panic!("{verdict}"));
        assert!(action.starts_with(&format!("Action: {does} expected")), "{action}");
        assert_eq!((&full["action"], &full["state"]), (&verdict["action"], &verdict["state"]), "{full}");
        assert_eq!(full["supply"], verdict["supply"]);
        let ran = check(root.path(), "--need 1");
        assert!(ran.stdout.starts_with("WARNING: 1 x 2M: 0 free now, "), "{}", ran.stdout);
        assert_eq!(ran.stdout.lines().nth(1), Some(format!("{action}.").as_str()));
        let mut watch = freehold(["watch", "--above", "verdict=0", "--timeout", "60", "--root"]);
        watch.arg(root.path());
        assert_eq!(finish(watch).stdout, format!("verdict = 1 > 0: {action}\n"));
    }
}

#[test]
fn processes_are_examined_only_by_the_full_check() {
    let root = machine([SLAB; 8]);
    let full = check(root.path(), "--json --need 1").json();
    fs::write(root.path().join("proc/vmstat"), "nr_slab_reclaimable 2048\n").expect("a file");
    let named = check(root.path(), "--json --need 1").json();
    let verdict = first_verdict(root.path());
    assert_eq!(full["action"], "Action: free memory, or reboot");
    let slabs = "Action: free memory: reclaimable slab caches hold 8 MiB";
    assert!(named["action"].as_str().is_some_and(|action| action.starts_with(slabs)), "{named}");
    let other = "Action: free memory: `freehold check --need 2M=1` says who holds it";
    assert_eq!((&verdict["action"], &verdict["state"]), (&other.into(), &named["state"]), "{verdict}");
}

#[test]
fn quick_check_names_the_same_action() {
    let quick_and_full = |root: &Path, words: &str| {
        ["--quick --json", "--json"]
            .map(|how| check(root, &format!("{how} {words}")).json()["action"].clone())
    };
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let [quick, full] = quick_and_full(root.path(), "--need 2");
    let does = "Action: freehold repair --need 2M=2 (compacts: 3 expected, 0 free now)";
    assert_eq!((&quick, &full), (&does.into(), &does.into()));
    let ran = check(root.path(), "--quick --need 2");
    assert_eq!(ran.stdout.lines().nth(1), Some(format!("{does}.").as_str()), "{}", ran.stdout);

    let root = large_machine(300);
    for words in ["--need 201", "--need 8M=1"] {
        let [quick, full] = quick_and_full(root.path(), words);
        assert_eq!(quick, "Action: free memory: run without --quick to see who uses it");
        assert!(full.as_str().is_some_and(|full| full.starts_with("Action: free memory")), "{full}");
    }
    assert_eq!(quick_and_full(root.path(), "--need 90"), [serde_json::Value::Null, serde_json::Value::Null]);
}

#[test]
fn needs_of_a_monitor_are_those_of_the_machine() {
    let root = machine([ANON, ANON, ANON, ANON, SLAB, CACHE, CACHE, CACHE]);
    let snapshot = |words: &str| {
        let mut command = freehold(["snapshot", "--format", "json", "--quiet", "--root"]);
        command.arg(root.path()).args(words.split_ascii_whitespace());
        finish(command)
    };
    let found = snapshot("--need 2M=8 --need 4K=1").ok();
    let verdicts = &found.json()["verdicts"];
    let shown = |at: usize| {
        let verdict = &verdicts[at];
        (verdict["title"].as_str().expect("a title").to_owned(), verdict["need"].as_u64())
    };
    assert_eq!(shown(0), ("CRITICAL: 8 x 2M, 1 % likely".to_owned(), Some(8)), "{verdicts}");
    assert_eq!(shown(1), ("OK: 1 x 4K".to_owned(), Some(1)), "{verdicts}");
    assert_eq!(verdicts[0]["numbers"], "0 free now, 5 (3 to 6) expected", "{verdicts}");
    assert_eq!(found.stderr, "");
    let file = root.path().join("needs");
    fs::write(&file, "2M=8 # the pool\n4K=1\n").expect("a file");
    let of_file = snapshot(&format!("--need @{}", file.display())).ok();
    assert_eq!(of_file.json()["verdicts"][0]["title"], verdicts[0]["title"]);
    for (words, expected) in [
        ("--need 2M=8 --need 2M=9", "--need names 2M twice"),
        ("--need 3M=1", "3 MiB is no power of two"),
        ("--need 2M:9", "write SIZE=BLOCKS, such as 2M=500: a size above 0 with a unit"),
        ("--need 2Q=9", "write SIZE=BLOCKS, such as 2M=500: a size above 0 with a unit"),
    ] {
        snapshot(words).fails(64, &[expected]);
    }
    snapshot("--need @/nowhere").fails(66, &["--need @/nowhere: /nowhere cannot be read"]);
    check(root.path(), "--need @/nowhere")
        .fails(3, &["a file of needs is for serve, top, watch and snapshot"]);
    let perfdata = check(root.path(), "--need 4K=1 --perfdata").ok().stdout;
    let first = perfdata.lines().next().unwrap_or_default();
    assert!(first.starts_with("OK: 1 x 4K: ") && first.contains(" | needed=1 free="), "{perfdata}");
    let mut text = freehold(["snapshot", "--need", "2M=1", "--root"]);
    text.arg(root.path());
    finish(text).fails(64, &["--need is for `--format json`"]);
    let mut watch = freehold(["watch", "--quiet", "--timeout", "20", "--interval", "0.05", "--root"]);
    watch.arg(root.path()).args(["--need", "2M=8"]);
    let watched = finish(watch);
    assert_eq!((watched.code, watched.stderr.as_str()), (Some(0), ""));
    assert!(watched.stdout.starts_with("verdict = 2 > 1: Action: "), "{}", watched.stdout);
}
