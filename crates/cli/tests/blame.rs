//! `freehold blame`: over a copy of a machine's files.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Ran, finish, folder, freehold, run};

const SLAB: u64 = 1 << 7;
const BUDDY: u64 = 1 << 10;
const PAGE_TABLE: u64 = 1 << 26;
/// Referenced, which alone says nothing of who uses a page.
const KERNEL: u64 = 1 << 2;

/// A machine of four pageblocks of 2 MiB that are free but for one page each, at half of the block.
fn machine(flags: [u64; 4]) -> tempfile::TempDir {
    let root = folder();
    let (proc, huge) = (root.path().join("proc"), root.path().join("sys/kernel/mm/transparent_hugepage"));
    fs::create_dir_all(&proc).expect("a new folder");
    fs::create_dir_all(&huge).expect("a new folder");
    fs::write(huge.join("hpage_pmd_size"), "2097152\n").expect("a file");
    let words = flags.iter().flat_map(|&flags| {
        (0..512).flat_map(move |page| if page == 256 { flags } else { BUDDY }.to_le_bytes())
    });
    fs::write(proc.join("kpageflags"), words.collect::<Vec<_>>()).expect("a file");
    let zone = "Node 0, zone   Normal\n  pages free     2044\n        boost    0\n        min      8\n        low      \
                10\n        high     12\n        spanned  2048\n        present  2048\n        managed  2048\n        \
                cma      0\n        protection: (0, 0)\n  pagesets\n  start_pfn:           0\n";
    fs::write(proc.join("zoneinfo"), zone).expect("a file");
    fs::write(proc.join("buddyinfo"), "Node 0, zone   Normal 4 4 4 4 4 4 4 4 4 0 0\n").expect("a file");
    root
}

const OWNER: &str = "\
Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (init), ts 5000000 ns
PFN 0x100 type Unmovable Block 0 type Unmovable Flags 0x4(referenced)
 __alloc_pages_noprof+0x1a2/0x330
 pipe_write+0x3a0/0x4c0
 vfs_write+0x20/0x30

Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (init), ts 6000000 ns
PFN 0x301 type Unmovable Block 0 type Unmovable Flags 0x4(referenced)
 __alloc_pages_noprof+0x1a2/0x330
 somebody_else+0x3a0/0x4c0

";

fn blame(root: &Path, words: &str) -> Ran {
    let mut command = freehold(["blame", "--root"]);
    command.arg(root).args(words.split_ascii_whitespace());
    finish(command)
}

/// Returns what and code of each row, and its blocks.
fn rows(json: &Value) -> Vec<(String, u64)> {
    let row = |row: &Value| {
        let code = row["code"].as_str().map_or(String::new(), |code| format!(": {code}"));
        (
            format!("{}{code}", row["what"].as_str().expect("a text")),
            row["blocks"].as_u64().expect("a number"),
        )
    };
    json["rows"].as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn without_page_owner_page_flags_name_the_pinning_pages() {
    let root = machine([KERNEL, SLAB, PAGE_TABLE, BUDDY]);
    let json = blame(root.path(), "--json").ok().json();
    assert_eq!(json["kept"], 3);
    assert_eq!(json["named"], serde_json::json!({ "whole": 1, "partly": 0, "not": 2 }));
    let named = |name: &str| (name.to_owned(), 1);
    assert_eq!(rows(&json), [named("kernel pages"), named("page tables"), named("slab")]);
    let pairs = blame(root.path(), "--size 4M --json").ok().json();
    assert_eq!((pairs["kept"].as_u64(), pairs["order"].as_u64()), (Some(2), Some(10)));
    assert_eq!(blame(root.path(), "--order 8 --json").ok().json()["kept"], 3);
    let text = blame(&root.path().join("../nowhere"), "");
    text.fails(66, &["nowhere"]);
}

#[test]
fn with_page_owner_the_code_is_named() {
    let root = machine([KERNEL, SLAB, PAGE_TABLE, BUDDY]);
    let debug = root.path().join("sys/kernel/debug");
    fs::create_dir_all(&debug).expect("a new folder");
    fs::write(debug.join("page_owner"), OWNER).expect("a file");
    let graph = root.path().join("graph.folded");
    let words = format!("--json --folded {}", graph.display());
    let json = blame(root.path(), &words).ok().json();
    assert_eq!(json["named"], serde_json::json!({ "whole": 2, "partly": 0, "not": 1 }));
    assert_eq!(rows(&json)[0], ("kernel pages: pipe_write".to_owned(), 1));
    let written = fs::read_to_string(&graph).expect("the graph");
    assert_eq!(
        written,
        "kernel pages;vfs_write;pipe_write;__alloc_pages_noprof 1000\npage tables 1000\nslab 1000\n"
    );
    blame(root.path(), &words).fails(64, &["graph.folded", "--force"]);
    let text = blame(root.path(), "--rows 1").ok().stdout;
    assert!(
        text.starts_with("3 blocks of 2 MiB are kept by unmovable pages. By whom is known of 2 (66.7 %)"),
        "{text}"
    );
    assert!(text.contains("and 2 more") && text.contains("those of page_owner"), "{text}");
    fs::write(debug.join("page_owner"), "Page allocated via order x\n").expect("a file");
    blame(root.path(), "").fails(65, &["page_owner:2", "the frame of a page"]);
}

/// The kernel's account, with a row of `pipes` pages.
fn allocinfo(pipes: u64) -> String {
    let mut text = "allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n".to_owned();
    for (pages, place) in [
        (900, "mm/memory.c:5358 func:alloc_anon_folio"),
        (800, "mm/slub.c:3311 func:alloc_slab_page"),
        (pipes, "fs/pipe.c:506 func:anon_pipe_write"),
        (30, "fs/ext4/super.c:1393 [ext4] func:ext4_alloc_inode accurate:no"),
    ] {
        writeln!(text, "{:>12} {pages:>8} {place} ", pages << 12).expect("a text");
    }
    text
}

#[test]
fn code_with_memory_in_use_is_listed_with_its_growth() {
    let root = machine([KERNEL, SLAB, PAGE_TABLE, BUDDY]);
    let json = blame(root.path(), "--json").ok().json();
    assert!(json.get("code_in_use").is_none(), "{json}");
    let (file, later) = (root.path().join("proc/allocinfo"), root.path().join("later"));
    fs::write(&file, allocinfo(100)).expect("a file");
    fs::write(&later, allocinfo(1500)).expect("a file");
    let without_watch = blame(root.path(), "--json").ok().json();
    assert!(without_watch["code_in_use"]["sites"][0].get("grown_bytes").is_none());
    let words = format!("-- cp {} {}", later.display(), file.display());
    let json = blame(root.path(), &format!("--json {words}")).ok().json();
    let sites = json["code_in_use"]["sites"].as_array().expect("sites");
    let listed: Vec<_> =
        sites.iter().map(|site| (&site["function"], &site["grown_bytes"], &site["kind"])).collect();
    assert_eq!(
        serde_json::json!(listed),
        serde_json::json!([
            ["anon_pipe_write", 1400 << 12, "kernel"],
            ["alloc_anon_folio", 0, "user"],
            ["alloc_slab_page", 0, "allocator"],
            ["ext4_alloc_inode", 0, "kernel"],
        ])
    );
    assert_eq!(sites[3]["module"], "ext4");
    fs::write(&file, allocinfo(100)).expect("a file");
    let text = blame(root.path(), &format!("--rows 1 {words}")).ok().stdout;
    let grown = "1\u{202f}500    +1\u{202f}400   4\u{202f}096 B  anon_pipe_write, fs/pipe.c:506\nand 1 more with 30 pages\n";
    assert!(text.contains(grown) && text.contains("The code of 2 kernel and slab pages"), "{text}");
    assert!(text.contains("Left out: 900 pages of anonymous memory"), "{text}");
}

#[test]
fn the_account_of_a_guest_with_full_pipes_names_what_fills_pipes() {
    let root = machine([KERNEL; 4]);
    let fixture = "../linux/tests/fixtures/linux-7.3-alloc-profiling/proc/allocinfo";
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
    fs::copy(fixture, root.path().join("proc/allocinfo")).expect("a copy");
    let text = blame(root.path(), "--rows 2").ok().stdout;
    let table = "\
   pages     grown      each  code
   4\u{202f}800         –   4\u{202f}096 B  anon_pipe_prefill_and_lock, fs/pipe.c:158
   4\u{202f}800         –   4\u{202f}096 B  anon_pipe_get_page, fs/pipe.c:204
and 461 more with ";
    assert!(text.contains(table), "{text}");
    // The maps of per-CPU chunks are counted nowhere else.
    let text = blame(root.path(), "--rows 20").ok().stdout;
    assert!(text.contains("pcpu_mem_zalloc, mm/percpu.c:512") && !text.contains("alloc_slab_page"), "{text}");
}

#[test]
fn stopped_account_by_code_is_not_shown() {
    let root = machine([KERNEL; 4]);
    fs::write(root.path().join("proc/allocinfo"), allocinfo(100)).expect("a file");
    fs::create_dir_all(root.path().join("proc/sys/vm")).expect("a new folder");
    let switch = root.path().join("proc/sys/vm/mem_profiling");
    fs::write(&switch, "1\n").expect("a file");
    assert!(blame(root.path(), "").ok().stdout.contains("anon_pipe_write"));
    fs::write(&switch, "0\n").expect("a file");
    let text = blame(root.path(), "").ok().stdout;
    assert!(!text.contains("anon_pipe_write") && text.contains("vm.mem_profiling is 0"), "{text}");
    // A fault in an unneeded account is only a note.
    fs::write(&switch, "1\n").expect("a file");
    fs::write(root.path().join("proc/allocinfo"), "allocinfo - version: 2.0\nmany\n").expect("a file");
    let text = blame(root.path(), "").ok().stdout;
    let note = "allocinfo:2: expected bytes in use (a number)";
    assert!(text.contains("blocks of 2 MiB are kept") && text.contains(note), "{text}");
    assert!(!text.contains("Code whose memory"), "{text}");
}

#[test]
fn invalid_requests_are_refused() {
    let root = machine([KERNEL; 4]);
    blame(root.path(), "--zone Movable").fails(64, &["no such zone has memory", "Normal of node 0"]);
    blame(root.path(), "--node 7").fails(64, &["no such zone has memory"]);
    blame(root.path(), "--size 3M").fails(64, &["2 MiB and 4 MiB"]);
    blame(root.path(), "-- /no/such/program").fails(64, &["/no/such/program", "Check its name"]);
    let zoneinfo = fs::read_to_string(root.path().join("proc/zoneinfo")).expect("a file");
    let lists = zoneinfo.replace(
        "  pagesets\n",
        "  pagesets\n    cpu: 0\n              count: 7\n              high:  9\n              batch: 3\n",
    );
    fs::write(root.path().join("proc/zoneinfo"), lists).expect("a file");
    let ran = blame(root.path(), "--duration 0.1").ok();
    assert!(
        ran.stdout.contains("up to 7 of the kernel pages are free pages on per-CPU lists"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("allocations are not watched"), "{}", ran.stdout);
    fs::remove_file(root.path().join("proc/kpageflags")).expect("a file");
    blame(root.path(), "").fails(69, &["kpageflags"]);
}

/// A dump of one record, as a report on linux-kernel has it.
const DUMP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/page-owner-alone.txt");

#[test]
fn a_dump_of_page_owner_needs_no_other_file() {
    let text = run(["blame", "--page-owner", DUMP]).ok().stdout;
    let first = "1 pageblock of type CMA contains 512 Unmovable pages of nf_ct_alloc_hashtable (pid 1, 1.07 s after boot).";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("Nothing is known of pages without a record"), "{text}");
    let json = run(["blame", "--json", "--page-owner", DUMP]).ok().json();
    assert_eq!((&json["records"], &json["pageblock_pages"]), (&1.into(), &512.into()));
    assert_eq!(json["rows"][0]["function"], "nf_ct_alloc_hashtable");
}

#[test]
fn a_text_without_records_is_no_dump() {
    let zoneinfo = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/pasted-traces/zoneinfo");
    run(["blame", "--page-owner", zoneinfo])
        .fails(65, &["no record of page_owner", "/sys/kernel/debug/page_owner"]);
    run(["blame", "--page-owner", "/no/such/file"]).fails(66, &["cannot read /no/such/file"]);
    run(["blame", "--page-owner", DUMP, "--duration", "5"]).fails(64, &["cannot be used with"]);
}
