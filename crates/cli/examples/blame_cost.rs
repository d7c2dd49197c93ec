//! What the watch of `freehold blame` takes, by the kernel's own account.
//!
//! `cargo run -p freehold-cli --example blame_cost -- FREEHOLD [SECONDS [CALLS]]` as root: two processes have pages allocated and freed,
//! CALLS a second together at most, of each kind; the program FREEHOLD watches meanwhile. The kernel counts the time of BPF programs
//! (`kernel.bpf_stats_enabled`), which takes a little itself. Other work on the machine is to keep off.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/fragment/memory.rs"]
mod memory;

use std::error::Error;
use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use memory::{Anonymous, page_bytes};
use serde_json::Value;

const STATS: &str = "/proc/sys/kernel/bpf_stats_enabled";

/// A kind of allocations: its name, and what does so many of them.
type Kind = (&'static str, fn(usize) -> std::io::Result<()>);

/// What a process does again and again.
const KINDS: [Kind; 2] = [("page faults", faults), ("page tables", tables)];

/// Allocations at a time.
const AT_ONCE: usize = 500;

/// Faults pages in and gives them back: an allocation and a free each.
fn faults(count: usize) -> std::io::Result<()> {
    let mut memory = Anonymous::map(count)?;
    memory.huge(false)?;
    (0..count).for_each(|page| memory.touch(page));
    Ok(())
}

/// Faults a page in below each of many page tables: half of the allocations are of tables, which are unmovable.
fn tables(count: usize) -> std::io::Result<()> {
    let in_table = page_bytes() / size_of::<u64>();
    let mut memory = Anonymous::map(count / 2 * in_table)?;
    memory.huge(false)?;
    (0..count / 2).for_each(|table| memory.touch(table * in_table));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    if let [word, kind, calls] = args.as_slice()
        && word == "allocate"
    {
        return allocate(kind.parse()?, calls.parse()?);
    }
    let program = args.first().ok_or("which program? Name the freehold binary that is to watch")?;
    let seconds = args.get(1).map_or(Ok(20), |seconds| seconds.parse())?;
    let calls = args.get(2).map_or(Ok(100_000), |calls| calls.parse())?;
    let stats = fs::read_to_string(STATS)?;
    fs::write(STATS, "1")?;
    println!(
        "| allocations | a second | frees a second | of a CPU, by the kernel | ns a run | of a CPU, by the watch | pageblocks |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        match measure(program, kind, seconds, calls) {
            Ok(row) => println!("| {name} | {row} |"),
            Err(error) => println!("| {name} | failed: {error} |"),
        }
    }
    fs::write(STATS, stats.trim())?;
    Ok(())
}

/// Allocates until it is killed, at most `calls` pages a second.
fn allocate(kind: usize, calls: u64) -> Result<(), Box<dyn Error>> {
    let (_, work) = KINDS.get(kind).ok_or("no such kind")?;
    let started = Instant::now();
    for done in 0_u64.. {
        work(AT_ONCE)?;
        let due = Duration::from_secs_f64((done + 1) as f64 * AT_ONCE as f64 / calls as f64);
        sleep(due.saturating_sub(started.elapsed()));
    }
    Ok(())
}

/// A process that is killed when this is dropped.
struct Allocator(Child);

impl Drop for Allocator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn measure(program: &str, kind: usize, seconds: u64, calls: u64) -> Result<String, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let start = || Command::new(&own).args(["allocate", &kind.to_string(), &(calls / 2).to_string()]).spawn();
    let _allocators = [Allocator(start()?), Allocator(start()?)];
    let words = ["blame", "--json", "--rows", "1", "--for", &seconds.to_string()];
    let mut watch = Command::new(program).args(words).stdout(std::process::Stdio::piped()).spawn()?;
    let mut took = [Run::default(); 2];
    while watch.try_wait()?.is_none() {
        if let [allocated, freed] = runs(watch.id())[..] {
            took = [allocated, freed];
        }
        // The answer is longer than a pipe holds only if many rows are asked for.
        sleep(Duration::from_millis(20));
    }
    if took[0].runs == 0 {
        return Err("the programs of the watch did not show".into());
    }
    let json: Value = serde_json::from_slice(&watch.wait_with_output()?.stdout)?;
    let watched = json["watch"]["seconds"].as_f64().ok_or("no watch")?;
    let (runs, ns) = (took[0].runs + took[1].runs, took[0].ns + took[1].ns);
    let rate = |run: Run| run.runs as f64 / watched;
    Ok(format!(
        "{:.0} | {:.0} | {:.2} % | {:.0} | {:.2} % | {:.1} % |",
        rate(took[0]),
        rate(took[1]),
        ns as f64 / watched / 1e7,
        ns as f64 / runs.max(1) as f64,
        100.0 * json["watch"]["cpus"].as_f64().unwrap_or_default(),
        100.0 * json["share"].as_f64().unwrap_or_default()
    ))
}

/// How often a BPF program ran, and how long together.
#[derive(Clone, Copy, Default, PartialEq)]
struct Run {
    runs: u64,
    ns: u64,
}

/// The number of the type of the programs, `BPF_PROG_TYPE_RAW_TRACEPOINT`.
const RAW_TRACEPOINT: u64 = 17;

/// Returns what the watching programs of a process took, in the order in which they were loaded: that of allocations comes first.
fn runs(pid: u32) -> Vec<Run> {
    let files = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let mut found: Vec<_> = files
        .filter_map(|file| {
            let text = fs::read_to_string(file.path()).ok()?;
            let number = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
                line.and_then(|value| value.trim().parse::<u64>().ok())
            };
            if number("prog_type") != Some(RAW_TRACEPOINT) {
                return None;
            }
            Some((number("prog_id")?, Run { runs: number("run_cnt")?, ns: number("run_time_ns")? }))
        })
        .collect();
    found.sort_by_key(|(id, _)| *id);
    found.dedup_by_key(|(id, _)| *id);
    found.into_iter().map(|(_, run)| run).collect()
}
