//! Events a second of a replay, per era.

use divan::Bencher;
use divan::counter::ItemsCount;
use freehold::Era;
use freehold_lab::workload::{Generated, Synthetic};
use freehold_lab::{Lab, Options, Variant};
use std::sync::LazyLock;

static TRACE: LazyLock<Generated> = LazyLock::new(|| {
    let workload =
        Synthetic { events: 1_200_000, pages: 1 << 18, cpus: 4, free_fraction: 16, ..Synthetic::default() };
    workload.generate().expect("a valid workload")
});

fn main() {
    divan::main();
}

/// A whole run: start state, events, samples, checks.
#[divan::bench(args = Era::ALL, sample_count = 3, sample_size = 1)]
fn whole_run(bencher: Bencher, era: Era) {
    let lab = Lab::new(TRACE.trace()).expect("a valid trace");
    let variant = Variant::new(era);
    bencher
        .counter(ItemsCount::new(TRACE.events.len()))
        .bench(|| lab.replay(&variant, Options { runs: 1, ..Options::default() }).expect("a replay"));
}

/// The events alone, by the replay's own stopwatch, printed once an era.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn events_alone() {
    let lab = Lab::new(TRACE.trace()).expect("a valid trace");
    for era in Era::ALL {
        let replay = lab.replay(&era.into(), Options::default()).expect("a replay");
        let rate = replay.measures.timing.events_per_second / 1e6;
        println!("{:>18}: {rate:.1} million events a second", era.name());
    }
}
