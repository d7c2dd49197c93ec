//! A survey of all pageblocks that proceeds a little with each sample.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::haste::Haste;
use super::map::PageblockMap;
use super::reader::PageblockReader;
use super::types::PageblockTypes;
use super::unflagged::Unflagged;
use crate::error::Error;

/// The speed of a survey.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// For a view that is open: 24 GiB first in three seconds, for a quarter of a processor, and then every three minutes.
    Watched,
    /// For a server without an open page: 24 GiB first as fast, and then every 20 minutes.
    Served,
    /// For background use: 24 GiB first in two minutes, for half a percent of a processor, and then every 20.
    Unseen,
    /// For a single look: all with the first sample.
    AtOnce,
}

impl Pace {
    /// Returns the pages per second of the first round.
    fn pages_a_second(self) -> f64 {
        match self {
            Self::Watched | Self::Served => 2_560_000.0,
            Self::Unseen => 52_000.0,
            Self::AtOnce => f64::INFINITY,
        }
    }

    /// Returns the pages per second of later rounds that are not hurried: a third of a percent of a processor for an open view,
    /// otherwise a twentieth.
    fn later_pages(self) -> f64 {
        match self {
            Self::Watched | Self::AtOnce => 32_000.0,
            Self::Served | Self::Unseen => 5_000.0,
        }
    }

    /// Returns how much longer than a hurried round the next one is away at least.
    fn rest(self) -> u32 {
        match self {
            Self::Watched | Self::AtOnce => 9,
            Self::Served | Self::Unseen => 59,
        }
    }
}

/// The pages per second of a hurried round: 24 GiB in twenty seconds, for 3 % of a processor.
const HURRIED_PAGES: f64 = 320_000.0;

/// The most seconds of delay that the first round catches up on.
const FIRST_SECONDS: f64 = 2.0;

/// The same of later rounds.
const LATER_SECONDS: f64 = 20.0;

/// A map of pageblocks that is renewed part by part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Surveyed {
    /// The last record of each pageblock.
    pub map: Arc<PageblockMap>,
    /// The zone and the pageblock in it that the first round has reached; `None` after the first
    /// round.
    pub first_round: Option<(usize, usize)>,
    /// The duration of a round, and so the greatest age of a record, in milliseconds.
    pub round_ms: u64,
    /// The pageblocks' migratetypes, where the sensor tells them.
    pub types: Option<KnownTypes>,
}

/// Migratetypes of pageblocks that were read a while ago.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KnownTypes {
    /// The types of the map's pageblocks.
    #[serde(skip)]
    pub types: Arc<PageblockTypes>,
    /// How long ago they were read, in milliseconds.
    pub age_ms: u64,
}

/// A survey in progress.
#[derive(Debug)]
pub struct Survey {
    root: PathBuf,
    reader: PageblockReader,
    /// Node, first frame and span of the surveyed zones.
    shape: Vec<(u32, u64, u64)>,
    last_step: Instant,
    /// Pages that are due to be read.
    due: f64,
    round_began: Instant,
    rounds: u64,
    round_ms: u64,
    pace: Pace,
    haste: Haste,
    /// Until so many rounds have ended, a round was read faster than the one before or after it.
    uneven_until: u64,
}

impl Survey {
    /// Starts to survey the machine below `root`.
    ///
    /// # Errors
    /// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
    pub fn begin(root: &Path, zones: &[ZoneSnapshot], pace: Pace) -> Result<Self, Error> {
        let now = Instant::now();
        Ok(Self {
            root: root.to_owned(),
            reader: PageblockReader::open(root, zones)?,
            shape: shape(zones),
            last_step: now,
            due: pace.pages_a_second(),
            round_began: now,
            rounds: 0,
            round_ms: 0,
            pace,
            haste: Haste::default(),
            uneven_until: 2,
        })
    }

    /// Reads the pages that are due, and returns the map.
    ///
    /// If free memory has changed by more than a 64th of all memory, one round is hurried. If zones have changed, as memory was
    /// plugged in or out, the survey starts again.
    ///
    /// # Errors
    /// Those of reading `/proc/kpageflags`.
    pub fn go_on(&mut self, zones: &[ZoneSnapshot], unflagged: Unflagged<'_>) -> Result<Surveyed, Error> {
        if shape(zones) != self.shape {
            *self = Self::begin(&self.root, zones, self.pace)?;
        }
        let now = Instant::now();
        let rate = if self.rounds == 0 {
            self.pace.pages_a_second()
        } else if self.hurries(zones) {
            HURRIED_PAGES
        } else {
            self.pace.later_pages()
        };
        let most = if self.rounds == 0 { FIRST_SECONDS } else { LATER_SECONDS };
        self.due = (self.due + rate * (now - self.last_step).as_secs_f64()).min(rate * most);
        self.last_step = now;
        if self.due >= 1.0 {
            let (rounds, read) = self.reader.advance(self.due as u64, unflagged)?;
            self.due -= read as f64;
            self.haste.has_read(now, read, self.pace.rest());
            if rounds > self.rounds {
                self.round_ms = (now - self.round_began).as_millis() as u64;
                (self.rounds, self.round_began) = (rounds, now);
            }
        }
        let running_ms = (now - self.round_began).as_millis() as u64;
        Ok(Surveyed {
            map: Arc::new(self.reader.map(zones)),
            first_round: (self.rounds == 0).then(|| self.reader.position()),
            round_ms: if self.rounds < self.uneven_until {
                self.round_ms + running_ms
            } else {
                self.round_ms.max(running_ms)
            },
            types: None,
        })
    }

    /// Changes the speed of what is read next.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// Returns true if what is read next is part of a hurried round.
    fn hurries(&mut self, zones: &[ZoneSnapshot]) -> bool {
        let sum = |pages: fn(&ZoneSnapshot) -> u64| zones.iter().map(pages).fold(0, u64::saturating_add);
        let [free, present, spanned] =
            [sum(|zone| zone.free), sum(|zone| zone.present), sum(|zone| zone.spanned)];
        let hurries = self.haste.is_due(self.last_step, free, present, spanned);
        if hurries {
            self.uneven_until = self.rounds + 3;
        }
        hurries
    }
}

fn shape(zones: &[ZoneSnapshot]) -> Vec<(u32, u64, u64)> {
    zones.iter().map(|zone| (zone.node, zone.start_pfn, zone.spanned)).collect()
}
