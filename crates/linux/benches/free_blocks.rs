//! What a reading of the machine's free blocks takes, by BPF and from `/proc`. It needs root and the
//! feature `bpf`; without them only what can be read is measured.
//!
//! With `FREEHOLD_HOLES=N` in the environment, memory first gets N free pages that cannot merge.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

use divan::Bencher;
use freehold_linux::procfs::{read_buddyinfo, read_pagetypeinfo, read_zoneinfo};
use freehold_linux::sensor::BpfSensor;
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};

const PAGE: u64 = 4096;

/// The memory between the free pages.
static HELD: OnceLock<File> = OnceLock::new();

fn main() {
    let holes = std::env::var("FREEHOLD_HOLES").ok().and_then(|number| number.parse().ok());
    if let Some(holes) = holes {
        HELD.get_or_init(|| fragment(holes));
    }
    if let Ok(zones) = read_buddyinfo(Path::new("/")) {
        let blocks: u64 = zones.iter().flat_map(|zone| &zone.free).sum();
        println!("{blocks} free blocks");
    }
    divan::main();
}

/// Punches `holes` holes of a page each into a file in memory.
fn fragment(holes: u64) -> File {
    let file = File::from(memfd_create("freehold-bench", MemfdFlags::CLOEXEC).expect("a file in memory"));
    let pages = [1; 2 * PAGE as usize];
    for at in 0..holes {
        file.write_all_at(&pages, at * 2 * PAGE).expect("enough memory");
    }
    for at in 0..holes {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&file, hole, at * 2 * PAGE, PAGE).expect("a hole");
    }
    file
}

fn sensor() -> Option<BpfSensor> {
    let zones = read_zoneinfo(Path::new("/")).ok()?;
    let order = read_pagetypeinfo(Path::new("/")).ok()?.pageblock_order;
    match BpfSensor::open(&zones, Some(order)) {
        Ok(sensor) => Some(sensor),
        Err(error) => {
            println!("SKIPPED: {error}");
            None
        }
    }
}

#[divan::bench]
fn bpf(bencher: Bencher) {
    if let Some(mut sensor) = sensor() {
        bencher.bench_local(|| sensor.read().expect("a reading"));
    }
}

#[divan::bench(sample_count = 20)]
fn bpf_every_block(bencher: Bencher) {
    if let Some(mut sensor) = sensor() {
        bencher.bench_local(|| sensor.free_list_types().expect("a reading"));
    }
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn bpf_open(bencher: Bencher) {
    if sensor().is_some() {
        bencher.bench_local(sensor);
    }
}

#[divan::bench]
fn pagetypeinfo(bencher: Bencher) {
    if read_pagetypeinfo(Path::new("/")).is_ok() {
        bencher.bench_local(|| read_pagetypeinfo(Path::new("/")).expect("a reading"));
    }
}

#[divan::bench]
fn buddyinfo(bencher: Bencher) {
    if read_buddyinfo(Path::new("/")).is_ok() {
        bencher.bench_local(|| read_buddyinfo(Path::new("/")).expect("a reading"));
    }
}
