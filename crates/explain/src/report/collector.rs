//! Lines come in one by one; whole reports go out.

use super::header;
use super::kind::Kind;
use super::release::Release;
use super::splat::{Splat, Taken};
use super::zone::ZoneText;
use crate::text::Line;

/// The most reports whose lines are collected at once: as many CPUs may print at once.
const MAX_OPEN: usize = 8;
/// The most foreign lines inside of a report: an OOM kill lists all tasks between its parts.
const MAX_FOREIGN_LINES: u64 = 4000;
/// The most foreign lines between two lines of reports that two CPUs print at once.
const MAX_MIXED_LINES: u64 = 200;

/// A report that is being collected.
struct Open {
    /// The task or CPU that prints it, where lines say so.
    caller: Option<String>,
    splat: Splat,
    /// The number of its last line.
    last: u64,
}

/// Collects reports from lines.
#[derive(Default)]
pub(crate) struct Collector {
    /// In the order of their starts.
    open: Vec<Open>,
    release: Option<Release>,
    line: u64,
}

impl Collector {
    /// Returns true if no report is open, so that only lines with words of reports count.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes a line. Passes each report that it ends to `done`.
    pub(crate) fn take(&mut self, line: &Line<'_>, done: &mut impl FnMut(Splat)) {
        self.line += 1;
        self.end_old(done);
        if let Some(splat) = header::start(line, self.release.as_ref()) {
            self.start(splat, line.caller, done);
            return;
        }
        if self.feed(line) {
            return;
        }
        if let Some(release) = Release::find(line.text) {
            self.release = Some(release);
        } else if let Some(mut splat) = headless(line, self.release.as_ref())
            && splat.take(line.text) == Taken::Yes
        {
            self.start(splat, line.caller, done);
        }
    }

    /// Ends all reports.
    pub(crate) fn finish(&mut self, done: &mut impl FnMut(Splat)) {
        self.open.drain(..).for_each(|open| done(open.splat));
    }

    fn start(&mut self, splat: Splat, caller: Option<&str>, done: &mut impl FnMut(Splat)) {
        let same = |open: &Open| open.caller.as_deref() == caller;
        // One that may still get lines stays open: two CPUs may print at once.
        let line = self.line;
        let has_zones = splat.kind.has_zones();
        let is_over = |open: &Open| {
            let is_whole = caller.is_some() || open.splat.has_blocks() || line - open.last > MAX_MIXED_LINES;
            // A slab cache's refusal may stand inside of another CPU's report.
            same(open) && (!open.splat.kind.has_zones() || has_zones && is_whole)
        };
        self.end_if(is_over, done);
        if self.open.len() >= MAX_OPEN {
            done(self.open.remove(0).splat);
        }
        self.open.push(Open { caller: caller.map(str::to_owned), splat, last: line });
    }

    /// Gives a line to the newest report of its caller that has none like it. Returns true if one took it.
    fn feed(&mut self, line: &Line<'_>) -> bool {
        let mut lacks_it_only_older = false;
        for number in (0..self.open.len()).rev() {
            let open = &mut self.open[number];
            if open.caller.as_deref() != line.caller {
                continue;
            }
            match open.splat.take(line.text) {
                Taken::No => {}
                Taken::Yes => {
                    open.last = self.line;
                    open.splat.is_interleaved |= lacks_it_only_older;
                    if lacks_it_only_older {
                        self.open.iter_mut().for_each(|open| {
                            open.splat.is_interleaved |= open.caller.as_deref() == line.caller;
                        });
                    }
                    return true;
                }
                Taken::Twice => lacks_it_only_older = true,
            }
        }
        if lacks_it_only_older && headless(line, None).is_none() {
            self.open
                .iter_mut()
                .for_each(|open| open.splat.is_interleaved |= open.caller.as_deref() == line.caller);
        }
        false
    }

    fn end_old(&mut self, done: &mut impl FnMut(Splat)) {
        let line = self.line;
        self.end_if(|open| line - open.last > MAX_FOREIGN_LINES, done);
    }

    fn end_if(&mut self, is_over: impl Fn(&Open) -> bool, done: &mut impl FnMut(Splat)) {
        let mut number = 0;
        while number < self.open.len() {
            if is_over(&self.open[number]) { done(self.open.remove(number).splat) } else { number += 1 }
        }
    }
}

/// Returns a report for a line that stands inside of one whose start is missing.
fn headless(line: &Line<'_>, release: Option<&Release>) -> Option<Splat> {
    let text = line.text;
    let kind = if text.contains("oom-kill:constraint=") || text.contains("ut of memory: Kill") {
        Kind::Oom
    } else if text.starts_with("Memory allocations") {
        Kind::TopAllocators
    } else if text.eq_ignore_ascii_case("Mem-Info:") || ZoneText::find(text).is_some() {
        Kind::MemInfo
    } else {
        return None;
    };
    let mut splat = Splat::new(kind, line.time, release.cloned());
    if kind == Kind::TopAllocators {
        splat.has_meminfo = true;
    }
    Some(splat)
}
