//! A log of any length: of each kind of report the newest, and how many there were.

use std::io::{self, BufRead};

use super::collector::Collector;
use super::kind::Kind;
use super::splat::Splat;
use crate::text::{Line, Lines, ReadStats};

/// The reports of one kind.
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

/// What was found in a log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Log {
    /// By the time of the newest, oldest first.
    pub(crate) seen: Vec<Seen>,
    pub(crate) stats: ReadStats,
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

/// How many of the first lines are searched for words of other systems.
const FOREIGN_LINES: u64 = 10_000;

impl Log {
    /// Reads a log to its end. Memory does not grow with its length.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn read(input: impl BufRead) -> io::Result<Self> {
        let mut log = Self::default();
        let mut lines = Lines::new(input);
        let mut collector = Collector::default();
        // Further lines of one message have the time and the caller of the first.
        let mut head: (Option<String>, Option<String>) = (None, None);
        loop {
            let early = lines.stats().lines < FOREIGN_LINES;
            let more = lines.next(|text, is_first| {
                let mut line = Line::read(text);
                if is_first {
                    copy_into(&mut head.0, line.time);
                    copy_into(&mut head.1, line.caller);
                } else {
                    (line.time, line.caller) = (head.0.as_deref(), head.1.as_deref());
                }
                if early && log.foreign_system.is_none() {
                    log.foreign_system = foreign(text);
                }
                collector.take(&line, &mut |splat| log.seen_one(splat));
            })?;
            if !more {
                break;
            }
        }
        collector.finish(&mut |splat| log.seen_one(splat));
        log.stats = lines.stats();
        Ok(log)
    }

    /// Returns true if no report was found.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    fn seen_one(&mut self, splat: Splat) {
        // A listing that holds nothing is the trace of damage.
        if splat.kind == Kind::MemInfo && splat.zones.is_empty() {
            return;
        }
        let Some(at) = self.seen.iter().position(|seen| seen.kind == splat.kind) else {
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

fn foreign(text: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(word, _)| text.contains(word)).map(|&(_, system)| system)
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
