//! The kernel's own texts of free blocks, from the sensor alone.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use freehold_linux::Error;
use freehold_linux::procfs::header_note;
use freehold_linux::sensor::{Choice, FreeBlocks, Ration, Sensor, Source};
use freehold_monitor::text::{Cap, Missing, Part, buddyinfo, pagetypeinfo};

use crate::exit::{Cause, Failure};
use crate::output;

/// Which text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KernelText {
    /// `/proc/pagetypeinfo`.
    Pagetypeinfo,
    /// `/proc/buddyinfo`.
    Buddyinfo,
}

/// Reads a text again and again.
pub(super) struct TextReader {
    root: PathBuf,
    sensor: Sensor,
    text: KernelText,
    cap: Cap,
    /// True once a note named the missing number of pageblocks.
    has_noted: bool,
}

impl TextReader {
    /// Opens the sensor of the machine below `root`.
    ///
    /// # Errors
    /// Those of [`Sensor::open`].
    pub(super) fn open(root: &Path, choice: Choice, text: KernelText, cap: Cap) -> Result<Self, Error> {
        let sensor = Sensor::open(root, choice, Ration::ByCost)?;
        Ok(Self { root: root.to_owned(), sensor, text, cap, has_noted: false })
    }

    /// Returns the text of this moment. The first that lacks pageblocks by type is noted.
    pub(super) fn read(&mut self) -> Result<String, Failure> {
        if self.text == KernelText::Buddyinfo {
            return Ok(buddyinfo(&self.sensor.read()?));
        }
        let free = self.sensor.read_with_pageblocks()?;
        match pagetypeinfo(&free, self.cap, Part::Whole) {
            Err(Missing::Pageblocks) => {}
            other => return other.map_err(|_| self.without_types(&free)),
        }
        if !std::mem::replace(&mut self.has_noted, true) {
            output::note(match free.source {
                Source::Bpf => {
                    "freehold: the number of pageblocks by type is left out: this kernel does not show where it \
                     keeps their types; `--sensor procfs` reads it with the zone lock held"
                }
                _ => "freehold: the number of pageblocks by type is left out, as the file lacks it",
            });
        }
        pagetypeinfo(&free, self.cap, Part::FreeBlocks).map_err(|_| self.without_types(&free))
    }

    /// Returns what cannot be read, and what it is read from instead.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = self.sensor.notes();
        if self.text == KernelText::Pagetypeinfo {
            notes.extend(header_note(&self.root));
        }
        notes
    }

    fn without_types(&self, free: &FreeBlocks) -> Failure {
        if let Some(damage) = self.sensor.damage() {
            return Failure::new(Cause::Data, anyhow!("free blocks by migratetype cannot be read: {damage}"));
        }
        let from = free.source.name();
        let remedy = match free.source {
            Source::Bpf => "use `--format buddyinfo`",
            Source::Pagetypeinfo | Source::Buddyinfo => "run as root, or use `--format buddyinfo`",
        };
        Failure::new(
            Cause::Machine,
            anyhow!("free blocks by migratetype cannot be read from {from}; {remedy}"),
        )
    }
}
