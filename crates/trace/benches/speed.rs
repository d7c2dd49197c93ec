//! Size and speed of the format: `cargo bench -p freehold-trace [-- TRACE]`.
//!
//! Without a trace it measures a synthetic workload. Every figure is the best of several rounds,
//! followed by the slowest. The events read back are compared with the events written.

use std::time::{Duration, Instant};

use freehold::{Order, Pfn};
use freehold_trace::{
    Ending, Event, EventKind, Origin, ReadOptions, Snapshot, TraceReader, TraceSummary, TraceWriter,
    WriteOptions,
};

const ROUNDS: usize = 7;

fn main() {
    // `cargo test --benches` passes no `--bench`. Then a small run only checks that the benchmark works.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let (origin, start, events) = match file {
        Some(path) => read(&std::fs::read(path).expect("a trace")),
        None => (Origin::default(), Snapshot::default(), made(if measured { 2_000_000 } else { 10_000 })),
    };
    println!("{} events, best of {ROUNDS} (slowest)", events.len());
    for options in [WriteOptions::new("flushed by size"), WriteOptions::small("small")] {
        let name = format!("level {}, {} rows a batch", options.level, options.batch_rows);
        let write = || {
            let mut writer = TraceWriter::create(Vec::new(), options.clone(), &origin, &start)?;
            events.iter().try_for_each(|event| writer.push(event))?;
            writer.finish(&Ending::default())
        };
        let (bytes, once) = time(|| write().expect("a trace"));
        let written = if options.level > 9 { (once, once) } else { repeat(|| drop(write())) };
        let decoded = repeat(|| {
            let mut reader = TraceReader::open(&bytes[..], ReadOptions::new("t")).expect("a trace");
            TraceSummary::read(&mut reader).expect("a trace");
        });
        assert_eq!(read(&bytes).2, events, "what was written is read back");
        let bytes_per_event = bytes.len() as f64 / events.len() as f64;
        println!("{name}: {bytes_per_event:.2} bytes an event");
        report("  write", events.len(), written);
        report("  read ", events.len(), decoded);
    }
}

fn read(bytes: &[u8]) -> (Origin, Snapshot, Vec<Event>) {
    let mut reader = TraceReader::open(bytes, ReadOptions::new("t")).expect("a trace");
    let mut events = Vec::new();
    while let Some(batch) = reader.next_batch().expect("a trace") {
        events.extend_from_slice(batch);
    }
    (reader.origin().clone(), reader.start().clone(), events)
}

/// Returns runs of allocations and frees of single pages. Allocations take the most recently freed page.
fn made(events: usize) -> Vec<Event> {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut free: Vec<u64> = (0..1 << 19).map(|page| (page * 7919) % (1 << 19)).collect();
    let mut in_use = Vec::new();
    let (mut time_ns, mut left, mut allocate) = (0, 0, true);
    let mut out = Vec::with_capacity(events);
    while out.len() < events {
        if left == 0 {
            (left, allocate) = (random(200) + 1, random(2) == 0);
            time_ns += random(50_000);
        }
        left -= 1;
        time_ns += 150 + random(600);
        let order = Order::ZERO;
        let gfp = freehold::GfpFlags::HIGHUSER_MOVABLE;
        let taken = if allocate || in_use.is_empty() { free.pop() } else { None };
        let kind = if let Some(page) = taken {
            in_use.push(page);
            EventKind::Alloc { pfn: Some(Pfn(page)), order, migratetype: gfp.migratetype(), gfp }
        } else {
            let near_end = in_use.len() - 1 - random(in_use.len().min(400) as u64) as usize;
            let page = in_use.swap_remove(near_end);
            free.push(page);
            EventKind::Free { pfn: Pfn(page), order }
        };
        out.push(Event { time_ns, cpu: (time_ns >> 16 & 3) as u16, pid: 1000, kind });
    }
    out
}

fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed())
}

/// Returns the shortest and the longest time of several rounds.
fn repeat(mut work: impl FnMut()) -> (Duration, Duration) {
    let times: Vec<Duration> = (0..ROUNDS).map(|_| time(&mut work).1).collect();
    let bound = |found: Option<&Duration>| found.copied().unwrap_or_default();
    (bound(times.iter().min()), bound(times.iter().max()))
}

fn report(what: &str, events: usize, (best, worst): (Duration, Duration)) {
    let rate = |time: Duration| events as f64 / time.as_secs_f64() / 1e6;
    println!("{what} {:.1} million events/s ({:.1})", rate(best), rate(worst));
}
