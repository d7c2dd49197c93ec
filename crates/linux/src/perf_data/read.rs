//! Turns records into events.

use std::io::{Read, Seek};

use freehold::Order;
use freehold_trace::{Event, EventKind, KernelTypes};

use super::attributes::Attributes;
use super::bytes::Bytes;
use super::file::PerfData;
use super::losses::Losses;
use super::records::{Record, kind};
use super::sample::{Place, SampleLayout};
use crate::error::{Error, PerfDataError};
use crate::reorder::{Reorder, TooOld};
use crate::tracefs::{Decoded, Decoder};

/// What a file of perf's does not tell.
#[derive(Clone, Debug)]
pub struct PerfOptions {
    /// Migratetypes by the recorded kernel's own numbers, as in
    /// [`freehold_trace::PageTypeInfo::types`].
    pub types: KernelTypes,
    /// The recorded kernel's largest order.
    pub largest: Order,
}

/// Counts of the contents of a file of perf.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerfCounts {
    /// Records in all.
    pub records: u64,
    /// Page events.
    pub events: u64,
    /// Records that the file says were lost.
    pub lost: u64,
    /// Samples of other events.
    pub other_samples: u64,
}

impl<R: Read + Seek> PerfData<'_, R> {
    /// Reads page events and calls `take` with each, in the order of time.
    ///
    /// # Errors
    ///
    /// `PerfData` if the file is damaged or holds no page event, and any error of `take`.
    pub fn read_events(
        self,
        options: &PerfOptions,
        take: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<PerfCounts, Error> {
        let Self { path, mut records, attributes, tracing, .. } = self;
        let formats: Vec<_> = tracing.formats.into_iter().map(|(name, _, text)| (name, text)).collect();
        let decoder = Decoder::new(&formats, &options.types, options.largest)
            .map_err(|error| PerfDataError::Format(error.0).in_file(path))?;
        let mut reader = Reader {
            shared: attributes.shared(),
            attributes,
            decoder,
            reorder: Reorder::default(),
            losses: Losses::default(),
            counts: PerfCounts::default(),
            round_ns: 0,
        };
        while let Some(record) = records.next()? {
            reader.record(&record).map_err(|wrong| wrong.at(record.at).in_file(path))?;
            if record.kind == kind::FINISHED_ROUND {
                reader.round(take)?;
            }
        }
        reader.end(take)?;
        match reader.counts {
            PerfCounts { events: 0, records, .. } => Err(PerfDataError::NoEvents { records }.in_file(path)),
            counts => Ok(counts),
        }
    }
}

const DAMAGED: Wrong = Wrong::Damaged("the record");

/// What is wrong with a record.
#[derive(Clone, Copy)]
enum Wrong {
    Damaged(&'static str),
    Old(TooOld),
    SomeTasks,
}

impl Wrong {
    fn at(self, at: u64) -> PerfDataError {
        match self {
            Self::Damaged(what) => PerfDataError::Damaged { what, at },
            Self::Old(TooOld { back_ns, .. }) => PerfDataError::TimeBackwards { at, back_ns },
            Self::SomeTasks => PerfDataError::SomeTasks,
        }
    }
}

impl From<TooOld> for Wrong {
    fn from(old: TooOld) -> Self {
        Self::Old(old)
    }
}

struct Reader {
    attributes: Attributes,
    /// The layout of every event's records, if they have the same one.
    shared: Option<SampleLayout>,
    decoder: Decoder,
    reorder: Reorder,
    losses: Losses,
    counts: PerfCounts,
    /// The newest time at the end of the last round: nothing older comes in the round behind the next one.
    round_ns: u64,
}

impl Reader {
    /// Reads a record.
    fn record(&mut self, record: &Record<'_>) -> Result<(), Wrong> {
        self.counts.records += 1;
        let mut body = Bytes(record.body);
        match record.kind {
            kind::SAMPLE => self.sample(record.body),
            kind::LOST => {
                body.u64().ok_or(DAMAGED)?;
                let count = body.u64().ok_or(DAMAGED)?;
                let place = self.place(record.body)?;
                let cpu = self.cpu(place)?;
                self.losses.add_in_place(cpu, count);
                self.lost(place.time_ns, cpu, count)
            }
            kind::LOST_SAMPLES => {
                let count = body.u64().ok_or(DAMAGED)?;
                // Perf writes this record itself, without time and CPU.
                let cpu = self.losses.cpu_of(self.place(record.body)?.id);
                self.losses.add_at_end(cpu, count);
                Ok(())
            }
            kind::ID_INDEX => match self.losses.index(record.body) {
                Some(true) => Ok(()),
                Some(false) => Err(Wrong::SomeTasks),
                None => Err(DAMAGED),
            },
            _ => Ok(()),
        }
    }

    fn sample(&mut self, body: &[u8]) -> Result<(), Wrong> {
        let layout = self.shared.or_else(|| self.attributes.of_sample(body)).ok_or(DAMAGED)?;
        let (place, raw) = layout.sample(body).ok_or(DAMAGED)?;
        let raw_event = match self.decoder.decode(raw) {
            Decoded::Event(event) => event,
            // Samples of other kinds of events have no raw data.
            Decoded::Foreign => {
                self.counts.other_samples += 1;
                return Ok(());
            }
            Decoded::Unreadable if raw.is_empty() => {
                self.counts.other_samples += 1;
                return Ok(());
            }
            Decoded::Unreadable => return Err(Wrong::Damaged("the event")),
        };
        let (pid, kind) = (raw_event.pid, raw_event.kind);
        let time_ns = place.time_ns.ok_or(DAMAGED)?;
        let cpu = self.cpu(place)?;
        self.counts.events += 1;
        Ok(self.reorder.push(Event { time_ns, cpu, pid, kind })?)
    }

    /// Returns the place of a record that is no sample.
    fn place(&self, body: &[u8]) -> Result<Place, Wrong> {
        match self.shared {
            Some(layout) => layout.trailer(body),
            None => self.attributes.of_other(body),
        }
        .ok_or(DAMAGED)
    }

    /// Returns the CPU of a place; without one, that of the identifier.
    fn cpu(&self, place: Place) -> Result<u16, Wrong> {
        let Some(cpu) = place.cpu else { return Ok(self.losses.cpu_of(place.id)) };
        u16::try_from(cpu).map_err(|_| Wrong::Damaged("the CPU of the record"))
    }

    /// Adds a loss. Without a time it gets that of the newest event.
    fn lost(&mut self, time_ns: Option<u64>, cpu: u16, count: u64) -> Result<(), Wrong> {
        self.counts.lost = self.counts.lost.saturating_add(count);
        let time_ns = time_ns.unwrap_or_else(|| self.reorder.newest_ns());
        Ok(self.reorder.push(Event { time_ns, cpu, pid: 0, kind: EventKind::Lost { count } })?)
    }

    /// Passes on what no later record can precede.
    fn round(&mut self, take: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        let before_ns = std::mem::replace(&mut self.round_ns, self.reorder.newest_ns());
        self.reorder.pass_before(before_ns, take)
    }

    /// Passes on the rest, with the losses that were reported at the end alone.
    fn end(&mut self, take: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        let time_ns = self.reorder.newest_ns();
        self.reorder.rest(take)?;
        for (cpu, count) in self.losses.untraced() {
            self.counts.lost = self.counts.lost.saturating_add(count);
            take(Event { time_ns, cpu, pid: 0, kind: EventKind::Lost { count } })?;
        }
        Ok(())
    }
}
