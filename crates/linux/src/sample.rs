//! One sample of a machine's memory, and the sampler that takes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use crate::error::Error;
use crate::pageblocks::{
    KnownTypes, Pace, PageblockMap, PageblockTypes, PerCpuFrames, Survey, Surveyed, Unflagged,
};
use crate::procfs::{
    Machine, Pressure, copy_notes, free_swap_pages, read_every_counter, read_machine, read_pressure,
    read_zoneinfo,
};
use crate::sensor::{Choice, FreeBlocks, Ration, Sensor};

/// The state of a machine's memory at one moment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sample {
    /// Milliseconds since 1970.
    pub unix_ms: u64,
    /// Free blocks by zone, order and type.
    pub free: FreeBlocks,
    /// Zones with their watermarks and per-CPU lists; empty where `/proc/zoneinfo` cannot be read.
    pub zones: Vec<ZoneSnapshot>,
    /// `/proc/vmstat`; empty where it cannot be read.
    pub counters: BTreeMap<String, u64>,
    /// Free swap in pages; 0 where it is not known.
    pub swap_pages: u64,
    /// `/proc/pressure/memory`; `None` if the kernel lacks it.
    pub pressure: Option<Pressure>,
    /// What the pageblocks hold; `None` without [`Sampler::survey_pageblocks`] or if it cannot be
    /// read.
    pub pageblocks: Option<Surveyed>,
    /// What could not be read: the reason, and what to do about it.
    pub notes: Vec<String>,
}

/// Takes samples of one machine.
pub struct Sampler {
    root: PathBuf,
    sensor: Sensor,
    machine: Machine,
    survey: Surveying,
    types: Types,
    lists: Lists,
    /// What is assumed of a machine whose files are a copy, and where they contradict each other.
    copied: Vec<String>,
}

/// The pause after a reading of pageblocks' types, or of per-CPU lists, in times of how long it took.
const PAUSE: u32 = 1000;

/// The pageblocks' types of the last reading.
#[derive(Default)]
struct Types {
    read: Option<(Instant, Arc<PageblockTypes>)>,
    /// They are read again at this time.
    due: Option<Instant>,
}

impl Types {
    /// Returns the types of the pageblocks of `map`: read anew if that is due, for a thousandth of the time at most.
    fn of(&mut self, sensor: &mut Sensor, map: &PageblockMap) -> Option<KnownTypes> {
        let began = Instant::now();
        let fits = |types: &PageblockTypes| {
            types.iter().map(Vec::len).eq(map.zones.iter().map(|zone| zone.blocks.len()))
        };
        let changed = self.read.as_ref().is_some_and(|(_, types)| !fits(types));
        if changed || self.due.is_none_or(|due| began >= due) {
            self.read = sensor.pageblock_types(map).map(|types| (began, Arc::new(types)));
            self.due = Some(began + began.elapsed() * PAUSE + Duration::from_secs(1));
        }
        let (at, types) = self.read.as_ref()?;
        Some(KnownTypes { types: Arc::clone(types), age_ms: at.elapsed().as_millis() as u64 })
    }
}

/// The frames on per-CPU lists at the last reading.
#[derive(Default)]
struct Lists {
    read: PerCpuFrames,
    /// They are read again at this time.
    due: Option<Instant>,
}

impl Lists {
    /// Returns the frames: read anew if that is due, for a thousandth of the time at most.
    fn of(&mut self, sensor: &mut Sensor) -> &PerCpuFrames {
        let began = Instant::now();
        if self.due.is_none_or(|due| began >= due) {
            self.read = sensor.per_cpu_frames();
            self.due = Some(began + began.elapsed() * PAUSE);
        }
        &self.read
    }
}

/// The state of the survey of pageblocks.
enum Surveying {
    /// It was not requested.
    No,
    /// It starts with the next sample.
    Begins(Pace),
    /// It continues with every sample.
    Running(Box<Survey>),
    /// It failed for this reason.
    Closed(String),
}

impl Sampler {
    /// Opens a sampler of the machine whose `/proc` and `/sys` are below `root`.
    ///
    /// # Errors
    /// Those of [`Sensor::open`], and files of the machine that do not parse.
    pub fn open(root: &Path, choice: Choice) -> Result<Self, Error> {
        let sensor = Sensor::open(root, choice, Ration::ByCost)?;
        let machine = read_machine(root)?;
        let copied = copy_notes(root, None);
        Ok(Self {
            root: root.to_owned(),
            sensor,
            machine,
            survey: Surveying::No,
            types: Types::default(),
            lists: Lists::default(),
            copied,
        })
    }

    /// Names the size of a page, for files that do not say it.
    #[must_use]
    pub fn with_page_size(mut self, bytes: Option<u64>) -> Self {
        if let Some(bytes) = bytes {
            self.machine.page_bytes = bytes;
            self.copied = copy_notes(&self.root, Some(bytes));
        }
        self
    }

    /// Makes every later sample read a part of `/proc/kpageflags`.
    pub fn survey_pageblocks(&mut self, pace: Pace) {
        self.survey = Surveying::Begins(pace);
    }

    /// Changes the speed of a survey that was begun.
    pub fn set_pace(&mut self, pace: Pace) {
        if let Surveying::Running(survey) = &mut self.survey {
            survey.set_pace(pace);
        }
    }

    /// Returns what stays the same while the machine is up.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Takes a sample. Except for free blocks, what cannot be read is left out and noted.
    ///
    /// # Errors
    /// If free blocks cannot be read.
    pub fn sample(&mut self) -> Result<Sample, Error> {
        let free = self.sensor.read()?;
        let mut notes = self.sensor.notes();
        notes.extend(self.machine.missing(&self.root));
        notes.extend_from_slice(&self.copied);
        let zones = or_note(read_zoneinfo(&self.root), &mut notes);
        let counters = or_note(read_every_counter(&self.root), &mut notes);
        let pressure = or_note(read_pressure(&self.root).map(Some), &mut notes);
        let swap_pages = free_swap_pages(&self.root, self.machine.page_bytes);
        let pageblocks = self.survey(&zones, &mut notes);
        Ok(Sample { unix_ms: unix_ms(), free, zones, counters, swap_pages, pressure, pageblocks, notes })
    }

    /// Continues the survey of pageblocks if it was requested.
    fn survey(&mut self, zones: &[ZoneSnapshot], notes: &mut Vec<String>) -> Option<Surveyed> {
        if zones.is_empty() {
            return None;
        }
        if let Surveying::Begins(pace) = self.survey {
            self.survey = match Survey::begin(&self.root, zones, pace) {
                Ok(survey) => Surveying::Running(Box::new(survey)),
                Err(error) => Surveying::Closed(error.to_string()),
            };
        }
        if let Surveying::Running(survey) = &mut self.survey {
            let listed = self.lists.of(&mut self.sensor);
            let sensor = Mutex::new(&mut self.sensor);
            let pinned = |from: u64, count: u64| {
                sensor.lock().unwrap_or_else(PoisonError::into_inner).pinned_frames(from, count)
            };
            match survey.go_on(zones, Unflagged { listed, pinned: &pinned }) {
                Ok(surveyed) => {
                    // Types are of use once all pageblocks are known.
                    let known = surveyed.first_round.is_none();
                    let types = known.then(|| self.types.of(&mut self.sensor, &surveyed.map)).flatten();
                    return Some(Surveyed { types, ..surveyed });
                }
                Err(error) => self.survey = Surveying::Closed(error.to_string()),
            }
        }
        if let Surveying::Closed(why) = &self.survey {
            notes.push(format!("the pageblock map is missing, so that a verdict is OK or UNKNOWN: {why}"));
        }
        None
    }
}

fn or_note<T: Default>(read: Result<T, Error>, notes: &mut Vec<String>) -> T {
    read.unwrap_or_else(|error| {
        notes.push(error.to_string());
        T::default()
    })
}

fn unix_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
