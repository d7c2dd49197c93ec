//! `freehold check` on machines as large as they come: roots of any size, made of this machine's own survey.
//! `FREEHOLD_GROWTH_GIB=64,256,1024,4096` names sizes; a file of 2 MiB a GiB is written for each.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::path::Path;
use std::time::Instant;

use freehold_linux::pageblocks::{Unflagged, read_pageblocks};
use freehold_linux::procfs::read_zoneinfo;
use freehold_monitor::verdict::Sampled;
use freehold_needs::{has_file, is_root};

use crate::common::{finish, folder, freehold};

/// Sizes where none are named: more pageblocks than a sample has.
const USUAL: &str = "64";

/// Words of a pageblock of 2 MiB, and of the part of this machine that is repeated.
const BLOCK: usize = 512;
const PART: usize = 1 << 20;

/// How often the sample is compared with the survey.
const ROUNDS: usize = 20;

/// The most rounds in which a number may lie outside of its interval of 95 %: more happen in one of 3000 runs.
const MOST_OUTSIDE: usize = 5;

/// Reads the words of 4 GiB of this machine from its second GiB on, in an order that spreads what lies together.
fn part() -> Vec<u8> {
    let mut file = File::open("/proc/kpageflags").expect("the file");
    file.seek(SeekFrom::Start(8 << 18)).expect("a place in it");
    let mut words = vec![0; PART * 8];
    let mut filled = 0;
    while filled < words.len() {
        match file.read(&mut words[filled..]).expect("words") {
            0 => break,
            more => filled += more,
        }
    }
    words.truncate(filled / (BLOCK * 8) * (BLOCK * 8));
    words
}

/// Makes a machine of `gib` GiB: one zone whose pageblocks are those of `part`, again and again.
fn machine(root: &Path, gib: usize, part: &[u8]) {
    let proc = root.join("proc");
    fs::create_dir_all(&proc).expect("a folder");
    let huge = root.join("sys/kernel/mm/transparent_hugepage");
    fs::create_dir_all(&huge).expect("a folder");
    fs::write(huge.join("hpage_pmd_size"), "2097152\n").expect("a file");
    let pageblocks: Vec<&[u8]> = part.chunks(BLOCK * 8).collect();
    let free = |block: &[u8]| block.chunks(8).filter(|word| word[1] & 4 != 0).count();
    let free: Vec<usize> = pageblocks.iter().map(|block| free(block)).collect();
    let mut file = BufWriter::with_capacity(1 << 20, File::create(proc.join("kpageflags")).expect("a file"));
    let (mut pages, mut whole) = (0, 0);
    // A step without a common factor goes through all pageblocks.
    let step = (pageblocks.len() * 5 / 8) | 1;
    for at in 0..gib * 512 {
        let block = (at * step) % pageblocks.len();
        file.write_all(pageblocks[block]).expect("room on the disk");
        pages += free[block];
        whole += usize::from(free[block] == BLOCK);
    }
    file.flush().expect("room on the disk");
    let all = gib << 18;
    let zone = format!(
        "Node 0, zone   Normal\n  pages free     {pages}\n        boost    0\n        min      8\n        low      10\n        \
         high     12\n        spanned  {all}\n        present  {all}\n        managed  {all}\n        cma      0\n        \
         protection: (0, 0)\n  pagesets\n  start_pfn:           0\n"
    );
    fs::write(proc.join("zoneinfo"), zone).expect("a file");
    let single = pages - whole * BLOCK;
    fs::write(proc.join("buddyinfo"), format!("Node 0, zone   Normal {single} 0 0 0 0 0 0 0 0 {whole} 0\n"))
        .expect("a file");
    fs::write(proc.join("vmstat"), "nr_kernel_stack 16\n").expect("a file");
    fs::write(proc.join("slabinfo"), "slabinfo - version: 2.1\n").expect("a file");
    fs::write(proc.join("vmallocinfo"), "").expect("a file");
}

/// CPU time of this process's children that have ended, in hundredths of a second.
fn children_cpu() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("a file");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_ascii_whitespace().collect();
    fields[13].parse::<u64>().expect("a number") + fields[14].parse::<u64>().expect("a number")
}

/// Runs `check` and returns its JSON, with the seconds and the CPU seconds that it took.
fn check(root: &Path, words: &[&str]) -> (serde_json::Value, f64, f64) {
    let mut command = freehold(["check", "--json", "--root"]);
    command.arg(root).args(words);
    let (began, cpu) = (Instant::now(), children_cpu());
    let ran = finish(command);
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), (children_cpu() - cpu) as f64 / 100.0);
    assert!(ran.code.is_some_and(|code| code <= 3) && !ran.stdout.is_empty(), "{}", ran.stderr);
    (ran.json(), seconds, cpu)
}

/// Returns how many pageblocks are free or hold movable pages only.
fn surveyed(root: &Path) -> u64 {
    let zones = read_zoneinfo(root).expect("zones");
    let map = read_pageblocks(root, &zones, Unflagged::NONE, NonZero::<usize>::MIN).expect("a map");
    let blocks = map.zones.iter().flat_map(|zone| &zone.blocks);
    blocks.filter(|block| matches!(Sampled::of(block, false), Sampled::Free | Sampled::Movable)).count()
        as u64
}

#[test]
fn sample_interval_contains_the_survey_count() {
    let test = "sample_interval_contains_the_survey_count";
    if !is_root(test) || !has_file("/proc/kpageflags", test) {
        return;
    }
    let sizes = std::env::var("FREEHOLD_GROWTH_GIB").unwrap_or_else(|_| USUAL.to_owned());
    let part = part();
    for gib in sizes.split(',').map(|gib| gib.parse::<usize>().expect("sizes in GiB")) {
        let root = folder();
        machine(root.path(), gib, &part);
        let real = surveyed(root.path());
        let (_, seconds, cpu) = check(root.path(), &["--need", "2M=1000000000"]);
        let mut outside = 0;
        for round in 0..ROUNDS {
            let (quick, quick_seconds, quick_cpu) =
                check(root.path(), &["--quick", "--need", "2M=1000000000"]);
            let number = |name: &str| quick["emptied"][name].as_u64().expect("a number");
            outside += usize::from(!(number("least")..=number("most")).contains(&real));
            if round == 0 {
                let (looked, all) = (&quick["tally"]["sampled"], &quick["tally"]["all"]);
                println!(
                    "| {gib} GiB | {seconds:.2} | {cpu:.2} | {quick_seconds:.2} | {quick_cpu:.2} | {looked} of {all} | \
                     {} to {} | {real} |",
                    number("least"),
                    number("most")
                );
            }
        }
        println!("{gib} GiB: {outside} of {ROUNDS} intervals left out the number");
        assert!(outside <= MOST_OUTSIDE, "{outside} of {ROUNDS} intervals left out {real}");
    }
}
