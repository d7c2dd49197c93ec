//! A difference as text of one screen.

use std::cmp::{Ordering, Reverse};
use std::fmt;

use super::change::{Change, Difference, TypeChange, ZoneChange};
use crate::verdict::SizeText;

/// The most lines, and the most columns of a line.
const LINES: usize = 24;
const COLUMNS: usize = 100;

/// Smaller changes of an index and of a number of blocks happen on an idle machine.
const SAME_INDEX: f64 = 0.01;
const SAME_SHARE: f64 = 0.01;

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = wrapped(&self.summary());
        let notes: Vec<_> = self.notes.iter().flat_map(|note| wrapped(&format!("Note: {note}."))).collect();
        let mut zones: Vec<_> = self.zones.iter().filter(|zone| !zone.is_same()).collect();
        zones.sort_by_key(|zone| Reverse(zone.weight()));
        let same = self.zones.len() - zones.len();
        let room = LINES.saturating_sub(notes.len() + 1);
        let mut shown = 0;
        for zone in &zones {
            let block = self.zone_lines(zone);
            if lines.len() + block.len() > room {
                break;
            }
            lines.extend(block);
            shown += 1;
        }
        let left = zones.len() - shown;
        if left > 0 {
            lines.push(format!("{left} more {} changed; --json has all", zones_word(left)));
        } else if same > 0 && !zones.is_empty() {
            lines.push(format!("{same} {} unchanged", zones_word(same)));
        }
        lines.extend(notes);
        lines.truncate(LINES);
        f.write_str(&lines.join("\n"))
    }
}

fn zones_word(zones: usize) -> &'static str {
    if zones == 1 { "zone" } else { "zones" }
}

impl Difference {
    fn summary(&self) -> String {
        let size = SizeText(self.block_bytes);
        let Some((before, after)) = self.unusable_index.before.zip(self.unusable_index.after) else {
            return format!(
                "Free pages {}; free blocks are unknown in one snapshot.",
                arrow(&self.free_pages)
            );
        };
        if self.zones.iter().all(ZoneChange::is_same) {
            return "No difference in free memory.".to_owned();
        }
        // The index falls, too, if only small blocks are used up: large blocks must agree with it.
        let blocks = self.blocks.both().map_or(Ordering::Equal, |(before, after)| after.cmp(&before));
        let few_blocks = self
            .blocks
            .both()
            .is_none_or(|(before, after)| before.abs_diff(after) as f64 <= before as f64 * SAME_SHARE);
        let how = match (after - before, blocks) {
            (change, _) if change.abs() <= SAME_INDEX && few_blocks => "About as fragmented as before",
            (change, Ordering::Greater) if change < 0.0 => "Less fragmented",
            (change, Ordering::Less) if change > 0.0 => "More fragmented",
            (change, _) if change <= 0.0 => "Fewer small free blocks",
            _ => "More small free blocks",
        };
        format!(
            "{how}: blocks of {size} (order {}) {}; unusable index {before:.3} -> {after:.3}; free pages {}.",
            self.order,
            arrow(&self.blocks),
            arrow(&self.free_pages)
        )
    }

    fn zone_lines(&self, zone: &ZoneChange) -> Vec<String> {
        let only = match (zone.free_pages.before, zone.free_pages.after) {
            (Some(free), None) => Some(("first", free)),
            (None, Some(free)) => Some(("second", free)),
            _ => None,
        };
        if let Some((which, free)) = only {
            let (node, name) = (zone.node, &zone.name);
            return wrapped(&format!(
                "Node {node}, zone {name}: only in the {which} snapshot, {free} free pages"
            ));
        }
        let mut lines = wrapped(&format!(
            "Node {}, zone {}: free pages {}; blocks of {} {}",
            zone.node,
            zone.name,
            arrow(&zone.free_pages),
            SizeText(self.block_bytes),
            arrow(&zone.blocks)
        ));
        let blocks: Vec<_> = zone.free.iter().map(signed).collect();
        let indices = [("unusable", zone.unusable_index), ("extfrag", zone.extfrag_index)];
        let indices: Vec<_> = indices.iter().filter_map(|(name, index)| index_text(name, *index)).collect();
        let are_known = zone.unusable_index.before.is_some() && zone.unusable_index.after.is_some();
        if are_known && !indices.is_empty() {
            lines.extend(wrapped(&format!("  index of order {}: {}", self.order, indices.join("; "))));
        }
        if blocks.iter().any(|change| change != "?") {
            let largest = blocks.len() - 1;
            lines.extend(wrapped(&format!("  free blocks of orders 0 to {largest}: {}", blocks.join(" "))));
        }
        lines.extend(types_text("pageblocks", &zone.pageblocks));
        lines.extend(types_text("free pages on lists", &zone.free_pages_by_type));
        lines
    }
}

fn index_text(name: &str, index: Change<f64>) -> Option<String> {
    let number = |index: Option<f64>| index.map_or("none".to_owned(), |index| format!("{index:.3}"));
    (index.before.is_some() || index.after.is_some())
        .then(|| format!("{name} {} -> {}", number(index.before), number(index.after)))
}

/// Returns the line on the types whose number changed.
fn types_text(what: &str, types: &[TypeChange]) -> Vec<String> {
    let changed = types.iter().filter(|kind| kind.number.before != kind.number.after);
    if changed.clone().all(|kind| kind.number.both().is_none()) {
        return Vec::new();
    }
    let changed: Vec<_> = changed.map(|kind| format!("{} {}", kind.kind, plain(&kind.number))).collect();
    if changed.is_empty() { Vec::new() } else { wrapped(&format!("  {what}: {}", changed.join(", "))) }
}

/// Returns `1023 -> 1181`.
fn plain(change: &Change<u64>) -> String {
    let number = |number: Option<u64>| number.map_or("unknown".to_owned(), |number| number.to_string());
    format!("{} -> {}", number(change.before), number(change.after))
}

/// Returns `1023 -> 1181 (+158)`.
fn arrow(change: &Change<u64>) -> String {
    match change.both() {
        Some(_) => format!("{} ({})", plain(change), signed(change)),
        None => plain(change),
    }
}

/// Returns `+158`, or `?` for a number that one snapshot lacks.
fn signed(change: &Change<u64>) -> String {
    match (change.before, change.after) {
        (Some(before), Some(after)) if after > before => format!("+{}", after - before),
        (Some(before), Some(after)) if after < before => format!("-{}", before - after),
        (Some(_), Some(_)) => "0".to_owned(),
        _ => "?".to_owned(),
    }
}

/// Breaks a line at blanks; the rest is indented.
fn wrapped(line: &str) -> Vec<String> {
    let indent = if line.starts_with(' ') { "    " } else { "  " };
    let mut lines = vec![String::new()];
    let lead = line.len() - line.trim_start().len();
    for word in line.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last] = format!("{}{word}", " ".repeat(lead));
        } else if lines[last].chars().count() + 1 + word.chars().count() > COLUMNS {
            lines.push(format!("{indent}{word}"));
        } else {
            lines[last].push(' ');
            lines[last].push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::picture::Picture;
    use super::*;

    fn picture(zones: u32, free: u64) -> Picture {
        let zone = |node| {
            json!({"node": node, "name": "Normal", "free_pages": free + 8, "pageblocks": [3, free],
                   "free": [{"blocks": free, "capped": false}, {"blocks": 4}], "blocks": [free + 8, 4],
                   "unusable_index": [0.0, 0.5], "extfrag_index": [null, 0.25], "by_type": [[{"blocks": free}, {"blocks": 0}],
                   [{"blocks": 0}, {"blocks": 4}]]})
        };
        let zones: Vec<_> = (0..zones).map(zone).collect();
        let types = ["Unmovable", "Movable"];
        Picture::from_json(json!({"pageblock_order": 1, "types": types, "zones": zones})).unwrap()
    }

    #[test]
    fn one_screen_is_never_exceeded() {
        for zones in [0, 1, 3, 4, 5, 64] {
            let difference = Difference::new(&picture(zones, 7), &picture(zones, u64::MAX >> 20));
            let text = difference.to_string();
            assert!(text.lines().count() <= LINES, "{zones}: {text}");
            assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
            assert_eq!(text.contains("more zone"), zones > 4, "{text}");
        }
    }

    #[test]
    fn what_is_the_same_is_not_listed() {
        let same = Difference::new(&picture(2, 7), &picture(2, 7));
        assert_eq!(same.to_string(), "No difference in free memory.");
        let more = Difference::new(&picture(1, 7), &picture(1, 9)).to_string();
        assert!(
            more.contains("free pages 15 -> 17 (+2)") && more.contains("pageblocks: Movable 7 -> 9"),
            "{more}"
        );
        assert!(more.contains("free blocks of orders 0 to 1: +2 0"), "{more}");
    }

    #[test]
    fn arrays_that_contradict_each_other_are_refused() {
        let wrong = json!({"types": ["Unmovable"], "zones": [{"node": 0, "name": "DMA", "free_pages": 1, "pageblocks": [1, 2]}]});
        let error = Picture::from_json(wrong).unwrap_err().to_string();
        assert!(error.contains("2 entries in `pageblocks`, where 1 are expected"), "{error}");
        assert!(Picture::from_json(json!([1])).unwrap_err().to_string().contains("freehold snapshot"));
    }
}
