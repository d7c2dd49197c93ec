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
/// The most zones that get a line of their own.
const MAX_ZONES: usize = 7;
/// The most kinds that are explained beside the newest report.
const MAX_OTHERS: usize = 5;
/// The most doubts that an answer names.
const MAX_DOUBTS: usize = 3;

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
    /// If there are several kinds of reports, their table comes first, and the newest of other kinds last.
    pub fn text(&self) -> String {
        let mut lines = kinds::table(self.seen);
        lines.append(&mut self.lines());
        let others = self
            .seen
            .iter()
            .rev()
            .filter(|other| other.newest != *self.splat && other.kind != Kind::TopAllocators);
        for Seen { newest: splat, .. } in others.clone().take(MAX_OTHERS) {
            lines.push(String::new());
            lines.append(&mut Self::of(self.seen, splat).lines());
        }
        let left = others.count().saturating_sub(MAX_OTHERS);
        if left > 0 {
            lines.push(format!("\n{left} more in the table above; paste one alone to have it explained."));
        }
        lines.join("\n") + "\n"
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = wrap::wrapped("", &headline::headline(self.splat, &self.why));
        lines.truncate(4);
        lines.append(&mut wrap::wrapped("Request: ", &self.request_line()));
        let mut advice = self.advice_lines();
        let doubts = self.why.doubts.iter().map(|doubt| wrap::cut(format!("Doubt: {doubt}")));
        advice.extend(doubts.take(MAX_DOUBTS));
        // Zones take the lines that are left: the most important are among the first.
        let room = MAX_LINES.saturating_sub(lines.len() + advice.len());
        let zones =
            |most| zones::zone_lines(&self.why, most).iter().flat_map(|zone| wrap::indented(zone)).collect();
        let fitting = (1..=MAX_ZONES).rev().map(zones).find(|lines: &Vec<String>| lines.len() <= room);
        lines.extend(fitting.unwrap_or_default());
        lines.append(&mut advice);
        lines.truncate(MAX_LINES);
        lines
    }

    /// Returns the lines behind those of the zones.
    fn advice_lines(&self) -> Vec<String> {
        let (splat, why) = (self.splat, &self.why);
        let mut lines = Vec::new();
        for top in splat.top.iter().take(if splat.kind == Kind::TopAllocators { 8 } else { 3 }) {
            let line = format!("  top allocator: {} in {} pieces, {}", top.size, top.pieces, top.code);
            lines.push(wrap::cut(line));
        }
        let missing = advice::not_shown(splat, why);
        let labelled = [
            ("Reclaimable: ", advice::reclaimable(splat, why)),
            ("Memory: ", memory_use::memory_use(splat, why)),
            ("Tasks: ", memory_use::tasks(splat, why)),
            ("Action: ", Some(advice::action(splat, why))),
            ("Certainty: ", Some(advice::certainty(splat, why, &self.check))),
            ("Not in the text: ", (!missing.is_empty()).then(|| missing.join(", "))),
        ];
        for (label, text) in labelled {
            lines.extend(text.into_iter().flat_map(|text| wrap::wrapped(label, &text)));
        }
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
            let zones = if self.why.flags.is_some() {
                format!("{wait}, zones up to {}", self.why.highest.name())
            } else {
                ", flags not decoded".to_owned()
            };
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
