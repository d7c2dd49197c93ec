//! The watch of callers: a tracefs instance with filters on the order.

use std::fs;

use freehold::Order;

use super::decode::{Decoder, EVENTS, STACK};
use super::event::{CallerEvent, CallerStack};
use super::pairing::Pairing;
use super::tasks::{TaskNames, is_first_namespace};
use crate::clock;
use crate::error::{Error, ParseError};
use crate::tracefs::{Instance, Rings, Tracefs, remove_stale};

/// The ring buffer of each CPU in KiB: some 20 000 requests with their stacks.
const BUFFER_KIB: u64 = 4 << 10;

/// The option that writes a kernel stack behind each event.
const STACK_OPTION: &str = "options/stacktrace";

const UNKNOWN_FORMAT: &str = "Report the file's text";

/// A running watch. Dropping it ends it.
#[derive(Debug)]
pub struct CallerWatch {
    // Fields are dropped in this order: the buffers must be closed before the instance is removed.
    rings: Rings,
    instance: Instance,
    // A private mount ends with it.
    _tracefs: Tracefs,
    decoder: Decoder,
    pairing: Pairing,
    names: TaskNames,
    missing: Vec<String>,
    /// The time of the last reading of the ring buffers.
    last_turn_ns: u64,
}

/// What a watch missed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallerLosses {
    /// Events that were overwritten or could not be read.
    pub events: u64,
    /// Requests without a kernel stack.
    pub without_stack: u64,
    /// Watched events that the kernel lacks, as `GROUP:NAME`.
    pub missing_events: Vec<String>,
}

impl CallerWatch {
    /// Watches requests of at least `order`.
    ///
    /// # Errors
    /// If tracefs cannot be used, as without root, or the kernel has no event `mm_page_alloc`.
    pub fn start(order: Order) -> Result<Self, Error> {
        let tracefs = Tracefs::open()?;
        remove_stale(&tracefs);
        let instance = Instance::create(&tracefs)?;
        instance.prepare(BUFFER_KIB)?;
        // Only kernels with CONFIG_STACKTRACE have the option.
        let has_stacks = instance.file(STACK_OPTION).exists();
        let (decoder, missing) = decoder(&tracefs, has_stacks)?;
        let rings = Rings::open(&instance, UNKNOWN_FORMAT)?;
        let mut pairing = Pairing::default();
        // Events have the pids of the first namespace.
        if is_first_namespace() {
            pairing.leave_out(rustix::thread::gettid().as_raw_nonzero().get());
            pairing.leave_out(instance.helper_pid());
        }
        if has_stacks {
            instance.write(STACK_OPTION, "1")?;
        }
        for (group, event, field) in EVENTS {
            let folder = format!("events/{group}/{event}");
            if missing.contains(&format!("{group}:{event}")) {
                continue;
            }
            if let Some(field) = field {
                instance.write(&format!("{folder}/filter"), &format!("{field} >= {order}"))?;
            }
            instance.write(&format!("{folder}/enable"), "1")?;
        }
        instance.write("tracing_on", "1")?;
        let last_turn_ns = clock::monotonic_ns();
        let names = TaskNames::new(&tracefs);
        Ok(Self { rings, instance, _tracefs: tracefs, decoder, pairing, names, missing, last_turn_ns })
    }

    /// Passes on the events that were written before the last turn, in the order of time, with what is known of tasks.
    ///
    /// # Errors
    /// If a ring buffer cannot be read.
    pub fn turn(&mut self, each: &mut dyn FnMut(&CallerEvent, &mut TaskNames)) -> Result<(), Error> {
        let cutoff_ns = self.last_turn_ns;
        self.last_turn_ns = clock::monotonic_ns();
        self.read(self.last_turn_ns)?;
        let Self { pairing, names, .. } = self;
        pairing.release(cutoff_ns, &mut |event| each(event, names));
        Ok(())
    }

    /// Ends the tracing, and passes on what is left.
    ///
    /// # Errors
    /// If a ring buffer cannot be read.
    pub fn finish(
        &mut self,
        each: &mut dyn FnMut(&CallerEvent, &mut TaskNames),
    ) -> Result<CallerLosses, Error> {
        self.instance.write("tracing_on", "0")?;
        self.read(u64::MAX)?;
        let Self { pairing, names, .. } = self;
        pairing.finish(&mut |event| each(event, names));
        let counted: u64 = self.rings.losses(&self.instance)?.iter().map(|cpu| cpu.events).sum();
        Ok(CallerLosses {
            events: self.pairing.lost.max(counted),
            without_stack: self.pairing.without_stack,
            missing_events: self.missing.clone(),
        })
    }

    /// Returns the addresses of a stack, innermost first.
    pub fn stack(&self, stack: CallerStack) -> &[u64] {
        self.pairing.stack(stack)
    }

    fn read(&mut self, until_ns: u64) -> Result<(), Error> {
        let Self { rings, decoder, pairing, .. } = self;
        rings.drain(until_ns, &mut |cpu, time_ns, part| pairing.add(decoder, cpu, time_ns, part))?;
        // At once, as tasks may end soon.
        self.names.turn(self.pairing.tasks());
        Ok(())
    }
}

/// Returns a decoder for the running kernel's events, and the events that the kernel lacks.
fn decoder(tracefs: &Tracefs, has_stacks: bool) -> Result<(Decoder, Vec<String>), Error> {
    let events = tracefs.root().join("events");
    let (mut formats, mut missing) = (Vec::new(), Vec::new());
    let wanted =
        EVENTS.iter().map(|&(group, event, _)| (group, event)).chain(has_stacks.then_some(("ftrace", STACK)));
    for (group, event) in wanted {
        let path = events.join(group).join(event).join("format");
        match fs::read_to_string(&path) {
            Ok(text) => formats.push((event, text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && event == "mm_page_alloc" => {
                return Err(Error::NoKmemEvents { path, event });
            }
            // A kernel without compaction lacks some.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => missing.push(format!("{group}:{event}")),
            Err(e) => return Err(Error::io("read", &path, e)),
        }
    }
    let decoder = Decoder::new(&formats)
        .map_err(|e| ParseError::new(0, e.to_string(), "another format").in_file(&events, UNKNOWN_FORMAT))?;
    Ok((decoder, missing))
}
