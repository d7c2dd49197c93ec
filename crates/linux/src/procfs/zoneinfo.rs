//! `/proc/zoneinfo`: spans, watermarks and per-CPU list settings of the zones.

use std::path::Path;

use freehold_trace::{Pageset, ZoneSnapshot};

use super::read::{
    MAX_FRAMES, REPORT, copied_rows, node_and_zone, number, read_given_text, read_text, twice,
};
use crate::error::{Error, ParseError};

/// Reads `proc/zoneinfo` below `root`.
pub fn read_zoneinfo(root: &Path) -> Result<Vec<ZoneSnapshot>, Error> {
    let path = root.join("proc/zoneinfo");
    parse_zoneinfo(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Reads a copy of `/proc/zoneinfo`.
pub(crate) fn read_zoneinfo_file(path: &Path) -> Result<Vec<ZoneSnapshot>, Error> {
    parse_zoneinfo(&read_given_text(path)?).map_err(|e| e.in_file(path, REPORT))
}

/// Parses the contents of `/proc/zoneinfo`.
///
/// Zones without memory are left out. Rows that not every kernel prints (`boost`, `promo`, `cma`,
/// `high_min`, `high_max`) get the value in their field's documentation. Kernels before 3.9 print no `managed`, for which
/// `present` is taken. The kernel adds the boost to the
/// watermarks that it prints; it is subtracted here.
///
/// # Errors
///
/// A text that is cut off, a row whose number does not parse, a zone that occurs twice or lacks its size,
/// and a populated zone without its span.
pub fn parse_zoneinfo(text: &str) -> Result<Vec<ZoneSnapshot>, ParseError> {
    let mut zones = Vec::new();
    let mut open: Option<OpenZone> = None;
    let mut lines = 0;
    for (line, row) in copied_rows(text, is_protection)? {
        lines = line;
        if row.starts_with("Node ") {
            let (node, name, _) = node_and_zone(line, row)?;
            close(open.replace(OpenZone::new(line, node, name)), &mut zones)?;
            if zones.iter().any(|zone: &ZoneSnapshot| zone.node == node && zone.name == name) {
                return Err(twice(line, row));
            }
        } else if let Some(zone) = &mut open {
            zone.take(line, row)?;
        }
    }
    close(open, &mut zones)?;
    if zones.is_empty() {
        return Err(ParseError::new(lines, "at least one zone with memory", "none"));
    }
    Ok(zones)
}

/// The part of a zone that the parser is in.
#[derive(PartialEq)]
enum Part {
    /// The node's statistics, which are printed with its first zone.
    Node,
    /// From `pages free` on.
    Zone,
    /// From `pagesets` on.
    Pagesets,
}

/// A zone read so far.
struct OpenZone {
    line: u64,
    part: Part,
    zone: ZoneSnapshot,
    start_pfn: Option<u64>,
    present: Option<u64>,
    managed: Option<u64>,
    spanned: Option<u64>,
}

impl OpenZone {
    fn new(line: u64, node: u32, name: &str) -> Self {
        let zone = ZoneSnapshot { node, name: name.to_owned(), ..ZoneSnapshot::default() };
        Self { line, part: Part::Node, zone, start_pfn: None, present: None, managed: None, spanned: None }
    }

    fn take(&mut self, line: u64, row: &str) -> Result<(), ParseError> {
        let mut words = row.split_ascii_whitespace();
        let Some(key) = words.next() else { return Ok(()) };
        match (key, &self.part) {
            ("pages", Part::Node) => {
                self.part = Part::Zone;
                self.zone.free = number(line, "`pages free`", words.nth(1))?;
            }
            ("pagesets", Part::Zone) => self.part = Part::Pagesets,
            ("start_pfn:", _) => self.start_pfn = Some(number(line, key, words.next())?),
            ("protection:", Part::Zone) => self.zone.protection = protection(line, row)?,
            (_, Part::Zone) => self.take_size(line, key, words.next())?,
            (_, Part::Pagesets) => self.take_pageset(line, key, words.next())?,
            _ => {}
        }
        Ok(())
    }

    fn take_size(&mut self, line: u64, key: &str, value: Option<&str>) -> Result<(), ParseError> {
        let zone = &mut self.zone;
        let field = match key {
            "boost" => &mut zone.boost,
            "min" => &mut zone.watermark_min,
            "low" => &mut zone.watermark_low,
            "high" => &mut zone.watermark_high,
            "promo" => &mut zone.watermark_promo,
            "cma" => &mut zone.cma,
            "present" => self.present.insert(0),
            "spanned" => self.spanned.insert(0),
            "managed" => self.managed.insert(0),
            _ => return Ok(()),
        };
        *field = number(line, key, value)?;
        Ok(())
    }

    fn take_pageset(&mut self, line: u64, key: &str, value: Option<&str>) -> Result<(), ParseError> {
        if key == "cpu:" {
            let cpu = number(line, key, value)?;
            let cpu =
                u32::try_from(cpu).map_err(|_| ParseError::new(line, "a CPU number", &cpu.to_string()))?;
            self.zone.pagesets.push(Pageset { cpu, ..Pageset::default() });
            return Ok(());
        }
        let Some(set) = self.zone.pagesets.last_mut() else { return Ok(()) };
        match key {
            "count:" => set.count = number(line, key, value)?,
            "batch:" => set.batch = number(line, key, value)?,
            "high:" => {
                set.high = number(line, key, value)?;
                // Linux 6.12 and before do not print the bounds, which then equal `high`;
                // 6.18 does: they are overwritten below.
                (set.high_min, set.high_max) = (set.high, set.high);
            }
            "high_min:" => set.high_min = number(line, key, value)?,
            "high_max:" => set.high_max = number(line, key, value)?,
            _ => {}
        }
        Ok(())
    }
}

/// Returns true if a row is a whole `protection: (0, 3019, 4555)`.
fn is_protection(row: &str) -> bool {
    row.trim_end().ends_with(')')
}

/// Parses the numbers of `protection: (0, 3019, 4555)`.
fn protection(line: u64, row: &str) -> Result<Vec<u64>, ParseError> {
    let list = row.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(list, _)| list);
    let list = list.ok_or_else(|| ParseError::new(line, "`protection: (…)`", row))?;
    list.split(',').map(|n| number(line, "protection", Some(n.trim()))).collect()
}

/// Completes a zone, and keeps it if it has memory.
fn close(open: Option<OpenZone>, zones: &mut Vec<ZoneSnapshot>) -> Result<(), ParseError> {
    let Some(OpenZone { line, mut zone, start_pfn, present, managed, spanned, .. }) = open else {
        return Ok(());
    };
    let missing = |what: &str| ParseError::new(line, format!("a zone with a `{what}` row"), &zone.name);
    // A zone without memory must have its size too, or a cut zone would pass for an empty one.
    zone.present = present.ok_or_else(|| missing("present"))?;
    if zone.present == 0 {
        return Ok(());
    }
    let spanned = spanned.ok_or_else(|| missing("spanned"))?;
    let managed = managed.unwrap_or(zone.present);
    let start_pfn = start_pfn.ok_or_else(|| missing("start_pfn:"))?;
    if start_pfn.checked_add(spanned).is_none_or(|end| end > MAX_FRAMES) {
        return Err(ParseError::new(line, "a zone within the address space", &zone.name));
    }
    (zone.spanned, zone.managed, zone.start_pfn) = (spanned, managed, start_pfn);
    let boost = zone.boost;
    let marks = [
        &mut zone.watermark_min,
        &mut zone.watermark_low,
        &mut zone.watermark_high,
        &mut zone.watermark_promo,
    ];
    for mark in marks {
        *mark = mark.saturating_sub(boost);
    }
    zones.push(zone);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
Node 0, zone      DMA
  per-node stats
      nr_inactive_anon 990
  pages free     3840
        min      55
        low      68
        high     81
        spanned  4095
        present  3998
        managed  3840
        protection: (0, 3019)
      nr_free_pages 3840
  pagesets
    cpu: 0
              count: 7
              high:  30
              batch: 3
  vm stats threshold: 4
  node_unreclaimable:  0
  start_pfn:           1
Node 0, zone  Movable
  pages free     0
        min      0
        spanned  0
        present  0
        managed  0
        protection: (0, 0)
";

    #[test]
    fn rows_that_old_kernels_lack_have_defaults() {
        let zones = parse_zoneinfo(OLD).unwrap();
        assert_eq!(zones.len(), 1, "Movable has no memory");
        assert_eq!((zones[0].boost, zones[0].watermark_promo, zones[0].cma), (0, 0, 0));
        assert_eq!(zones[0].pagesets[0].high_min, 30);
        assert_eq!(zones[0].pagesets[0].high_max, 30);
        assert_eq!(zones[0].protection, [0, 3019]);
        assert_eq!(zones[0].start_pfn, 1);
    }

    #[test]
    fn without_managed_the_present_pages_count() {
        let zones = parse_zoneinfo(&OLD.replace("        managed  3840\n", "")).unwrap();
        assert_eq!((zones[0].managed, zones[0].present), (3998, 3998));
    }

    #[test]
    fn the_boost_is_taken_off_the_watermarks() {
        let text = OLD.replace("        min      55\n", "        boost    50\n        min      55\n");
        let zones = parse_zoneinfo(&text).unwrap();
        assert_eq!((zones[0].boost, zones[0].watermark_min, zones[0].watermark_high), (50, 5, 31));
    }

    #[test]
    fn errors_name_the_line() {
        let broken = OLD.replace("present  3998", "present  many");
        let error = parse_zoneinfo(&broken).unwrap_err();
        assert_eq!((error.line, error.found.as_str()), (9, "many"));
        assert_eq!(parse_zoneinfo("").unwrap_err().found, "none");
        let spanless = OLD.replace("        spanned  4095\n", "");
        assert!(parse_zoneinfo(&spanless).unwrap_err().expected.contains("spanned"));
    }

    #[test]
    fn what_is_cut_or_comes_twice_is_an_error() {
        let cut = OLD.split_inclusive("zone  Movable\n").next().unwrap();
        assert!(parse_zoneinfo(cut).unwrap_err().expected.contains("present"));
        assert!(parse_zoneinfo(&OLD[..OLD.len() - 2]).is_err());
        assert_eq!(parse_zoneinfo(OLD.trim_end()), parse_zoneinfo(OLD), "the last row is whole");
        assert!(parse_zoneinfo(&OLD.replace("Movable", "DMA")).unwrap_err().expected.contains("once"));
    }
}
