//! A pasted dump of `page_owner`, with nothing else of its machine.

use std::io::{self, BufRead, Read};

use super::stacks::Stacks;

/// The words in a record's first line.
const FIRST_LINE: &str = "allocated via order ";

/// The most bytes of a line that are looked at.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// The most functions of a stack.
const MAX_FUNCTIONS: usize = 64;

/// One record of a dump.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OwnerRecord {
    /// The order of the allocation.
    pub order: u8,
    /// The task that allocated; `None` on kernels that do not record it.
    pub pid: Option<i32>,
    /// When: nanoseconds since the boot; `None` on kernels that do not record it.
    pub time_ns: Option<u64>,
    /// The first frame.
    pub pfn: u64,
    /// The type of the page.
    pub page_type: String,
    /// The number of its pageblock.
    pub block: u64,
    /// The type of its pageblock.
    pub block_type: String,
    /// The innermost function that is no allocator's; `None` without a stack.
    pub function: Option<String>,
}

/// Counts of what a dump contained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OwnerDumpCounts {
    /// Lines.
    pub lines: u64,
    /// Records.
    pub records: u64,
    /// Records whose second line is damaged. They are left out.
    pub damaged: u64,
}

/// Reads the records of a dump of `page_owner` and calls `take` with each. Lines outside records are skipped, also the `>` of quoted
/// mail and the time stamps of a kernel log.
///
/// # Errors
/// If the text cannot be read.
pub fn read_owner_dump(
    text: &mut dyn BufRead,
    take: &mut dyn FnMut(OwnerRecord),
) -> io::Result<OwnerDumpCounts> {
    let mut counts = OwnerDumpCounts::default();
    let mut open: Option<Open> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut *text).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        counts.lines += 1;
        let row = String::from_utf8_lossy(&line);
        let row = row.trim_start_matches('>').trim_end();
        if let Some(first) = first_line(row) {
            counts.finish(open.replace(first), take);
        } else if let Some(record) = &mut open {
            record.add(row);
        }
    }
    counts.finish(open, take);
    Ok(counts)
}

impl OwnerDumpCounts {
    fn finish(&mut self, open: Option<Open>, take: &mut dyn FnMut(OwnerRecord)) {
        let Some(open) = open else { return };
        if !open.has_page {
            self.damaged += 1;
            return;
        }
        self.records += 1;
        take(open.finish());
    }
}

/// A record of which not all lines were read.
struct Open {
    record: OwnerRecord,
    has_page: bool,
    functions: Vec<String>,
}

impl Open {
    fn add(&mut self, row: &str) {
        if !self.has_page {
            self.has_page = self.record.take_page(row).is_some();
        } else if self.functions.len() < MAX_FUNCTIONS {
            self.functions.extend(function(row));
        }
    }

    fn finish(self) -> OwnerRecord {
        let mut stacks = Stacks::default();
        let stack = stacks.keep(self.functions);
        OwnerRecord { function: stacks.culprit(stack).map(str::to_owned), ..self.record }
    }
}

/// Parses `Page allocated via order 9, mask 0x…(…), pid 1, tgid 1 (swapper/0), ts 1065952310 ns`.
fn first_line(row: &str) -> Option<Open> {
    let rest = &row[row.find(FIRST_LINE)? + FIRST_LINE.len()..];
    let order = number(rest)?;
    let order = u8::try_from(order).ok().filter(|order| *order < 64)?;
    let pid = rest.find(" pid ").and_then(|at| number(&rest[at + 5..]));
    let time_ns = rest.rfind(" ts ").and_then(|at| number(&rest[at + 4..]));
    let pid = pid.and_then(|pid| i32::try_from(pid).ok());
    let record = OwnerRecord { order, pid, time_ns, ..OwnerRecord::default() };
    Some(Open { record, has_page: false, functions: Vec::new() })
}

impl OwnerRecord {
    /// Takes `PFN 0x11d200 type Unmovable Block 2281 type CMA Flags …`.
    fn take_page(&mut self, row: &str) -> Option<()> {
        let rest = &row[row.find("PFN ")? + 4..];
        let pfn = number(rest)?;
        let mut words = rest.split_ascii_whitespace().skip_while(|word| *word != "type");
        let page_type = words.nth(1)?;
        let block = words.next().filter(|word| *word == "Block").and(words.next()).and_then(number)?;
        let block_type = words.next().filter(|word| *word == "type").and(words.next())?;
        let is_name = |name: &str| name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_name(page_type) || !is_name(block_type) {
            return None;
        }
        (self.pfn, self.block) = (pfn, block);
        (self.page_type, self.block_type) = (page_type.to_owned(), block_type.to_owned());
        Some(())
    }
}

/// Returns the number at the start, hexadecimal behind `0x`.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).ok()
}

/// Returns the function of a line of a stack: the word with `+0x`, and the module behind it.
fn function(row: &str) -> Option<String> {
    let mut words = row.split_ascii_whitespace().skip_while(|word| !word.contains("+0x"));
    let (name, _) = words.next()?.split_once("+0x")?;
    let name = name.rsplit(']').next().unwrap_or(name);
    let is_name = !name.is_empty() && name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_graphic());
    let module = words.next().filter(|word| word.starts_with('[') && word.ends_with(']'));
    is_name.then(|| module.map_or_else(|| name.to_owned(), |module| format!("{name} {module}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
Page allocated via order 9, mask 0x52dc0(GFP_KERNEL|__GFP_ZERO), pid 1, tgid 1 (swapper/0), ts 1065952310 ns
PFN 0x11d200 type Unmovable Block 2281 type CMA Flags 0x4000000000000040(head|zone=1|kasantag=0x0)
 post_alloc_hook+0x228/0x230
 __kvmalloc_node_noprof+0xd8/0x18c
 nf_ct_alloc_hashtable+0x64/0x108 [nf_conntrack]
 nf_nat_init+0x3c/0xf8

> [   12.5] Page allocated via order 0, mask 0x100cca(GFP_HIGHUSER_MOVABLE)
> [   12.5] PFN 4660 type Movable Block 9 type Movable Flags 0x0()
> [   12.5]  [<ffffffff8117d3ea>] pipe_write+0x10/0x20
Page allocated via order 1, mask 0x0, pid 7
PFN ? type
";

    fn read(text: &str) -> (OwnerDumpCounts, Vec<OwnerRecord>) {
        let mut records = Vec::new();
        let counts = read_owner_dump(&mut text.as_bytes(), &mut |record| records.push(record)).unwrap();
        (counts, records)
    }

    #[test]
    fn records_are_found_in_any_text() {
        let (counts, records) = read(DUMP);
        assert_eq!((counts.records, counts.damaged), (2, 1));
        let first = &records[0];
        assert_eq!((first.order, first.pid, first.time_ns), (9, Some(1), Some(1_065_952_310)));
        assert_eq!((first.pfn, first.block), (0x11_d200, 2281));
        assert_eq!((first.page_type.as_str(), first.block_type.as_str()), ("Unmovable", "CMA"));
        assert_eq!(first.function.as_deref(), Some("nf_ct_alloc_hashtable [nf_conntrack]"));
        assert_eq!((records[1].pid, records[1].time_ns, records[1].pfn), (None, None, 4660));
        assert_eq!(records[1].function.as_deref(), Some("pipe_write"));
    }

    #[test]
    fn no_cut_makes_the_reader_panic() {
        for end in 0..DUMP.len() {
            read(&DUMP[..end]);
        }
        assert_eq!(
            read("nothing\n\u{1b}[2J\n").0,
            OwnerDumpCounts { lines: 2, ..OwnerDumpCounts::default() }
        );
    }
}
