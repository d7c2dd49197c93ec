//! A thread that owns an engine, whose tables borrow memory of the thread.

use std::mem::MaybeUninit;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use freehold::{
    ExtFrag, MemoryConfig, Order, PerCpuSettings, Pfn, SetupError, Switches, Sysctls, Tracepoints,
    ZoneConfig, ZoneType, required_bytes,
};
use parking_lot::RawMutex;

/// The platform of a keeper: locks, and a record of fallbacks.
#[derive(Debug)]
pub(super) struct HostPlatform;

impl freehold::Platform for HostPlatform {
    type ZoneLock = RawMutex;
    type PerCpuLock = RawMutex;
    type Tracepoints = Fallbacks;
    type Rule = ();
}

/// The engine of a keeper.
pub(super) type Engine<'m> = freehold::Memory<'m, HostPlatform>;

/// A job for the thread of a keeper.
type Job = Box<dyn FnOnce(&Engine<'_>, &Fallbacks) + Send>;

/// A record of all fallbacks.
#[derive(Debug, Default)]
pub(super) struct Fallbacks(parking_lot::Mutex<Vec<ExtFrag>>);

impl Fallbacks {
    /// Returns the fallbacks so far.
    pub(super) fn all(&self) -> Vec<ExtFrag> {
        self.0.lock().clone()
    }
}

impl Tracepoints for Fallbacks {
    type Since = ();

    fn page_alloc_extfrag(&self, event: ExtFrag) {
        self.0.lock().push(event);
    }
}

/// The configuration of the memory.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) start: Pfn,
    pub(super) pages: u64,
    pub(super) cpus: u16,
    pub(super) max_order: Order,
    pub(super) pageblock_order: Order,
    pub(super) switches: Switches,
    /// True for watermarks and per-CPU lists as Linux computes them; false for none of them.
    pub(super) as_linux: bool,
}

impl Setup {
    fn zone(&self) -> ZoneConfig {
        let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, self.start, self.pages)];
        if self.as_linux {
            Sysctls::linux(self.cpus).apply(&mut zones);
        } else {
            zones[0].percpu = PerCpuSettings { batch: 1, high_min: 0, high_max: 0, flush_needs_batch: false };
        }
        zones[0]
    }
}

/// A handle of a thread with an engine. The thread ends when the handle is dropped.
#[derive(Debug)]
pub(super) struct Keeper {
    jobs: Mutex<Sender<Job>>,
}

impl Keeper {
    /// Starts a thread with an engine whose pages are all free.
    ///
    /// # Errors
    /// The engine refuses the configuration, or no further thread can be started.
    pub(super) fn new(setup: Setup) -> Result<Self, String> {
        let (jobs, to_do) = channel();
        let (ready, outcome) = channel();
        let thread = thread::Builder::new().name("freehold memory".to_owned());
        let started = thread.spawn(move || {
            let refused = keep(&setup, &to_do, || drop(ready.send(None)));
            if let Err(error) = refused {
                drop(ready.send(Some(error.to_string())));
            }
        });
        started.map_err(|error| format!("no further thread can be started: {error}"))?;
        match outcome.recv() {
            Ok(None) => Ok(Self { jobs: Mutex::new(jobs) }),
            Ok(Some(refused)) => Err(refused),
            Err(_) => Err("the engine stopped".to_owned()),
        }
    }

    /// Runs `job` on the thread and returns its result; `None` if the thread has ended, which is a bug.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Engine<'_>, &Fallbacks) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = channel();
        let job: Job = Box::new(move |engine, fallbacks| drop(answer.send(job(engine, fallbacks))));
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).send(job).ok()?;
        answered.recv().ok()
    }
}

/// Creates an engine and runs jobs with it until the sender of jobs is dropped.
fn keep(setup: &Setup, to_do: &Receiver<Job>, ready: impl FnOnce()) -> Result<(), SetupError> {
    let zones = [setup.zone()];
    let config = MemoryConfig {
        max_order: setup.max_order,
        pageblock_order: setup.pageblock_order,
        huge_pages: setup.pageblock_order < setup.max_order,
        switches: setup.switches,
        ..MemoryConfig::linux(&zones, setup.cpus)
    };
    let mut metadata = vec![MaybeUninit::uninit(); required_bytes::<HostPlatform>(&config)];
    let fallbacks = Fallbacks::default();
    let engine = Engine::with_tracepoints(&config, &mut metadata, &fallbacks)?;
    for zone in engine.zones() {
        zone.add_free(setup.start, setup.pages)?;
    }
    ready();
    while let Ok(job) = to_do.recv() {
        job(&engine, &fallbacks);
    }
    Ok(())
}
