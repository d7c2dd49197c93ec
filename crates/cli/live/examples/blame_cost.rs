//! The CPU time of the watch of `freehold blame`: page faults with and without it, and its own account.
//!
//! `cargo run -p freehold-cli --features live --example blame_cost -- FREEHOLD [ROUNDS [CALLS]]` as root: two processes have pages allocated and freed,
//! CALLS a second together at most; the program FREEHOLD watches in every other window of three seconds. The kernel's account
//! (`kernel.bpf_stats_enabled`) is not used: looking at the clock twice a call takes longer than most calls.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../fragment/memory.rs"]
mod memory;

use std::error::Error;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use memory::{Anonymous, page_bytes};
use serde_json::Value;

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
    let rounds = args.get(1).map_or(Ok(10), |rounds| rounds.parse())?;
    let calls = args.get(2).map_or(Ok(100_000), |calls| calls.parse())?;
    println!("{rounds} rounds; of each column the median, and the middle half");
    println!(
        "| allocations | faults a second | more ns a fault | of a CPU | of a CPU, by the watch | pageblocks |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        match measure(program, kind, rounds, calls) {
            Ok(row) => println!("| {name} | {row} |"),
            Err(error) => println!("| {name} | failed: {error} |"),
        }
    }
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

fn measure(program: &str, kind: usize, rounds: usize, calls: u64) -> Result<String, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let start = || Command::new(&own).args(["allocate", &kind.to_string(), &(calls / 2).to_string()]).spawn();
    let allocators = [Allocator(start()?), Allocator(start()?)];
    let mut found: [Vec<f64>; 5] = Default::default();
    for _ in 0..rounds {
        let without = Used::during(WINDOW, &allocators)?;
        let words = ["blame", "--json", "--rows", "1", "--duration", &(3 * WINDOW.as_secs()).to_string()];
        let mut watch = Command::new(program).args(words).stdout(Stdio::piped()).spawn()?;
        while !is_watching(watch.id()) {
            if watch.try_wait()?.is_some() {
                return Err("the watch did not start".into());
            }
            sleep(Duration::from_millis(20));
        }
        // What share of the pageblocks it can follow the watch finds out first.
        sleep(WINDOW);
        let with = Used::during(WINDOW, &allocators)?;
        let json: Value = serde_json::from_slice(&watch.wait_with_output()?.stdout)?;
        let more = with.ns_a_fault() - without.ns_a_fault();
        let rate = with.faults as f64 / WINDOW.as_secs_f64();
        let own = 100.0 * json["watch"]["cpus"].as_f64().ok_or("no watch")?;
        let share = 100.0 * json["share"].as_f64().unwrap_or_default();
        for (column, value) in found.iter_mut().zip([rate, more, more * rate / 1e7, own, share]) {
            column.push(value);
        }
    }
    let digits = [0, 0, 2, 2, 1];
    let column = |(values, digits): (&mut Vec<f64>, usize)| {
        values.sort_by(f64::total_cmp);
        let [low, middle, high] = [1, 2, 3].map(|part| values[(values.len() - 1) * part / 4]);
        format!("{middle:.digits$} ({low:.digits$} to {high:.digits$})")
    };
    Ok(found.iter_mut().zip(digits).map(column).collect::<Vec<_>>().join(" | "))
}

/// How long is looked at the allocators at a time.
const WINDOW: Duration = Duration::from_secs(3);

/// What allocators took.
#[derive(Clone, Copy, Default)]
struct Used {
    cpu_ns: u64,
    faults: u64,
}

impl Used {
    /// Reads what they took up to now.
    fn now(allocators: &[Allocator]) -> Result<Self, Box<dyn Error>> {
        let mut sum = Self::default();
        for Allocator(child) in allocators {
            let folder = format!("/proc/{}", child.id());
            let on_cpu = fs::read_to_string(format!("{folder}/schedstat"))?;
            sum.cpu_ns += on_cpu.split(' ').next().ok_or("no time")?.parse::<u64>()?;
            let stat = fs::read_to_string(format!("{folder}/stat"))?;
            // Behind the name, which may be anything, the eighth number is that of minor faults.
            let numbers = stat.rsplit_once(") ").ok_or("no name")?.1;
            sum.faults += numbers.split(' ').nth(7).ok_or("no faults")?.parse::<u64>()?;
        }
        Ok(sum)
    }

    /// Waits, and returns what they took meanwhile.
    fn during(time: Duration, allocators: &[Allocator]) -> Result<Self, Box<dyn Error>> {
        let before = Self::now(allocators)?;
        sleep(time);
        let after = Self::now(allocators)?;
        Ok(Self { cpu_ns: after.cpu_ns - before.cpu_ns, faults: after.faults - before.faults })
    }

    fn ns_a_fault(self) -> f64 {
        self.cpu_ns as f64 / self.faults.max(1) as f64
    }
}

/// The number of the type of the programs, `BPF_PROG_TYPE_RAW_TRACEPOINT`.
const RAW_TRACEPOINT: &str = "17";

/// Returns true if a process has loaded both programs of the watch.
fn is_watching(pid: u32) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let is_program = |file: &fs::DirEntry| {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        text.lines()
            .filter_map(|line| line.strip_prefix("prog_type:"))
            .any(|kind| kind.trim() == RAW_TRACEPOINT)
    };
    files.filter(is_program).count() >= 2
}
