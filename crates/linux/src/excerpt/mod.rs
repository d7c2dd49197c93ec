//! A machine's files inside one file: a bug report, an archive of a support tool, or a text that a person pasted.
//!
//! `text.rs` finds the parts of a text by their headings and by their form, `archive.rs` those of a tar archive by their paths.

mod archive;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::error::Error;
use crate::ftrace_text::{open_packed, unpack};
use crate::procfs::refuse_special;

/// The files that are looked for, by their paths below the root of a machine.
const FILES: [&str; 12] = [
    "proc/buddyinfo",
    "proc/pagetypeinfo",
    "proc/zoneinfo",
    "proc/meminfo",
    "proc/vmstat",
    "proc/slabinfo",
    "proc/vmallocinfo",
    "proc/pressure/memory",
    "proc/self/smaps",
    "proc/sys/kernel/osrelease",
    "sys/devices/system/cpu/online",
    "sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
];

/// The files that a single text may be.
const FREE_MEMORY: [&str; 3] = ["proc/buddyinfo", "proc/pagetypeinfo", "proc/zoneinfo"];

/// The most bytes that are read of a file, unpacked.
const MAX_BYTES: u64 = 2 << 30;

/// The most bytes of a part.
const MAX_PART_BYTES: usize = 64 << 20;

/// The bytes at the start of a file that tell of what kind it is.
const START_BYTES: u64 = 512;

/// The machine's files that one file contains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Excerpt {
    parts: BTreeMap<&'static str, String>,
}

impl Excerpt {
    /// Reads the parts of a text or of a tar archive, either of them also compressed by xz or zstd.
    ///
    /// # Errors
    /// If the file cannot be read or unpacked.
    pub fn read(path: &Path) -> Result<Self, Error> {
        refuse_special(path)?;
        let file = unpack(path, open_packed(path)?)?;
        let failed = |error| Error::io("read", path, error);
        let mut start = Vec::new();
        let mut file = file.take(MAX_BYTES);
        file.by_ref().take(START_BYTES).read_to_end(&mut start).map_err(failed)?;
        let is_archive = archive::is_header(&start);
        let mut whole = io::BufReader::new(io::Cursor::new(start).chain(file));
        let parts = if is_archive { archive::parts(&mut whole) } else { text::parts(&mut whole) };
        Ok(Self { parts: parts.map_err(failed)? })
    }

    /// Returns the paths of the parts.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.keys().copied()
    }

    /// Returns true if the file says anything about free memory.
    pub fn has_free_memory(&self) -> bool {
        self.names().any(|name| FREE_MEMORY.contains(&name))
    }

    /// Writes the parts below a folder, as the files of a machine.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_below(&self, root: &Path) -> io::Result<()> {
        for (name, text) in &self.parts {
            let path = root.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }
}

/// Reads a line without its end; `None` at the end of the file. Longer lines than a part's limit are cut.
fn next_line(file: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = file.take(MAX_PART_BYTES as u64).read_until(b'\n', &mut line)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}
