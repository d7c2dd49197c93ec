//! `bench sensor`: the cost of reading this machine's free blocks for a process with page faults.

use std::fs::File;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use freehold_linux::sensor::{Choice, Ration, Sensor};
use freehold_measure::{Cell, Table};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};

use crate::error::BenchError;
use crate::harness::{Digest, Summary, interleave, ns_since, percent_over, pin, processors, sharing_note};
use crate::options::{Options, Scale};
use crate::output::{Chart, Report};

/// The monitor's interval.
const EVERY: Duration = Duration::from_millis(10);

/// Bytes that the process maps, touches and unmaps: more than the C library keeps.
const MAPPED: usize = 64 << 20;

/// Bytes of a page, which one fault maps.
const PAGE: usize = 4096;

/// The monitor beside the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reader {
    None,
    Bpf,
    Pagetypeinfo,
}

impl Reader {
    fn name(self) -> &'static str {
        match self {
            Self::None => "no reader",
            Self::Bpf => "bpf",
            Self::Pagetypeinfo => "pagetypeinfo",
        }
    }

    /// Returns the monitor's sensor.
    fn sensor(self) -> Result<Option<Sensor>, freehold_linux::Error> {
        let choice = match self {
            Self::None => return Ok(None),
            Self::Bpf => Choice::Bpf,
            Self::Pagetypeinfo => Choice::Procfs,
        };
        Sensor::open("/".as_ref(), choice, Ration::Unlimited).map(Some)
    }
}

/// The measurements of one round of one side.
struct Sample {
    /// Nanoseconds per fault.
    fault_ns: f64,
    /// Nanoseconds of each reading.
    reading_ns: Vec<f64>,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<Report, BenchError> {
    let (rounds, sample, holes) = match options.scale {
        Scale::Tiny => (1, Duration::from_millis(20), 1 << 10),
        Scale::Quick => (20, Duration::from_millis(200), 1 << 18),
        Scale::Full => (100, Duration::from_millis(300), 1 << 20),
    };
    let processors = processors(2)?;
    let mut report = Report::new("sensor");
    report.notes.extend(sharing_note(&processors));
    let mut sides = Vec::new();
    for reader in [Reader::None, Reader::Bpf, Reader::Pagetypeinfo] {
        match reader.sensor() {
            Ok(sensor) => sides.push((reader, sensor)),
            Err(error) => report.notes.push(format!("{} is missing: {error}", reader.name())),
        }
    }
    let table = Table::new(
        "sensor: a process that takes page faults, beside a reader of free blocks every 10 ms",
        ["ns a fault", "spread %", "slower %", "a reading, ns", "longest, ns"].map(str::to_owned).into(),
    );
    let mut bench = Measuring { rounds, sample, processors, table, digest: Digest::default() };
    let fresh = bench.measure("fresh", &mut sides)?;
    let file =
        fragment(holes).map_err(|source| BenchError::Memory { bytes: 2 * PAGE as u64 * holes, source })?;
    let fragmented = bench.measure(&format!("{holes} single free pages more"), &mut sides)?;
    drop(file);
    report.tables.push(bench.table);
    let lines = sides.iter().zip(fresh.iter().zip(fragmented));
    report.charts.push(Chart {
        title: "A page fault beside a reader of free blocks every 10 ms".into(),
        height: "ns".into(),
        points: vec!["fresh".into(), "fragmented".into()],
        lines: lines.map(|((reader, _), (fresh, late))| (reader.name().into(), vec![*fresh, late])).collect(),
    });
    report.notes.push(format!(
        "{rounds} rounds of {} ms a side; slower: median over the rounds, compared with no reader in the same round; \
         the process maps {} MiB, touches each page and unmaps them; pagetypeinfo is read without a rate limit",
        sample.as_millis(),
        MAPPED >> 20
    ));
    Ok(report.finish(bench.digest))
}

/// The common state of all rounds.
struct Measuring {
    rounds: usize,
    sample: Duration,
    processors: Vec<usize>,
    table: Table,
    digest: Digest,
}

impl Measuring {
    /// Measures every side and adds its row. Returns the medians of a fault's time.
    fn measure(
        &mut self,
        group: &str,
        sides: &mut [(Reader, Option<Sensor>)],
    ) -> Result<Vec<f64>, BenchError> {
        let one = |(_, sensor): &mut (Reader, Option<Sensor>)| {
            one_sample(self.sample, &self.processors, sensor.as_mut())
        };
        let samples = interleave(self.rounds, sides, one)?;
        let faults = |side: &Vec<Sample>| side.iter().map(|sample| sample.fault_ns).collect::<Vec<_>>();
        let alone = faults(&samples[0]);
        let mut medians = Vec::new();
        for ((reader, _), side) in sides.iter().zip(&samples) {
            let readings: Vec<f64> = side.iter().flat_map(|sample| &sample.reading_ns).copied().collect();
            self.digest.add(readings.len() as u64);
            let (fault, reading) = (Summary::of(&faults(side)), Summary::of(&readings));
            let only_with = |has: bool, value| if has { Cell::Real(value) } else { Cell::Empty };
            let cells = vec![
                Cell::Real(fault.median),
                Cell::Real(fault.spread_percent),
                only_with(*reader != Reader::None, percent_over(&faults(side), &alone)),
                only_with(!readings.is_empty(), reading.median),
                only_with(!readings.is_empty(), reading.max),
            ];
            self.table.push(group, reader.name(), "", cells);
            medians.push(fault.median);
        }
        Ok(medians)
    }
}

/// Runs faults on one processor while the sensor is read on the other.
fn one_sample(
    length: Duration,
    processors: &[usize],
    sensor: Option<&mut Sensor>,
) -> Result<Sample, BenchError> {
    let done = AtomicBool::new(false);
    // The clock starts once the monitor is on its processor.
    let placed = Barrier::new(2);
    let (worker, monitor) = (processors[0], processors[processors.len() - 1]);
    thread::scope(|scope| {
        let faults = scope.spawn(|| {
            let pinned = pin(worker);
            placed.wait();
            pinned?;
            let ns = fault_for(length);
            done.store(true, Ordering::Relaxed);
            Ok::<_, BenchError>(ns)
        });
        let reading_ns = scope.spawn(|| {
            let pinned = pin(monitor);
            placed.wait();
            pinned?;
            sensor.map_or(Ok(Vec::new()), |sensor| read_until(&done, sensor))
        });
        let stopped = |_| BenchError::Stopped;
        Ok(Sample {
            fault_ns: faults.join().map_err(stopped)??,
            reading_ns: reading_ns.join().map_err(stopped)??,
        })
    })
}

/// Returns nanoseconds per fault over at least `length`.
fn fault_for(length: Duration) -> f64 {
    let start = Instant::now();
    let mut faults = 0_u64;
    while start.elapsed() < length {
        let mut mapped = vec![0_u8; MAPPED];
        for page in mapped.chunks_mut(PAGE) {
            page[0] = 1;
            faults += 1;
        }
        std::hint::black_box(&mapped);
    }
    ns_since(start) / faults as f64
}

fn read_until(done: &AtomicBool, sensor: &mut Sensor) -> Result<Vec<f64>, BenchError> {
    let mut readings = Vec::new();
    let mut next = Instant::now();
    while !done.load(Ordering::Relaxed) {
        let start = Instant::now();
        sensor.read().map_err(|error| BenchError::Sensor(Box::new(error)))?;
        readings.push(ns_since(start));
        next += EVERY;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(readings)
}

/// Returns a file in memory with a hole at every other page, so that many free pages have no free buddy.
fn fragment(holes: u64) -> std::io::Result<File> {
    let file = File::from(memfd_create("freehold-bench", MemfdFlags::CLOEXEC)?);
    let page = PAGE as u64;
    ftruncate(&file, 2 * page * holes)?;
    // Whole stretches are allocated first, as neighbours in the file are then neighbours in memory.
    fallocate(&file, FallocateFlags::empty(), 0, 2 * page * holes)?;
    for hole in 0..holes {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&file, flags, 2 * page * hole, page)?;
    }
    Ok(file)
}
