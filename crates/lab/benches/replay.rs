//! Events a second of a replay, per era: `cargo bench -p freehold-lab`.

use std::time::Instant;

use freehold::Era;
use freehold_lab::workload::Synthetic;
use freehold_lab::{Lab, Options, Variant};

/// The number of replays of each era. The fastest is printed.
const ROUNDS: usize = 3;

fn main() {
    let workload =
        Synthetic { events: 1_200_000, pages: 1 << 18, cpus: 4, free_fraction: 16, ..Synthetic::default() };
    let trace = workload.generate().expect("a valid workload");
    let lab = Lab::new(trace.trace()).expect("a valid trace");
    println!("{} events, the fastest of {ROUNDS} replays, million events a second", trace.events.len());
    for era in Era::ALL {
        let variant = Variant::new(era);
        let (mut whole, mut alone) = (0.0_f64, 0.0_f64);
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            let replay = lab.replay(&variant, Options { runs: 1, ..Options::default() }).expect("a replay");
            whole = whole.max(trace.events.len() as f64 / begin.elapsed().as_secs_f64());
            alone = alone.max(replay.measures.timing.events_per_second);
        }
        let [whole, alone] = [whole, alone].map(|rate| rate / 1e6);
        // A whole run: start state, events, samples, checks.
        println!("{:>18}: {whole:.1} in a whole run, {alone:.1} in the events alone", era.name());
    }
}
