//! A log of any length: of each kind of report the newest, and how many there were.

use std::io::{self, Read};

use memchr::memmem;

use super::collector::Collector;
use super::joiner::Joiner;
use super::kind::Kind;
use super::release::Release;
use super::splat::Splat;
use crate::text::{Line, Lines, ReadStats, Wrapping};

/// The reports of one kind; failures of allocations are of one kind if their orders are the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) count: u64,
    /// When the first and the last were printed, in the log's own form.
    pub(crate) first_time: Option<String>,
    pub(crate) last_time: Option<String>,
    /// The newest one, of those with zones if any has them.
    pub(crate) newest: Splat,
}

impl Seen {
    /// Returns true if a report is of this kind.
    fn has_kind_of(&self, splat: &Splat) -> bool {
        let order = |splat: &Splat| (splat.kind == Kind::PageAllocation).then_some(splat.request.order);
        self.kind == splat.kind && order(&self.newest) == order(splat)
    }

    /// Returns the kind in words.
    pub(crate) fn name(&self) -> String {
        match self.newest.request.order {
            Some(order) if self.kind == Kind::PageAllocation => {
                format!("{}, order {order}", self.kind.name())
            }
            _ => self.kind.name().to_owned(),
        }
    }
}

/// What was found in a log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Log {
    /// By the time of the newest, oldest first.
    pub(crate) seen: Vec<Seen>,
    pub(crate) stats: ReadStats,
    /// The command that unpacks the file, if it is packed.
    pub(crate) packed: Option<&'static str>,
    /// What of another operating system's was seen.
    pub(crate) foreign_system: Option<&'static str>,
}

/// Words that logs of other systems have, and the systems.
const FOREIGN: [(&str, &str); 6] = [
    ("FreeBSD", "FreeBSD"),
    ("OpenBSD", "OpenBSD"),
    ("NetBSD", "NetBSD"),
    ("memorystatus", "Darwin"),
    ("Resource-Exhaustion-Detector", "Windows"),
    ("SunOS", "Solaris"),
];

/// The first bytes of packed files, and the commands that unpack them.
const PACKED: [(&[u8], &str); 4] = [
    (b"\x1f\x8b", "zcat FILE"),
    (b"BZh", "bzcat FILE"),
    (b"PK\x03\x04", "unzip -p FILE"),
    (b"LPKSHHRH", "journalctl -k --file FILE"),
];

impl Log {
    /// Reads a log to its end. Memory does not grow with its length.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn read(input: impl Read) -> io::Result<Self> {
        let mut log = Self::default();
        let mut lines = Lines::new(input);
        let start = lines.peek()?;
        log.foreign_system = foreign(start);
        log.packed = PACKED.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, command)| command);
        let (mut wrapping, mut joiner, mut collector) =
            (Wrapping::default(), Joiner::default(), Collector::default());
        // Further lines of one message have the time and the caller of the first.
        let mut head: (Option<String>, Option<String>) = (None, None);
        loop {
            if collector.is_idle() && joiner.is_idle() && wrapping.is_idle() {
                lines.skip()?;
            }
            let Some(raw) = lines.next()? else { break };
            wrapping.unwrap(raw, |text, is_first| {
                let mut line = Line::read(text);
                if is_first {
                    copy_into(&mut head.0, line.time);
                    copy_into(&mut head.1, line.caller);
                } else {
                    (line.time, line.caller) = (head.0.as_deref(), head.1.as_deref());
                }
                joiner.take(&line, |line| collector.take(line, &mut |splat| log.seen_one(splat)));
            });
        }
        joiner.finish(|line| collector.take(line, &mut |splat| log.seen_one(splat)));
        collector.finish(&mut |splat| log.seen_one(splat));
        if let Some(release) = collector.only_release() {
            log.name_release(release);
        }
        log.stats = lines.stats();
        Ok(log)
    }

    /// Returns true if no report was found.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Names the kernel of reports that come before the first line that names it.
    fn name_release(&mut self, release: &Release) {
        for seen in &mut self.seen {
            seen.newest.release.get_or_insert_with(|| release.clone());
        }
    }

    fn seen_one(&mut self, splat: Splat) {
        // A listing that holds nothing is the trace of damage.
        if splat.kind == Kind::MemInfo && splat.zones.is_empty() {
            return;
        }
        let Some(at) = self.seen.iter().position(|seen| seen.has_kind_of(&splat)) else {
            let time = splat.time.clone();
            self.seen.push(Seen {
                kind: splat.kind,
                count: 1,
                first_time: time.clone(),
                last_time: time,
                newest: splat,
            });
            return;
        };
        let mut seen = self.seen.remove(at);
        seen.count += 1;
        seen.last_time.clone_from(&splat.time);
        if !splat.zones.is_empty() || seen.newest.zones.is_empty() {
            seen.newest = splat;
        }
        self.seen.push(seen);
    }
}

fn foreign(text: &[u8]) -> Option<&'static str> {
    FOREIGN.iter().find(|(word, _)| memmem::find(text, word.as_bytes()).is_some()).map(|&(_, system)| system)
}

fn copy_into(kept: &mut Option<String>, text: Option<&str>) {
    match (kept, text) {
        (Some(kept), Some(text)) => {
            kept.clear();
            kept.push_str(text);
        }
        (kept, text) => *kept = text.map(str::to_owned),
    }
}
