//! The events that perf recorded, by their attributes.

use std::collections::HashMap;

use super::bytes::Bytes;
use super::sample::{Place, SampleLayout};
use crate::error::PerfDataError;

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// The bits of `perf_event_attr`'s flags.
const FREQ: u64 = 1 << 10;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const WRITE_BACKWARD: u64 = 1 << 27;

/// The events without which no trace can be replayed.
pub(super) const NEEDED: [&str; 2] = ["mm_page_alloc", "mm_page_free"];

/// What a `perf_event_attr` says.
#[derive(Clone, Debug)]
struct Attribute {
    kind: u32,
    config: u64,
    period: u64,
    is_frequency: bool,
    /// The newest records take the place of the oldest.
    overwrites: bool,
    layout: SampleLayout,
}

impl Attribute {
    /// Reads a `perf_event_attr`. Its parts behind the flags are of no concern.
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = Bytes(bytes);
        let flags = bytes.u64_at(40)?;
        Some(Self {
            kind: bytes.u32_at(0)?,
            config: bytes.u64_at(8)?,
            period: bytes.u64_at(16)?,
            is_frequency: flags & FREQ != 0,
            overwrites: flags & WRITE_BACKWARD != 0,
            layout: SampleLayout {
                sample_type: bytes.u64_at(24)?,
                read_format: bytes.u64_at(32)?,
                sample_id_all: flags & SAMPLE_ID_ALL != 0,
            },
        })
    }
}

/// The events of a file, and which of them has which identifiers.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    all: Vec<Attribute>,
    /// The event's place in `all`.
    by_id: HashMap<u64, usize>,
}

impl Attributes {
    /// Adds an event by its `perf_event_attr` and its identifiers. Returns `None` if that is too short.
    pub(super) fn add(&mut self, attribute: &[u8], ids: &[u8]) -> Option<()> {
        self.all.push(Attribute::read(attribute)?);
        let place = self.all.len() - 1;
        let (ids, _) = ids.as_chunks::<8>();
        self.by_id.extend(ids.iter().map(|id| (u64::from_ne_bytes(*id), place)));
        Some(())
    }

    /// Checks that perf recorded what a trace needs of the events of `named` (number and name): each once, and all of it.
    pub(super) fn check(&self, named: &[(u64, &str)]) -> Result<(), PerfDataError> {
        let mut recorded = Vec::new();
        for attribute in self.all.iter().filter(|attribute| attribute.kind == TRACEPOINT) {
            let Some((_, event)) = named.iter().find(|(id, _)| *id == attribute.config) else { continue };
            let is_twice = recorded.contains(event);
            recorded.push(*event);
            let event = (*event).to_owned();
            if is_twice {
                return Err(PerfDataError::Twice { event });
            }
            let how = match attribute.period {
                period if attribute.is_frequency => Some(format!("{period} a second")),
                _ if attribute.overwrites => Some("the last ones".to_owned()),
                1 => None,
                0 => Some("where another event was sampled".to_owned()),
                period => Some(format!("one of {period}")),
            };
            if let Some(how) = how {
                return Err(PerfDataError::Sampled { event, how });
            }
            if let Some(part) = attribute.layout.lacks() {
                return Err(PerfDataError::Lacks { event, part });
            }
        }
        match NEEDED.into_iter().find(|event| !recorded.contains(event)) {
            Some(event) => Err(PerfDataError::Missing { event: event.to_owned() }),
            None => Ok(()),
        }
    }

    /// Returns the layout that all events share.
    pub(super) fn shared(&self) -> Option<SampleLayout> {
        let first = self.all.first()?.layout;
        self.all.iter().all(|attribute| attribute.layout == first).then_some(first)
    }

    /// Returns true if every record has its event's identifier where [`Attributes::of_sample`] and
    /// [`Attributes::of_other`] look for it.
    pub(super) fn identify(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|attribute| attribute.layout.identifies())
    }

    /// Returns the layout of a sample.
    pub(super) fn of_sample(&self, body: &[u8]) -> Option<SampleLayout> {
        self.by_identifier(Bytes(body).u64_at(0)?)
    }

    /// Returns the place of a record that is no sample.
    pub(super) fn of_other(&self, body: &[u8]) -> Option<Place> {
        let identifier = Bytes(body).u64_at(body.len().checked_sub(8)?)?;
        // Records of no event have the identifier 0.
        let layout = self.by_identifier(identifier).or_else(|| Some(self.all.first()?.layout))?;
        layout.trailer(body)
    }

    fn by_identifier(&self, identifier: u64) -> Option<SampleLayout> {
        self.by_id.get(&identifier).map(|&place| self.all[place].layout)
    }
}
