//! What the pageblocks hold, read on a little with each look at the machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::map::PageblockMap;
use super::reader::PageblockReader;
use crate::error::Error;

/// How fast the first round is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// For whoever waits in front of it: 24 GiB in twenty seconds, for 3 % of a processor.
    Watched,
    /// For what runs unseen: 24 GiB in two minutes, for half a percent of a processor.
    Unseen,
}

impl Pace {
    /// How many pages the first round reads a second.
    fn pages_a_second(self) -> f64 {
        match self {
            Self::Watched => 320_000.0,
            Self::Unseen => 52_000.0,
        }
    }
}

/// How many pages are read a second afterwards: a third of a percent of a processor.
const LATER_PAGES: f64 = 32_000.0;

/// The most seconds that reading is behind and still made up for.
const MOST_SECONDS: f64 = 2.0;

/// A map of pageblocks that is made and renewed part by part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Surveyed {
    /// What was read last of each pageblock.
    pub map: Arc<PageblockMap>,
    /// Up to which zone, and which of its pageblocks, the first round has come; none once it is over.
    pub first_round: Option<(usize, usize)>,
    /// How long a round takes: how old the oldest part may be, in milliseconds.
    pub round_ms: u64,
}

/// Reads on a little each time it is asked.
#[derive(Debug)]
pub struct Survey {
    root: PathBuf,
    reader: PageblockReader,
    /// Node, first frame and span of the zones that are read.
    shape: Vec<(u32, u64, u64)>,
    asked: Instant,
    /// Pages that may be read.
    due: f64,
    round_began: Instant,
    rounds: u64,
    round_ms: u64,
    pace: Pace,
}

impl Survey {
    /// Begins to survey the machine below `root`.
    ///
    /// # Errors
    /// [`Error::NoKpageflags`] where the kernel has none, [`Error::NotRoot`] where it is refused.
    pub fn begin(root: &Path, zones: &[ZoneSnapshot], pace: Pace) -> Result<Self, Error> {
        let now = Instant::now();
        Ok(Self {
            root: root.to_owned(),
            reader: PageblockReader::open(root, zones)?,
            shape: shape(zones),
            asked: now,
            due: pace.pages_a_second(),
            round_began: now,
            rounds: 0,
            round_ms: 0,
            pace,
        })
    }

    /// Reads on by as much as is due, and tells what is known.
    ///
    /// Zones that have changed, as memory was plugged in or out, are surveyed anew.
    ///
    /// # Errors
    /// Those of reading `/proc/kpageflags`.
    pub fn go_on(&mut self, zones: &[ZoneSnapshot]) -> Result<Surveyed, Error> {
        if shape(zones) != self.shape {
            *self = Self::begin(&self.root, zones, self.pace)?;
        }
        let rate = if self.rounds == 0 { self.pace.pages_a_second() } else { LATER_PAGES };
        let now = Instant::now();
        self.due = (self.due + rate * (now - self.asked).as_secs_f64()).min(rate * MOST_SECONDS);
        self.asked = now;
        if self.due >= 1.0 {
            let (rounds, read) = self.reader.advance(self.due as u64)?;
            self.due -= read as f64;
            if rounds > self.rounds {
                self.round_ms = (now - self.round_began).as_millis() as u64;
                (self.rounds, self.round_began) = (rounds, now);
            }
        }
        let running_ms = (now - self.round_began).as_millis() as u64;
        Ok(Surveyed {
            map: Arc::new(self.reader.map(zones)),
            first_round: (self.rounds == 0).then(|| self.reader.position()),
            round_ms: self.round_ms.max(running_ms),
        })
    }
}

fn shape(zones: &[ZoneSnapshot]) -> Vec<(u32, u64, u64)> {
    zones.iter().map(|zone| (zone.node, zone.start_pfn, zone.spanned)).collect()
}
