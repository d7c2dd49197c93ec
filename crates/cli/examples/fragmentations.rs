//! Holds the verdict's forecast of compaction against real compactions, over many fragmentations.
//!
//! `cargo run --release -p freehold-cli --example fragmentations -- FREEHOLD [MIB [SEED [LOCK [WAY]]]]` as root:
//! for each way it fragments memory, has the program FREEHOLD `check --try`, and prints what was foretold and
//! what came. LOCK is a file that is locked for each way, so that other work on the machine can keep off.

#[path = "../tests/fragment/mod.rs"]
mod fragment;

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fragment::{Random, WAYS, Way};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let program = args.first().ok_or("which program? Name the freehold binary that is to foretell")?;
    let mib = args.get(1).map_or(Ok(3072), |mib| mib.parse())?;
    let seed = args.get(2).map_or(Ok(1), |seed| seed.parse())?;
    let lock = args.get(3).filter(|path| !path.is_empty()).map(File::create).transpose()?;
    // Pipes take descriptors.
    let files = rustix::process::Resource::Nofile;
    let limit = rustix::process::getrlimit(files);
    rustix::process::setrlimit(files, rustix::process::Rlimit { current: limit.maximum, ..limit })?;
    println!("{mib} MiB, seed {seed}");
    println!(
        "way                  before  foretold  real  error %  compaction ms  migrated  check ms  gives up"
    );
    for (name, way) in WAYS.iter().filter(|(name, _)| args.get(4).is_none_or(|wanted| wanted == name)) {
        if let Some(lock) = &lock {
            rustix::fs::flock(lock, rustix::fs::FlockOperation::LockExclusive)?;
        }
        let row = measure(program, &(*name, *way), mib, seed);
        if let Some(lock) = &lock {
            rustix::fs::flock(lock, rustix::fs::FlockOperation::Unlock)?;
        }
        println!("{}", row.unwrap_or_else(|error| format!("{name:20} failed: {error}")));
        sleep(Duration::from_millis(500));
    }
    Ok(())
}

fn measure(program: &str, (name, way): &Way, mib: usize, seed: u64) -> Result<String, Box<dyn Error>> {
    let folder = std::env::temp_dir();
    let held = way(&mut Random(seed), mib, Path::new(&folder))?;
    rustix::fs::sync();
    let before = migrated()?;
    let started = Instant::now();
    let ran = Command::new(program).args(["check", "--try", "--json"]).output()?;
    let took_ms = started.elapsed().as_millis();
    let report: Value = serde_json::from_slice(&ran.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&ran.stderr)))?;
    let tried = &report["tried"];
    let zones = report["zones"].as_array().ok_or("zones")?;
    let gives_up: Vec<_> = zones.iter().filter_map(|zone| zone["gives_up_at_pfn"].as_u64()).collect();
    let migrated = migrated()? - before;
    drop(held);
    Ok(format!(
        "{name:20} {:>6} {:>9} {:>5} {:>+8.1} {:>14} {migrated:>9} {:>9} {gives_up:x?}",
        tried["before"],
        tried["foretold"],
        tried["real"],
        tried["error_percent"].as_f64().ok_or("error_percent")?,
        tried["compaction_ms"],
        took_ms.saturating_sub(u128::from(tried["compaction_ms"].as_u64().unwrap_or(0))) / 2,
    ))
}

/// Pages that the kernel has migrated so far.
fn migrated() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/vmstat")?;
    let number = text.lines().find_map(|row| row.strip_prefix("pgmigrate_success "));
    Ok(number.ok_or("pgmigrate_success")?.parse()?)
}
