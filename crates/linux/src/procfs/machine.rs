//! What stays the same while a machine is up: kernel, CPUs, memory.

use std::path::Path;

use serde::Serialize;

use super::meminfo::{MEMINFO, parse_meminfo};
use super::page_size::page_bytes;
use super::processors::{ONLINE, read_online};
use super::read::{optional, rows};
use crate::error::{Error, ParseError};

/// The properties of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Machine {
    /// `uname -r`.
    pub kernel_release: String,
    /// CPUs that are online.
    pub cpus: u32,
    /// Bytes of a page; 4096 if unknown.
    pub page_bytes: u64,
    /// `MemTotal` in bytes.
    pub memory_bytes: u64,
    /// True if there is [`STAT_REFRESH`].
    #[serde(skip)]
    pub drains_lists: bool,
    /// True if CPUs' lists can be bounded, see [`bounds_lists`].
    #[serde(skip)]
    pub bounds_lists: bool,
}

/// The bytes of a page where they are unknown: those of most machines.
const USUAL_PAGE_BYTES: u64 = 4096;

/// The file that has every CPU return free pages from its lists when it is read, since Linux 6.7.
pub const STAT_REFRESH: &str = "proc/sys/vm/stat_refresh";

/// The file that bounds the free pages on CPUs' lists, by a fraction's denominator, since Linux 5.14.
pub const LISTS_BOUND: &str = "proc/sys/vm/percpu_pagelist_high_fraction";

/// The file with the kernel's release.
const RELEASE: &str = "proc/sys/kernel/osrelease";

impl Machine {
    /// Returns a sentence for each unknown property, with the file below `root` that is missing.
    pub(crate) fn missing(&self, root: &Path) -> Vec<String> {
        let parts = [
            (self.kernel_release.is_empty(), "the kernel's release", RELEASE),
            (self.cpus == 0, "the number of CPUs", ONLINE),
            (self.memory_bytes == 0, "the size of memory", MEMINFO),
        ];
        let missing = parts.iter().filter(|(missing, ..)| *missing);
        let note = |(_, what, file): &(bool, &str, &str)| {
            format!("{what} is not known: {} is missing or closed", root.join(file).display())
        };
        missing.map(note).collect()
    }
}

/// Reads a machine's properties below `root`. A property that cannot be read stays empty.
///
/// # Errors
/// A file that does not parse.
pub fn read_machine(root: &Path) -> Result<Machine, Error> {
    Ok(Machine {
        kernel_release: optional(root, RELEASE, release)?,
        cpus: read_online(root)?,
        page_bytes: page_bytes(root).unwrap_or(USUAL_PAGE_BYTES),
        memory_bytes: optional(root, MEMINFO, |text| parse_meminfo(text, "MemTotal"))?,
        drains_lists: root.join(STAT_REFRESH).exists(),
        bounds_lists: bounds_lists(root),
    })
}

/// Returns true if CPUs' lists can be bounded and return what they hold beyond: there is [`LISTS_BOUND`], and the kernel is Linux
/// 6.7 or later.
///
/// Linux counterpart: `decay_pcp_high`.
pub fn bounds_lists(root: &Path) -> bool {
    let release = optional(root, RELEASE, release).unwrap_or_default();
    root.join(LISTS_BOUND).exists() && release_numbers(&release).is_some_and(|numbers| numbers >= (6, 7))
}

/// Returns the first two numbers of a kernel's release, such as `6.18.44-arm64`.
pub fn release_numbers(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
        _ => None,
    }
}

fn release(text: &str) -> Result<String, ParseError> {
    let release = rows(text)?.next().map_or("", |(_, row)| row.trim());
    if release.is_empty() {
        Err(ParseError::new(1, "a kernel's release", "none"))
    } else {
        Ok(release.to_owned())
    }
}
