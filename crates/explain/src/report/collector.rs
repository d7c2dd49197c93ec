//! Lines come in one by one; whole reports go out.

use super::header;
use super::kind::Kind;
use super::release::Release;
use super::splat::{Damage, Origin, Splat, Taken};
use super::zone::ZoneText;
use crate::text::Line;

/// The most reports whose lines are collected at once: as many CPUs may print at once.
const MAX_OPEN: usize = 8;
/// The most foreign lines inside of a report: an OOM kill lists all tasks between its parts.
const MAX_FOREIGN_LINES: u64 = 4000;
/// The most lines between the request for a listing and its start.
const MAX_SYSRQ_LINES: u64 = 3;
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
    /// The newest release that a line named.
    release: Option<Release>,
    /// True if the log is of several kernels.
    has_releases: bool,
    /// The number of the last line that says that the administrator requested a listing.
    sysrq: Option<u64>,
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
        let release = Release::find(line.text);
        let is_release = release.is_some();
        if is_release && line.text.contains("Linux version") {
            // The first line of a boot.
            self.finish(done);
        }
        self.has_releases |= is_release && self.release.is_some() && self.release != release;
        self.release = release.or(self.release.take());
        if self.feed(line) || is_release {
            return;
        }
        if line.text.contains("Show Memory") && line.text.to_ascii_lowercase().starts_with("sysrq") {
            self.sysrq = Some(self.line);
        } else if let Some(mut splat) = headless(line, self.release.as_ref())
            && splat.take(line.text) == Taken::Yes
        {
            let is_near = |sysrq| self.line - sysrq <= MAX_SYSRQ_LINES;
            let is_oom = |open: &Open| open.splat.kind.is_oom() && open.caller.as_deref() == line.caller;
            splat.origin = if self.sysrq.is_some_and(is_near) {
                Origin::SysRq
            } else if self.open.iter().any(is_oom) {
                Origin::BesideOom
            } else {
                Origin::Unknown
            };
            self.start(splat, line.caller, done);
        }
    }

    /// Returns the release of the log, if it names one alone.
    pub(crate) fn only_release(&self) -> Option<&Release> {
        self.release.as_ref().filter(|_| !self.has_releases)
    }

    /// Ends all reports.
    pub(crate) fn finish(&mut self, done: &mut impl FnMut(Splat)) {
        while !self.open.is_empty() {
            self.end(0, done);
        }
    }

    /// Ends a report. One that names no release is of the kernel that the log named last: two CPUs may print at once.
    fn end(&mut self, number: usize, done: &mut impl FnMut(Splat)) {
        let mut splat = self.open.remove(number).splat;
        splat.release = splat.release.or_else(|| self.release.clone());
        done(splat);
    }

    fn start(&mut self, mut splat: Splat, caller: Option<&str>, done: &mut impl FnMut(Splat)) {
        let same = |open: &Open| open.caller.as_deref() == caller;
        // One that may still get lines stays open: two CPUs may print at once.
        let line = self.line;
        let has_zones = splat.kind.has_zones();
        let is_oom = splat.kind.is_oom();
        let is_over = |open: &Open| {
            // Its kill is yet to come, however many requests fail before; two kills are never at once.
            if open.splat.kind.is_oom() && open.splat.killed.is_none() && !is_oom {
                return false;
            }
            let is_whole = caller.is_some() || open.splat.has_blocks() || line - open.last > MAX_MIXED_LINES;
            // A slab cache's refusal may stand inside of another CPU's report.
            same(open) && (!open.splat.kind.has_zones() || has_zones && is_whole)
        };
        // The search for addresses fails in a line of its own, before that of the request.
        splat.vmalloc.has_range |= splat.kind == Kind::Vmalloc
            && self.open.iter().any(|open| same(open) && open.splat.vmalloc.has_range);
        self.end_if(is_over, done);
        if self.open.len() >= MAX_OPEN {
            let waits_for_kill = |open: &Open| open.splat.kind.is_oom() && open.splat.killed.is_none();
            self.end(self.open.iter().position(|open| !waits_for_kill(open)).unwrap_or(0), done);
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
                    if lacks_it_only_older {
                        self.damage(line.caller);
                    }
                    return true;
                }
                Taken::Twice => lacks_it_only_older = true,
            }
        }
        if lacks_it_only_older && headless(line, None).is_none() {
            self.damage(line.caller);
        }
        false
    }

    /// Marks the open reports of a caller: a line did not belong to the newest of them.
    fn damage(&mut self, caller: Option<&str>) {
        let of_caller = |open: &&mut Open| open.caller.as_deref() == caller;
        let is_alone = self.open.iter_mut().filter(of_caller).count() == 1;
        let damage = if is_alone { Damage::Torn } else { Damage::Interleaved };
        self.open
            .iter_mut()
            .filter(of_caller)
            .for_each(|open| open.splat.damage = open.splat.damage.max(damage));
    }

    fn end_old(&mut self, done: &mut impl FnMut(Splat)) {
        let line = self.line;
        self.end_if(|open| line - open.last > MAX_FOREIGN_LINES, done);
    }

    fn end_if(&mut self, is_over: impl Fn(&Open) -> bool, done: &mut impl FnMut(Splat)) {
        let mut number = 0;
        while number < self.open.len() {
            if is_over(&self.open[number]) { self.end(number, done) } else { number += 1 }
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
