//! A judged report comes in; text of at most 20 lines, or JSON, goes out.
//!
//! `headline` has the first two lines, `zones` a line a zone, `advice` the rest, `json` the same for programs.

mod advice;
mod headline;
mod json;
mod kinds;
mod memory_use;
mod numbers;
mod other_kinds;
mod size;
mod wrap;
mod zones;

use serde_json::Value;

use crate::reason::{Class, Judged, Sure};
use crate::replay::Check;
use crate::report::{Kind, Log, Seen, Splat};

/// The most lines of an answer about one report, and their columns.
const MAX_LINES: usize = 20;

/// The answer to the newest report of a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer<'l> {
    seen: &'l [Seen],
    splat: &'l Splat,
    why: Judged,
    check: Check,
}

impl<'l> Answer<'l> {
    /// Explains the newest report. Returns `None` if the log has none.
    pub fn new(log: &'l Log) -> Option<Self> {
        // These stand behind the report that they belong to.
        let follows = [Kind::TopAllocators, Kind::Slab, Kind::MemInfo];
        let newest = |&&Seen { kind, .. }: &&Seen| !follows.contains(&kind);
        let seen = log.seen.iter().rev().find(newest).or(log.seen.last())?;
        Some(Self::of(&log.seen, &seen.newest))
    }

    fn of(seen: &'l [Seen], splat: &'l Splat) -> Self {
        let mut why = Judged::of(splat);
        let check = Check::of(splat, &why);
        if matches!(check, Check::Disagrees { .. }) {
            why.verdict = why.verdict.at_most_likely();
        }
        Self { seen, splat, why, check }
    }

    /// Returns the kind of the report.
    pub fn kind(&self) -> Kind {
        self.splat.kind
    }

    /// Returns why the request failed, or `None` if the text does not decide.
    pub fn class(&self) -> Option<Class> {
        self.why.verdict.class
    }

    /// Returns how sure the class is.
    pub fn sure(&self) -> Sure {
        self.why.verdict.sure
    }

    /// Returns the answer as text: lines of at most 100 columns, at most 20 for a report.
    ///
    /// If there are several kinds of reports, their table comes first, and the newest of every other kind last.
    pub fn text(&self) -> String {
        let mut lines = kinds::table(self.seen);
        lines.append(&mut self.lines());
        let others = self
            .seen
            .iter()
            .rev()
            .filter(|other| other.kind != self.splat.kind && other.kind != Kind::TopAllocators);
        for Seen { newest: splat, .. } in others {
            lines.push(String::new());
            lines.append(&mut Self::of(self.seen, splat).lines());
        }
        lines.join("\n") + "\n"
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut first = wrap::wrapped("", &headline::headline(self.splat, &self.why));
        first.truncate(4);
        lines.append(&mut first);
        let push = |lines: &mut Vec<String>, label: &str, text: String| {
            lines.append(&mut wrap::wrapped(label, &text));
        };
        push(&mut lines, "Request: ", self.request_line());
        for zone in zones::zone_lines(&self.why) {
            lines.append(&mut wrap::indented(&zone));
        }
        for top in self.splat.top.iter().take(if self.splat.kind == Kind::TopAllocators { 8 } else { 3 }) {
            let line = format!("  top allocator: {} in {} pieces, {}", top.size, top.pieces, top.code);
            lines.push(wrap::cut(line));
        }
        if let Some(text) = advice::reclaimable(self.splat, &self.why) {
            push(&mut lines, "Reclaimable: ", text);
        }
        if let Some(text) = memory_use::memory_use(self.splat, &self.why) {
            push(&mut lines, "Memory: ", text);
        }
        push(&mut lines, "Action: ", advice::action(self.splat, &self.why));
        push(&mut lines, "Certainty: ", advice::certainty(self.splat, &self.why, &self.check));
        let missing = advice::not_shown(self.splat, &self.why);
        if !missing.is_empty() {
            push(&mut lines, "Not in the text: ", missing.join(", "));
        }
        for doubt in &self.why.doubts {
            lines.push(wrap::cut(format!("Doubt: {doubt}")));
        }
        lines.truncate(MAX_LINES);
        lines
    }

    /// Returns the answer as JSON.
    pub fn json(&self) -> Value {
        json::json(self.seen, self.splat, &self.why, &self.check)
    }

    fn request_line(&self) -> String {
        let splat = self.splat;
        let mut parts = vec![splat.kind.name().to_owned()];
        if let (Some(order), Some(kib)) = (self.why.order, self.why.request_kib()) {
            parts.push(format!("order {order} ({kib} kB)"));
        }
        if let Some(gfp) = &splat.request.gfp {
            let names = gfp.names.as_deref().filter(|names| !names.is_empty());
            let names = names.map_or_else(|| format!("mode {:#x}", gfp.number), str::to_owned);
            let wait = if self.why.may_wait() { "" } else { ", cannot wait" };
            let zones = format!("{wait}, zones up to {}", self.why.highest.name());
            parts.push(if gfp.number == 0 { names } else { names + &zones });
        }
        parts.extend(splat.stalled_ms.map(|ms| format!("waited {ms} ms")));
        let cache = splat.cache.as_deref().map(|cache| format!("cache {cache}"));
        let task = splat.request.task.as_deref().map(|task| format!("by {task}"));
        let code = splat.caller.as_deref().map(|caller| format!("called from {caller}"));
        let killed = splat.killed.as_deref().map(|task| format!("killed {task}"));
        let release = splat.release.as_ref().map(|release| format!("Linux {release}"));
        let time = splat.time.as_deref().map(|time| format!("at {time}"));
        parts.extend([cache, task, code, killed, release, time].into_iter().flatten());
        if self.why.page_kib != 4 {
            parts.push(format!("pages of {} KiB", self.why.page_kib));
        }
        parts.join("; ")
    }
}
