//! Compares `freehold rehearse` with real launches, over many fragmentations.
//!
//! `cargo run -p freehold-cli --features live --example rehearsals -- FREEHOLD [MIB [SEEDS [WAYS]]]` as root: for each way it
//! fragments memory, draws a demand at random, has the program FREEHOLD rehearse it, and makes the requests. With an odd seed it
//! repairs first if the rehearsal says that this helps. Processes of a launch are the first that the
//! OOM killer takes, and end with this program. A kill leaves the number of huge pages of the launch.

#[path = "../fragment/mod.rs"]
mod fragment;
mod question;

use std::env;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fragment::memory::{Anonymous, page_bytes};
use fragment::{Random, Way};
use question::{ForecastQuestion, print_cells};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::Value;

/// The size of a huge page.
const HUGE_BYTES: usize = 2 << 20;

/// The pool of huge pages.
const POOL: &str = "/proc/sys/vm/nr_hugepages";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args().skip(1).collect();
    if let [hold, kind, mib] = words.as_slice()
        && hold == "hold"
    {
        return hold_memory(kind, mib.parse()?);
    }
    let question = ForecastQuestion::read(2048)?;
    println!(
        "| way | seed | demand | said | likely | first | after repair | observed | first | seconds | right |"
    );
    println!("|---|---:|---|---|---:|---|---:|---|---|---:|---|");
    question.for_each(|way, seed| trial(&question.program, way, question.mib, seed), print_cells);
    Ok(())
}

/// Maps and touches memory, prints how many MiB are as they were wanted, and waits to be killed.
fn hold_memory(kind: &str, mib: usize) -> Result<(), Box<dyn Error>> {
    fs::write("/proc/self/oom_score_adj", "1000")?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let in_huge = HUGE_BYTES / page_bytes();
    let pages = (mib << 20) / page_bytes();
    let mut memory = Anonymous::map(pages + in_huge)?;
    memory.huge(kind == "thp")?;
    let first = memory.first_at(HUGE_BYTES);
    let step = if kind == "thp" { in_huge } else { 1 };
    (0..pages).step_by(step).for_each(|page| memory.touch(first + page));
    let served = if kind == "thp" {
        let smaps = fs::read_to_string("/proc/self/smaps")?;
        let kib =
            smaps.lines().filter_map(|line| line.strip_prefix("AnonHugePages:")?.split_whitespace().next());
        kib.filter_map(|kib| kib.parse::<usize>().ok()).sum::<usize>() >> 10
    } else {
        mib
    };
    println!("{served}");
    thread::sleep(Duration::MAX);
    Ok(())
}

fn trial(program: &str, way: Way, mib: usize, seed: u64) -> Result<String, Box<dyn Error>> {
    let mut random = Random(seed.wrapping_mul(7919) + way.0.len() as u64);
    let _fragmented = (way.1)(&mut Random(seed), mib, &env::temp_dir())?;
    let demand = draw(&mut random, available_mib()?);
    let file = env::temp_dir().join(format!("rehearsal-{}.demand", std::process::id()));
    fs::write(&file, demand.join("\n"))?;
    let said = rehearse(program, &file)?;
    let likely = said["probability"].as_f64().unwrap_or(f64::NAN);
    let after_repair = said["after_repair"].as_f64().unwrap_or(f64::NAN);
    let repairs = seed % 2 == 1 && after_repair >= likely + 0.05;
    if repairs {
        let first = said["first"].as_u64().ok_or("no line")? as usize;
        let line = said["lines"].as_array().and_then(|lines| lines.iter().find(|line| line["line"] == first));
        let blocks =
            line.and_then(|line| line["verdict"]["request"]["blocks"].as_u64()).ok_or("no blocks")?;
        let need = format!("2M={blocks}");
        Command::new(program).args(["repair", "--yes", "--need", &need]).stdout(Stdio::null()).status()?;
    }
    let pool = fs::read_to_string(POOL)?;
    let started = Instant::now();
    let mut children = Vec::new();
    let failed = launch(&demand, &mut children);
    let seconds = started.elapsed().as_secs_f64();
    for mut child in children {
        child.kill()?;
        child.wait()?;
    }
    fs::write(POOL, pool.trim())?;
    fs::remove_file(&file)?;
    let failed = failed?;
    let expected = if repairs { after_repair } else { likely };
    let right = if failed.is_none() { expected >= 0.5 } else { expected < 0.5 };
    let line = |line: Option<u64>| line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    Ok(format!(
        "{} | {} | {likely:.2} | {} | {}{after_repair:.2} | {} | {} | {seconds:.1} | {}",
        demand.join(", "),
        said["start"].as_str().unwrap_or_default(),
        line(said["first"].as_u64()),
        if repairs { "done: " } else { "" },
        if failed.is_none() { "started" } else { "failed" },
        line(failed),
        if right { "yes" } else { "no" },
    ))
}

/// Draws one to three requests, which together are half to all of what is available.
fn draw(random: &mut Random, available: usize) -> Vec<String> {
    let kinds: &[&str] = match random.below(6) {
        0 => &["hugetlb"],
        1 => &["thp"],
        2 => &["anon", "hugetlb"],
        3 => &["hugetlb", "anon"],
        4 => &["thp", "hugetlb"],
        _ => &["anon", "thp", "hugetlb"],
    };
    let total = available * (50 + random.below(55)) / 100;
    let shares: Vec<_> = kinds.iter().map(|_| 1 + random.below(4)).collect();
    let all: usize = shares.iter().sum();
    let line = |(kind, share): (&&str, &usize)| {
        let mib = (total * share / all).max(2);
        if *kind == "hugetlb" {
            format!("hugetlb 2M={}", mib / 2)
        } else {
            format!("{kind} {}M", mib / 2 * 2)
        }
    };
    kinds.iter().zip(&shares).map(line).collect()
}

fn available_mib() -> Result<usize, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next());
    Ok(kib.ok_or("no MemAvailable")?.parse::<usize>()? >> 10)
}

fn rehearse(program: &str, file: &Path) -> Result<Value, Box<dyn Error>> {
    let out = Command::new(program).args(["rehearse", "--json"]).arg(file).output()?;
    Ok(serde_json::from_slice(&out.stdout)?)
}

/// Makes the requests in turn. Returns the number of the first that is not served.
fn launch(demand: &[String], children: &mut Vec<Child>) -> Result<Option<u64>, Box<dyn Error>> {
    for (line, number) in demand.iter().zip(1..) {
        let (kind, amount) = line.split_once(' ').ok_or("no amount")?;
        let is_served = if kind == "hugetlb" {
            let blocks = amount.trim_start_matches("2M=");
            (0..3).try_for_each(|_| fs::write(POOL, blocks))?;
            fs::read_to_string(POOL)?.trim() == blocks
        } else {
            let mib = amount.trim_end_matches('M');
            let mut child =
                Command::new(env::current_exe()?).args(["hold", kind, mib]).stdout(Stdio::piped()).spawn()?;
            let mut said = String::new();
            let out = child.stdout.take().ok_or("no output")?;
            BufReader::new(out).read_line(&mut said)?;
            children.push(child);
            said.trim() == mib
        };
        if !is_served {
            return Ok(Some(number));
        }
    }
    Ok(None)
}
