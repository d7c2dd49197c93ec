//! Fragments memory in one way and keeps it so, for guests in which a forecast is compared with requests.
//!
//! `fragment WAY MIB SEED FOLDER` prints `ready` and stays until it is killed. `fragment thp BLOCKS` touches so many ranges of 2 MiB
//! that want a transparent huge page, and prints how many got one.

#[path = "../fragment/mod.rs"]
mod fragment;
#[path = "../fragment/more_ways.rs"]
mod more_ways;

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use fragment::memory::{Anonymous, page_bytes};
use fragment::{Random, WAYS, Way, allow_descriptors};
use more_ways::{MORE_WAYS, churn};

/// The size of a transparent huge page.
const HUGE_BYTES: usize = 2 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args().skip(1).collect();
    let number = |at: usize| words.get(at).map_or(Ok(1), |word| word.parse::<usize>());
    let name = words.first().map_or("", String::as_str);
    match name {
        "thp" => println!("served {}", huge_pages(number(1)?)?),
        "churn" => {
            println!("ready");
            churn(number(1)?)?;
        }
        _ => {
            let way = way(name)?;
            allow_descriptors()?;
            let folder = words.get(3).map_or("/tmp", String::as_str);
            let pinned = (way.1)(&mut Random(number(2)? as u64), number(1)?, Path::new(folder))?;
            println!("ready");
            thread::sleep(Duration::MAX);
            drop(pinned);
        }
    }
    Ok(())
}

fn way(name: &str) -> Result<Way, String> {
    let mut ways = WAYS.iter().chain(&MORE_WAYS);
    ways.find(|way| way.0 == name).copied().ok_or_else(|| format!("no way is called {name}"))
}

/// Touches ranges that want huge pages, and returns how many of them the kernel backs with one.
fn huge_pages(blocks: usize) -> Result<u64, Box<dyn Error>> {
    let in_huge = HUGE_BYTES / page_bytes();
    let mut memory = Anonymous::map((blocks + 1) * in_huge)?;
    memory.huge(true)?;
    let first = memory.first_at(HUGE_BYTES);
    (0..blocks).for_each(|block| memory.touch(first + block * in_huge));
    let smaps = fs::read_to_string("/proc/self/smaps")?;
    let kib = smaps.lines().filter_map(|line| line.strip_prefix("AnonHugePages:")?.split_whitespace().next());
    Ok(kib.filter_map(|kib| kib.parse::<u64>().ok()).sum::<u64>() >> 11)
}
