//! The parts of a text.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use super::part::{FILES, MAX_PART_BYTES, next_line};

/// The starts of lines that end a part: headings of bug reports, of `head`, of `tail`, and shell prompts.
const HEADINGS: [&str; 5] = ["------ ", "==> ", "# ", "$ ", "== "];

/// Returns the parts of a text by the paths of their files.
///
/// A heading names a file by its path, such as `------ PAGETYPEINFO (/proc/pagetypeinfo) ------`. Lines without a heading above
/// them are known by their form. Of two parts of one file the first counts.
pub(super) fn parts(file: &mut impl BufRead) -> io::Result<BTreeMap<&'static str, String>> {
    let mut parts: BTreeMap<&'static str, String> = BTreeMap::new();
    let mut reader = Reader::default();
    while let Some(line) = next_line(file)? {
        let Some(name) = reader.part_of(&line) else { continue };
        let part = parts.entry(name).or_default();
        if part.len() + line.len() <= MAX_PART_BYTES {
            part.push_str(&line);
        }
    }
    Ok(parts)
}

/// The state between two lines.
#[derive(Default)]
struct Reader {
    /// The part that the last line was in, and whether a heading named it.
    part: Option<(&'static str, bool)>,
    /// The parts that ended.
    ended: Vec<&'static str>,
    /// True behind the row `Number of blocks type`, whose rows look like those of buddyinfo.
    counts_pageblocks: bool,
}

impl Reader {
    /// Returns the part that a line belongs to.
    fn part_of(&mut self, line: &str) -> Option<&'static str> {
        let row = line.trim_start_matches(['>', ' ']).trim_end();
        if let Some(name) = named_file(row) {
            self.begin(name, true);
            return None;
        }
        if HEADINGS.iter().any(|start| row.starts_with(start)) {
            self.end();
            return None;
        }
        if let Some((name, true)) = self.part {
            return self.open(name);
        }
        let name = self.guess(line, row)?;
        if self.part != Some((name, false)) {
            self.begin(name, false);
        }
        self.open(name)
    }

    fn begin(&mut self, name: &'static str, is_named: bool) {
        self.end();
        self.part = Some((name, is_named));
        self.counts_pageblocks = false;
    }

    fn end(&mut self) {
        self.ended.extend(self.part.take().map(|(name, _)| name));
    }

    fn open(&self, name: &'static str) -> Option<&'static str> {
        (!self.ended.contains(&name)).then_some(name)
    }

    /// Returns the file that prints such a row.
    fn guess(&mut self, line: &str, row: &str) -> Option<&'static str> {
        let pagetypeinfo = ["Page block order:", "Pages per block:", "Free pages count per", "Number of "];
        if pagetypeinfo.iter().any(|start| row.starts_with(start)) {
            self.counts_pageblocks = row.starts_with("Number of ");
            return Some("proc/pagetypeinfo");
        }
        let current = self.part.map(|(name, _)| name);
        if let Some((_, zone)) = row.split_once(", zone").filter(|_| row.starts_with("Node ")) {
            let rest = zone.trim_start().split_once([' ', ',']).map_or("", |(_, rest)| rest.trim());
            return match (rest, current) {
                ("", _) => Some("proc/zoneinfo"),
                _ if rest.starts_with("type ") => Some("proc/pagetypeinfo"),
                (_, Some("proc/pagetypeinfo")) if self.counts_pageblocks => Some("proc/pagetypeinfo"),
                _ if rest.starts_with(|c: char| c.is_ascii_digit()) => Some("proc/buddyinfo"),
                _ => None,
            };
        }
        if row.starts_with("MemTotal:") || (current == Some("proc/meminfo") && row.ends_with(" kB")) {
            return Some("proc/meminfo");
        }
        let is_inside = line.trim_start_matches(['>']).starts_with(' ') || row.is_empty();
        let indented = ["proc/zoneinfo", "proc/pagetypeinfo"];
        current.filter(|current| is_inside && indented.contains(current))
    }
}

/// Returns the file whose path a heading names: `/proc/buddyinfo`, but not `/proc/buddyinfo2`.
fn named_file(row: &str) -> Option<&'static str> {
    let named = FILES.iter().find(|name| {
        let place = row.find(&format!("/{name}")).map(|at| &row[at + 1 + name.len()..]);
        place.is_some_and(|behind| {
            !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/' || c == '_')
        })
    });
    // Rows of the kernel's files name none of these.
    named.copied().filter(|_| !row.starts_with("Node"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> BTreeMap<&'static str, String> {
        parts(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn headings_name_the_parts() {
        let text = "------ MEMORY INFO (/proc/meminfo: 2016-01-30 09:00:00) ------\nMemTotal: 1 kB\n------ 0.01s was the \
                    duration of 'MEMORY INFO' ------\nnoise\n==> /proc/buddyinfo <==\nNode 0, zone DMA 1 2\n\
                    ==> /proc/meminfo <==\nMemTotal: 2 kB\n";
        let found = read(text);
        assert_eq!(found["proc/meminfo"], "MemTotal: 1 kB\n", "the first part counts");
        assert_eq!(found["proc/buddyinfo"], "Node 0, zone DMA 1 2\n");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn rows_without_a_heading_are_known_by_their_form() {
        let table = "Free pages count per migrate type at order 0 1\nNode 0, zone DMA, type Movable 5 1\n\nNumber of blocks \
                     type Movable\nNode 0, zone DMA 7\n";
        let zoneinfo = "Node 0, zone      DMA\n  pages free 7\n  start_pfn: 1\n";
        let found = read(&format!("Hi,\nhere it is:\n{table}{zoneinfo}MemTotal: 4 kB\nMemFree: 1 kB\nBye\n"));
        assert_eq!((found["proc/pagetypeinfo"].as_str(), found["proc/zoneinfo"].as_str()), (table, zoneinfo));
        assert_eq!(found["proc/meminfo"], "MemTotal: 4 kB\nMemFree: 1 kB\n");
        assert_eq!(
            read("Node 0, zone DMA 1 2 3\n> Node 0, zone Normal 4 5 6\n")["proc/buddyinfo"].lines().count(),
            2
        );
        assert!(read("nothing of it\n\u{0}\u{1}\n").is_empty());
    }
}
