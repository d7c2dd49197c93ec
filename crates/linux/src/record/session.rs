//! A running recording: its tracefs instance, ring buffers and counts.

use std::fs;
use std::mem;
use std::path::Path;
use std::thread;
use std::time::Duration;

use freehold::Order;
use freehold_trace::{ExactPart, Snapshot};

use super::options::RecordOptions;
use super::origin::online_cpus;
use crate::clock;
use crate::error::{Error, ParseError};
use crate::events::optional_events;
use crate::procfs::{Occupancy, read_meminfo, read_pagetypeinfo, snapshot};
use crate::sensor::{ExactSensor, open_exact};
use crate::sink::EventSink;
use crate::tracefs::{Buffers, CpuLoss, Decoder, Instance, Merger, Rings, Tally, Tracefs};

/// The longest pause between two readings of the ring buffers.
const LONGEST_TICK: Duration = Duration::from_millis(100);
/// The shortest pause, for small ring buffers.
const SHORTEST_TICK: Duration = Duration::from_millis(10);

const UNKNOWN_FORMAT: &str = "Record as text instead (`trace-cmd record -e kmem`, `trace-cmd report`), import that, and report the format";

/// A running recording.
pub(super) struct Session {
    // Fields are dropped in this order: the buffers must be closed before the instance is removed.
    buffers: Buffers,
    instance: Instance,
    decoder: Decoder,
    merger: Merger,
    /// The time of the last reading of the ring buffers.
    last_turn_ns: u64,
    kib_per_cpu: u64,
    buffer_pages: u64,
    /// What reads the free memory block by block, or why nothing does.
    exact: Result<ExactSensor, String>,
    /// The recorded events, and the requested events that the kernel lacks.
    events: Vec<String>,
    missing_events: Vec<String>,
}

/// The counts of a finished recording.
pub(super) struct Closing {
    pub(super) tally: Tally,
    pub(super) late: u64,
    pub(super) lost_by_cpu: Vec<u64>,
    pub(super) buffer_pages: u64,
}

impl Closing {
    /// Returns the number of lost events: the larger of two counts.
    pub(super) fn lost(&self) -> u64 {
        self.lost_by_cpu.iter().sum::<u64>().max(self.tally.lost)
    }

    /// Returns what the user should know about the trace.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.lost() > 0 {
            warnings.push(format!(
                "{} events were lost because the ring buffers ran over; the trace says where. Record with larger \
                 buffers (`--buffer`)",
                self.lost()
            ));
        }
        if self.tally.unreadable > 0 {
            warnings.push(format!(
                "{} events hold an order above 10 or an unknown migratetype and are marked as lost",
                self.tally.unreadable
            ));
        }
        warnings
    }
}

impl Session {
    /// Creates an instance and starts tracing in it.
    pub(super) fn start(tracefs: &Tracefs, options: &RecordOptions) -> Result<Self, Error> {
        // Its memory is allocated before anything is recorded, and freed after all is.
        let exact = if options.exact {
            open_exact().map_err(|error| error.to_string())
        } else {
            Err("it was not requested".to_owned())
        };
        let decoder = decoder(tracefs, options)?;
        let instance = Instance::create(tracefs)?;
        let wanted = options.buffer_kib_per_cpu.unwrap_or_else(default_buffer_kib);
        let kib_per_cpu = instance.prepare(wanted)?;
        let buffers = Buffers::new(Rings::open(&instance, UNKNOWN_FORMAT)?);
        let page_kib = (rustix::param::page_size() as u64 / 1024).max(1);
        let mut session = Self {
            buffers,
            instance,
            decoder,
            merger: Merger::default(),
            last_turn_ns: clock::monotonic_ns(),
            kib_per_cpu,
            buffer_pages: kib_per_cpu / page_kib * u64::from(online_cpus()),
            exact,
            events: Vec::new(),
            missing_events: Vec::new(),
        };
        session.add_own_tasks();
        session.add_own(session.instance.helper_pid());
        for event in options.detail.events() {
            session.instance.write(&format!("events/kmem/{event}/enable"), "1")?;
        }
        session.events = options.detail.events().iter().map(|event| format!("kmem:{event}")).collect();
        for (group, event) in optional_events(&options.groups) {
            let switch = format!("events/{group}/{event}/enable");
            let name = format!("{group}:{event}");
            if session.instance.file(&switch).exists() {
                session.instance.write(&switch, "1")?;
                session.events.push(name);
            } else {
                session.missing_events.push(name);
            }
        }
        session.instance.write("tracing_on", "1")?;
        Ok(session)
    }

    /// Returns the recorded events, and the requested events that the kernel lacks, as `GROUP:NAME`.
    pub(super) fn events(&self) -> (&[String], &[String]) {
        (&self.events, &self.missing_events)
    }

    /// Returns the pause between two readings of the ring buffers. Few readings disturb the machine
    /// less, but a buffer must hold what a CPU can write in between (2 million events/s of 48 bytes).
    pub(super) fn tick(&self) -> Duration {
        let fills_in = Duration::from_micros(self.kib_per_cpu.saturating_mul(1024) / (2 * 48));
        (fills_in / 4).clamp(SHORTEST_TICK, LONGEST_TICK)
    }

    /// Counts events of the task `pid` as the recorder's own.
    pub(super) fn add_own(&mut self, pid: i32) {
        self.buffers.add_own(pid);
    }

    /// Counts events of all current threads of this process as the recorder's own.
    pub(super) fn add_own_tasks(&mut self) {
        let Ok(tasks) = fs::read_dir("/proc/self/task") else { return };
        for task in tasks.flatten() {
            if let Some(pid) = task.file_name().to_str().and_then(|name| name.parse().ok()) {
                self.buffers.add_own(pid);
            }
        }
    }

    /// Returns the counts of what was read so far.
    pub(super) fn tally(&self) -> Tally {
        self.buffers.tally()
    }

    /// Reads the ring buffers into the merger.
    pub(super) fn hold(&mut self) -> Result<(), Error> {
        self.last_turn_ns = clock::monotonic_ns();
        self.buffers.drain(&self.decoder, self.last_turn_ns, &mut self.merger)
    }

    /// Reads the ring buffers, and passes on the events that were written before the last turn.
    ///
    /// An event gets its time before it is complete. One turn later it is complete, unless its CPU
    /// was stopped for a whole turn; the merger then gives it the time of the event before it.
    pub(super) fn turn(&mut self, sink: &mut dyn EventSink) -> Result<(), Error> {
        let cutoff_ns = self.last_turn_ns;
        self.hold()?;
        self.merger.release(cutoff_ns, sink)
    }

    /// Passes on the pending events from before `cutoff_ns`.
    pub(super) fn release(&mut self, cutoff_ns: u64, sink: &mut dyn EventSink) -> Result<(), Error> {
        self.merger.release(cutoff_ns, sink)
    }

    /// Returns how many events are pending.
    pub(super) fn pending(&self) -> usize {
        self.merger.pending()
    }

    /// Takes a snapshot on another thread while this thread reads the ring buffers, so that they do
    /// not overflow.
    pub(super) fn snapshot(&mut self, occupancy: Occupancy) -> Result<Snapshot, Error> {
        let (send, answer) = std::sync::mpsc::channel();
        let mut exact = mem::replace(&mut self.exact, Err(String::new()));
        let done = thread::scope(|scope| {
            let exact = &mut exact;
            let taker = scope.spawn(move || {
                let _ = send.send(rustix::thread::gettid().as_raw_nonzero().get());
                let taken = snapshot(Path::new("/"), occupancy)?;
                let exact = exact_part(exact);
                Ok(Snapshot { time_ns: clock::monotonic_ns(), exact, ..taken })
            });
            if let Ok(task) = answer.recv() {
                self.add_own(task);
            }
            let mut drained = Ok(());
            while !taker.is_finished() && drained.is_ok() {
                thread::sleep(self.tick());
                drained = self.hold();
            }
            let taken = taker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            drained.and(taken)
        });
        self.exact = exact;
        done
    }

    /// Stops tracing, passes on the remaining events and removes the instance.
    pub(super) fn finish(mut self, sink: &mut dyn EventSink) -> Result<Closing, Error> {
        self.instance.write("tracing_on", "0")?;
        self.buffers.drain(&self.decoder, u64::MAX, &mut self.merger)?;
        self.merger.release(u64::MAX, sink)?;
        let losses = self.buffers.losses(&self.instance)?;
        Ok(Closing {
            tally: self.buffers.tally(),
            late: self.merger.late(),
            lost_by_cpu: by_cpu(&losses),
            buffer_pages: self.buffer_pages,
        })
    }
}

/// Reads the free memory block by block, or says why that failed.
fn exact_part(exact: &mut Result<ExactSensor, String>) -> ExactPart {
    let taken = match exact {
        Ok(sensor) => sensor.read().map_err(|error| error.to_string()),
        Err(missing) => Err(missing.clone()),
    };
    match taken {
        Ok(state) => ExactPart::Taken(Box::new(state)),
        Err(missing) => ExactPart::Missing { missing },
    }
}

fn by_cpu(losses: &[CpuLoss]) -> Vec<u64> {
    let cpus = losses.iter().map(|l| l.cpu as usize + 1).max().unwrap_or(0);
    let mut table = vec![0; cpus];
    for loss in losses {
        table[loss.cpu as usize] = loss.events;
    }
    table
}

/// Returns a decoder for the running kernel's events.
fn decoder(tracefs: &Tracefs, options: &RecordOptions) -> Result<Decoder, Error> {
    let kmem = tracefs.root().join("events/kmem");
    let mut formats = Vec::new();
    for &event in options.detail.events() {
        let path = kmem.join(event).join("format");
        match fs::read_to_string(&path) {
            Ok(text) => formats.push((event, text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::NoKmemEvents { path, event });
            }
            Err(e) => return Err(Error::io("read", &path, e)),
        }
    }
    for (group, event) in optional_events(&options.groups) {
        let path = tracefs.root().join("events").join(group).join(event).join("format");
        // A kernel without compaction lacks these events.
        if let Ok(text) = fs::read_to_string(&path) {
            formats.push((event, text));
        }
    }
    let pagetypeinfo = read_pagetypeinfo(Path::new("/"))?;
    let largest = pagetypeinfo.largest_order().unwrap_or(Order::MAX_PAGE_ORDER);
    Decoder::new(&formats, &pagetypeinfo.types, largest)
        .map_err(|e| ParseError::new(0, e.to_string(), "another format").in_file(&kmem, UNKNOWN_FORMAT))
}

/// Returns the default size of a CPU's ring buffer in KiB: a sixteenth of the available memory for all
/// CPUs, between 1 and 64 MiB for each.
///
/// 64 MiB hold more than four seconds of 300 000 events/s on one CPU.
fn default_buffer_kib() -> u64 {
    let available_bytes = read_meminfo(Path::new("/"), "MemAvailable").unwrap_or(0);
    (available_bytes / 1024 / 16 / u64::from(online_cpus())).clamp(1 << 10, 64 << 10)
}
