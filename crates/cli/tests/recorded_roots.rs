//! Files of machines as people copy and paste them: old, cut, without a file or a line. Each root was made of a public report.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ran, folder, run};

fn root(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/roots").join(case)
}

fn on(root: &Path, command: &str, words: &str) -> Ran {
    let root = root.to_str().expect("a path in UTF-8");
    run([command, "--root", root].into_iter().chain(words.split_ascii_whitespace()))
}

fn check(case: &str, words: &str) -> Ran {
    on(&root(case), "check", words)
}

#[track_caller]
fn says(ran: &Ran, code: i32, expected: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
    for text in expected {
        assert!(ran.stdout.contains(text), "no {text:?} in: {}", ran.stdout);
    }
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("format is new"), "{}", ran.stdout);
}

#[test]
fn pagetypeinfo_without_its_first_lines_has_free_lists() {
    let ran = check("root-damaged-pagetypeinfo", "--order 10");
    let lacks = "pagetypeinfo lacks its first line (`Page block order: 9`)";
    says(&ran, 0, &["29 free now", "3 more are free but reserved (HighAtomic, CMA", lacks]);
    let text = on(&root("root-damaged-pagetypeinfo"), "snapshot", "--sensor procfs").ok();
    assert!(
        text.stdout.starts_with("Page block order: 10\n") && text.stderr.contains(lacks),
        "{}",
        text.stderr
    );
    let copied = folder();
    fs::create_dir(copied.path().join("proc")).expect("a new folder");
    let lists = fs::read(root("root-damaged-pagetypeinfo").join("proc/pagetypeinfo")).expect("a fixture");
    fs::write(copied.path().join("proc/pagetypeinfo"), lists).expect("a file");
    assert_eq!(
        on(copied.path(), "snapshot", "--sensor procfs").ok().stdout,
        text.stdout,
        "without buddyinfo"
    );
}

#[test]
fn damage_of_pagetypeinfo_is_named() {
    let copied = folder();
    let proc = copied.path().join("proc");
    fs::create_dir(&proc).expect("a new folder");
    for name in ["buddyinfo", "zoneinfo", "meminfo", "pagetypeinfo"] {
        let text =
            fs::read_to_string(root("root-damaged-pagetypeinfo").join("proc").join(name)).expect("a fixture");
        fs::write(proc.join(name), text.replace("type          CMA      0", "type          CMA      x"))
            .expect("a file");
    }
    let damage =
        "pagetypeinfo:7: expected free blocks (a number), found \"x\". Check that the file is a whole copy";
    let ran = on(copied.path(), "check", "--order 10");
    says(&ran, 0, &["29 free now", "Not read: types of free blocks: ", damage]);
    on(copied.path(), "snapshot", "--sensor procfs").fails(65, &["free blocks by migratetype", damage]);
}

#[test]
fn a_last_line_without_its_end_counts_if_it_is_whole() {
    let ran = check("root-no-newline", "");
    let contradiction =
        "zone DMA32, zoneinfo has 122008 free pages and pagetypeinfo has 198205; copy all files at once";
    says(&ran, 0, &["x 2M: ", "zoneinfo ends without a line break", contradiction]);
    let cut = folder();
    fs::create_dir(cut.path().join("proc")).expect("a new folder");
    fs::write(cut.path().join("proc/buddyinfo"), "Node 0, zone DMA 1 2 \nNode 0, zone Normal 1 2")
        .expect("a file");
    let wanted = "expected a line break at the end (the text may be cut; add one if its last line is whole)";
    on(cut.path(), "snapshot", "--sensor procfs --format buddyinfo").fails(65, &["buddyinfo:2", wanted]);
}

#[test]
fn quoted_mail_reads_as_the_text() {
    let quoted = folder();
    fs::create_dir(quoted.path().join("proc")).expect("a new folder");
    for name in ["buddyinfo", "zoneinfo", "pagetypeinfo", "meminfo"] {
        let text = fs::read_to_string(root("json-types-order").join("proc").join(name)).expect("a fixture");
        let marked = format!("> {}\n", text.trim_end_matches('\n').replace('\n', "\n> "));
        fs::write(quoted.path().join("proc").join(name), marked).expect("a file");
    }
    let plain = on(&root("json-types-order"), "snapshot", "--sensor procfs").ok();
    assert_eq!(on(quoted.path(), "snapshot", "--sensor procfs").ok().stdout, plain.stdout);
}

#[test]
fn kernels_before_3_9_have_no_managed_pages() {
    let note = "has no `managed` rows, as Linux before 3.9 prints none: `present` pages are taken";
    says(&check("root-no-managed", "--order 4"), 0, &["2827 free now", note]);
    says(&check("root-no-managed", "--order 4 --zone Normal"), 0, &["2337 free now"]);
    says(&check("root-no-managed", "--order 4 --zone HighMem"), 0, &["742 free now"]);
}

#[test]
fn the_order_of_a_pageblock_is_that_of_pagetypeinfo() {
    says(
        &check("root-pageblock-order", ""),
        0,
        &["x 2M: ", "259 free now", "pages are assumed to have 4 KiB"],
    );
}

#[test]
fn the_size_of_a_page_can_be_named_and_an_assumed_one_is_said() {
    let assumed = check("root-64k-no-meminfo", "--need 2M");
    says(&assumed, 3, &["x 2M: ", "pages are assumed to have 4 KiB", "name it with --page-size"]);
    let named = check("root-64k-no-meminfo", "--need 2M --page-size 64K");
    says(&named, 3, &["x 2M: ", "the 294 free blocks", "511.5 MiB of free memory are CMA's"]);
    assert!(!named.stdout.contains("assumed"), "{}", named.stdout);
    let json = on(&root("root-64k-no-meminfo"), "snapshot", "--format json --page-size 64K").ok().json();
    assert_eq!(json["machine"]["page_bytes"], 65536);
    assert!(!json["notes"].to_string().contains("assumed"), "{}", json["notes"]);
    check("root-64k-no-meminfo", "--page-size 3K").fails(3, &["a power of two from 4K to 256K"]);
}

#[test]
fn files_of_two_machines_make_no_page_of_8_kib() {
    let mixed = folder();
    fs::create_dir(mixed.path().join("proc")).expect("a new folder");
    for name in ["buddyinfo", "zoneinfo", "meminfo"] {
        let text =
            fs::read_to_string(root("root-cma-no-pagetypeinfo").join("proc").join(name)).expect("a fixture");
        fs::write(mixed.path().join("proc").join(name), text.replace("252308", "504616")).expect("a file");
    }
    let machines = "of two machines: meminfo has 492 MiB of memory, zoneinfo 246 MiB in pages of 4 KiB";
    says(&on(mixed.path(), "check", "--order 10"), 0, &["x 4M: ", machines]);
}

#[test]
fn free_memory_of_cma_is_not_for_ordinary_requests() {
    let ran = check("root-cma-no-pagetypeinfo", "--order 10");
    says(&ran, 0, &["29 free now", "29 at least, 32 at most", "15.7 MiB of free memory are CMA's"]);
    says(&check("root-cma-no-pagetypeinfo", "--order 4"), 0, &["1876 free now"]);
    assert_eq!(check("root-cma-no-pagetypeinfo", "--order 10 --need 30").code, Some(3));
}

#[test]
fn arrays_by_type_are_in_the_order_of_the_types() {
    let json = on(&root("json-types-order"), "snapshot", "--format json --sensor procfs").ok().json();
    let types = json["types"].as_array().expect("an array");
    let zone = &json["zones"][0];
    assert_eq!(types[1..3], ["Reclaimable", "Movable"]);
    assert_eq!(zone["pageblocks"], serde_json::json!([9, 1, 21, 1, 0, 0]));
    let lists = zone["by_type"].as_array().expect("an array");
    assert_eq!((lists.len(), &lists[2][0]["blocks"]), (types.len(), &serde_json::json!(16)));
}

#[test]
fn a_bug_report_in_one_file_is_a_machine() {
    let report = root("excerpt-one-file/bugreport.txt");
    let expected = [
        "UNKNOWN: 5 free blocks of 16 KiB (order 2)",
        "48645 free pages (190.0 MiB): Unmovable 45254, Reclaimable 3357, Movable 10, Reserve 22, CMA 2",
        "blocks of order 2 in them: Reserve 5",
        "727 pageblocks: Unmovable 362",
        "columns end at order 4, so the numbers of larger blocks are unknown",
        "bugreport.txt:/proc/zoneinfo is missing",
    ];
    says(&on(&report, "check", "--order 2"), 3, &expected);
    says(&on(&report, "check", "--order 3"), 3, &["blocks of order 3 in them: none"]);
    on(&report, "check", "").fails(3, &["blocks above order 4 are unknown", "--order 0 to 4"]);
    let text = on(&report, "snapshot", "--sensor procfs").ok();
    assert!(text.stdout.contains("type      Reserve      0      1      5      0      0"), "{}", text.stdout);
    assert!(text.stderr.contains("bugreport.txt:/proc/pagetypeinfo is cut"), "{}", text.stderr);
}

#[test]
fn an_archive_and_its_folder_are_a_machine() {
    let made = folder();
    let inner = made.path().join("sosreport-x/proc");
    fs::create_dir_all(&inner).expect("a new folder");
    let mut archive = Vec::new();
    for name in ["buddyinfo", "zoneinfo", "meminfo", "pagetypeinfo"] {
        let text = fs::read(root("root-damaged-pagetypeinfo").join("proc").join(name)).expect("a fixture");
        fs::write(inner.join(name), &text).expect("a file");
        let mut header = vec![0; 512];
        let path = format!("sosreport-x/proc/{name}");
        header[..path.len()].copy_from_slice(path.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", text.len()).as_bytes());
        header[257..262].copy_from_slice(b"ustar");
        archive.extend_from_slice(&header);
        archive.extend_from_slice(&text);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    let tar = made.path().join("sosreport-x.tar");
    fs::write(&tar, &archive).expect("a file");
    says(&on(&tar, "check", "--order 10"), 0, &["29 free now"]);
    says(&on(made.path(), "check", "--order 10"), 0, &["29 free now"]);
    fs::write(&tar, &archive[..archive.len() / 2 + 100]).expect("a file");
    let cut = on(&tar, "check", "--order 10");
    cut.fails(3, &["UNKNOWN: cannot read ", "unexpected end of file"]);
    on(Path::new("/proc"), "check", "--need 1")
        .fails(3, &["/proc has the files of a running machine; name / for this"]);
}
