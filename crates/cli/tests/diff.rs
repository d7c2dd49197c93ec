//! `freehold diff` over snapshots of every form.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ran, folder, run};

fn case(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

fn diff(before: &Path, after: &Path, more: &[&str]) -> Ran {
    let paths = [before, after].map(|path| path.to_str().expect("a path in UTF-8"));
    run(["diff"].iter().chain(&paths).chain(more))
}

#[track_caller]
fn says(ran: &Ran, expected: &[&str]) {
    for text in expected {
        assert!(ran.stdout.contains(text), "no {text:?} in: {}{}", ran.stdout, ran.stderr);
    }
    assert!(ran.stdout.lines().count() <= 24 && ran.stdout.lines().all(|line| line.chars().count() <= 100));
}

const CHANGES: [&str; 6] = [
    "Less fragmented: blocks of 2 MiB (order 9) 1023 -> 1181 (+158)",
    "Node 0, zone Normal: free pages 1149316 -> 1156520 (+7204)",
    "unusable 0.544 -> 0.477",
    "pageblocks: Unmovable 834 -> 81, Movable 1572 -> 2325",
    "free pages on lists: Unmovable 388097 -> 12402",
    "free blocks of orders 0 to 10: -2348 -3080",
];

#[test]
fn two_snapshots_are_compared_in_every_form() {
    let (before, after) = (case("two-snapshots/before"), case("two-snapshots/after"));
    says(&diff(&before, &after, &[]).ok(), &CHANGES);
    says(&diff(&before.join("proc"), &after.join("proc/pagetypeinfo"), &[]).ok(), &CHANGES);
    let made = folder();
    let json = made.path().join("before.json");
    let root = before.to_str().expect("a path in UTF-8");
    let snapshot = run(["snapshot", "--format", "json", "--sensor", "procfs", "--root", root]).ok();
    fs::write(&json, snapshot.stdout).expect("a file");
    says(&diff(&json, &after, &[]).ok(), &CHANGES);
    let report = made.path().join("report.txt");
    let table = fs::read_to_string(after.join("proc/pagetypeinfo")).expect("a fixture");
    fs::write(
        &report,
        format!("------ PAGETYPEINFO (/proc/pagetypeinfo) ------\n{table}------ END ------\n"),
    )
    .expect("a file");
    says(&diff(&before, &report, &[]).ok(), &CHANGES);
    assert_eq!(diff(&after, &report, &[]).ok().stdout, "No difference in free memory.\n");
}

#[test]
fn small_blocks_alone_are_no_change_of_fragmentation() {
    let made = folder();
    let of = |name: &str, order_0: u64, order_10: u64| {
        let proc = made.path().join(name).join("proc");
        fs::create_dir_all(&proc).expect("a new folder");
        let row = format!("Node 0, zone   Normal {order_0} 0 0 0 0 0 0 0 0 0 {order_10} \n");
        fs::write(proc.join("buddyinfo"), row).expect("a file");
        made.path().join(name)
    };
    let (some, used, more) = (of("some", 512 * 30, 10), of("used", 512 * 20, 10), of("more", 512 * 30, 20));
    says(&diff(&some, &used, &[]).ok(), &["Fewer small free blocks: blocks of 4 MiB"]);
    says(&diff(&used, &some, &[]).ok(), &["More small free blocks: "]);
    says(&diff(&some, &more, &[]).ok(), &["Less fragmented: blocks of 4 MiB (order 10) 10 -> 20 (+10)"]);
    says(&diff(&more, &some, &[]).ok(), &["More fragmented: "]);
}

#[test]
fn json_has_every_number() {
    let ran = diff(&case("two-snapshots/before"), &case("two-snapshots/after"), &["--json"]).ok();
    let zone = &ran.json()["zones"][0];
    assert_eq!(zone["blocks"], serde_json::json!({"before": 1023, "after": 1181}));
    assert_eq!(zone["free"][10], serde_json::json!({"before": 380, "after": 460}));
    assert_eq!(zone["pageblocks"][0], serde_json::json!({"type": "Unmovable", "before": 834, "after": 81}));
}

#[test]
fn missing_parts_of_a_snapshot_are_named() {
    let (old, new) = (case("roots/root-no-managed"), case("roots/root-cma-no-pagetypeinfo"));
    let ran = diff(&old, &new, &[]).ok();
    says(
        &ran,
        &["zone HighMem: only in the first snapshot, 17501 free pages", "second snapshot has no types"],
    );
    let zoneinfo = diff(&old.join("proc/zoneinfo"), &new, &[]).ok();
    says(&zoneinfo, &["Free pages 51729 -> 34682", "free blocks are unknown in one snapshot"]);
}

#[test]
fn files_other_than_snapshots_are_refused() {
    let made = folder();
    let text = made.path().join("text");
    fs::write(&text, "Dear list,\n").expect("a file");
    let after = case("two-snapshots/after");
    diff(&text, &after, &[]).fails(65, &["no buddyinfo, pagetypeinfo or zoneinfo was found", "a bug report"]);
    diff(&made.path().join("none"), &after, &[]).fails(66, &["does not exist", "Name a folder with proc"]);
    fs::write(&text, "{\"zones\": 7}\n").expect("a file");
    diff(&text, &after, &[]).fails(65, &["not the JSON of `freehold snapshot --format json`"]);
    fs::write(&text, "Node 0, zone DMA 1 2 3\nNode 0, zone Normal 1 2\n").expect("a file");
    diff(&text, &after, &[]).fails(65, &["text:/proc/buddyinfo:2", "3 orders"]);
}
