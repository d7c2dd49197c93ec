//! Which pages are pinned, by BPF, for several threads that read pageblocks.

use std::sync::{Mutex, PoisonError};

use freehold_linux::pageblocks::PinnedFrames;
use freehold_linux::sensor::{BpfError, BpfSensor};

/// Reads pins for several threads, one after the other.
pub(super) struct Pins<'a>(Mutex<(Option<&'a mut BpfSensor>, Option<BpfError>)>);

impl<'a> Pins<'a> {
    pub(super) fn new(sensor: Option<&'a mut BpfSensor>) -> Self {
        Self(Mutex::new((sensor, None)))
    }

    /// Returns which of `count` frames from `from` on are pinned; none without a sensor, and once it has failed.
    pub(super) fn read(&self, from: u64, count: u64) -> PinnedFrames {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (sensor, failed) = &mut *guard;
        let Some(reader) = sensor else { return PinnedFrames::default() };
        reader.pinned_frames(from, count).unwrap_or_else(|error| {
            (*sensor, *failed) = (None, Some(error));
            PinnedFrames::default()
        })
    }

    /// Returns why pins could not be read.
    pub(super) fn failed(self) -> Option<BpfError> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}
