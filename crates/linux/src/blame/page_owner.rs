//! `page_owner` of debugfs: for each allocated page the stack that it was allocated from.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::allocations::Allocation;
use super::stacks::Stacks;
use crate::error::{Error, ParseError};
use crate::procfs::refuse_special;

/// Room for one record, which the kernel writes into a buffer of the reader's length; its stack has 16 functions at most.
const RECORD_BYTES: usize = 4096;

/// Functions of `page_owner` itself, in stacks that stand for those of pages which were allocated before it was ready, or that it had
/// no room for.
const NO_STACKS: [&str; 3] = ["register_dummy_stack", "register_early_stack", "register_failure_stack"];

/// The file of the running kernel, or a copy of it.
#[derive(Debug)]
pub struct PageOwner {
    path: PathBuf,
    file: File,
}

impl PageOwner {
    /// Opens `sys/kernel/debug/page_owner` below `root`. Returns `None` where there is none: the kernel was built without
    /// `CONFIG_PAGE_OWNER`, booted without `page_owner=on`, or debugfs is not mounted.
    ///
    /// # Errors
    /// If the file is there and cannot be opened.
    pub fn open(root: &Path) -> Result<Option<Self>, Error> {
        let path = root.join("sys/kernel/debug/page_owner");
        match refuse_special(&path).and_then(|()| File::open(&path).map_err(|e| Error::io("read", &path, e)))
        {
            Ok(file) => Ok(Some(Self { path, file })),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Reads who allocated the pages of `ranges` (first frame, and the frame behind the last), which are sorted.
    ///
    /// The kernel looks for a frame from the file's position on, since 6.4; on an older one, and of a copy, the whole file is read.
    ///
    /// # Errors
    /// If the file cannot be read, or a record of it cannot be understood.
    pub fn read(&self, ranges: &[(u64, u64)], stacks: &mut Stacks) -> Result<Vec<Allocation>, Error> {
        let first = ranges.first().map_or(0, |range| range.0);
        if self.file.metadata().is_ok_and(|metadata| metadata.len() > 0) || !self.seeks(first)? {
            return self.read_all(ranges, stacks);
        }
        let mut found = Vec::new();
        for &(start, end) in ranges {
            let mut at = start;
            while at < end {
                let Some(text) = self.record_at(at)? else { break };
                let made = self.understood(&text, stacks)?;
                if made.pfn >= end || made.pfn < at {
                    break;
                }
                at = made.pfn + 1;
                found.push(made);
            }
        }
        Ok(found)
    }

    /// Returns true if the record at a position is that of the frame of this number, or of a later one.
    fn seeks(&self, pfn: u64) -> Result<bool, Error> {
        match self.record_at(pfn) {
            Ok(Some(text)) => Ok(self.understood(&text, &mut Stacks::default())?.pfn >= pfn),
            Ok(None) => Ok(true),
            Err(Error::Io { source, .. }) if source.raw_os_error() == Some(libc::ESPIPE) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Reads the first record from a frame on; `None` behind the last.
    fn record_at(&self, pfn: u64) -> Result<Option<String>, Error> {
        let mut bytes = vec![0; RECORD_BYTES];
        let read = self.file.read_at(&mut bytes, pfn).map_err(|e| Error::io("read", &self.path, e))?;
        bytes.truncate(read);
        Ok((read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn understood(&self, text: &str, stacks: &mut Stacks) -> Result<Allocation, Error> {
        parse_page_owner(text, stacks).map_err(|e| e.in_file(&self.path, REPORT))
    }

    fn read_all(&self, ranges: &[(u64, u64)], stacks: &mut Stacks) -> Result<Vec<Allocation>, Error> {
        let failed = |e| Error::io("read", &self.path, e);
        let file = File::open(&self.path).map_err(failed)?;
        let mut lines = BufReader::with_capacity(RECORD_BYTES, file).lines();
        let (mut found, mut record) = (Vec::new(), String::new());
        let inside = |pfn: u64| {
            let behind = ranges.partition_point(|&(start, _)| start <= pfn);
            behind.checked_sub(1).is_some_and(|at| pfn < ranges[at].1)
        };
        loop {
            let line = lines.next().transpose().map_err(failed)?;
            match line {
                Some(line) if !line.is_empty() => {
                    record.push_str(&line);
                    record.push('\n');
                    continue;
                }
                _ if !record.is_empty() => {
                    let pfn = pfn_of(&record).map_err(|e| e.in_file(&self.path, REPORT))?;
                    if inside(pfn) {
                        found.push(self.understood(&record, stacks)?);
                    }
                    record.clear();
                }
                _ => {}
            }
            if line.is_none() {
                return Ok(found);
            }
        }
    }
}

/// Parses one record of `page_owner`.
///
/// ```text
/// Page allocated via order 0, mask 0x…(GFP_…), pid 1, tgid 1 (init), ts 2064318125 ns
/// PFN 0x105f5a type Unmovable Block 2095 type Unmovable Flags 0x…(…)
///  __alloc_pages_noprof+0x1a2/0x330
///  pipe_write+0x3a0/0x4c0
/// ```
///
/// # Errors
/// If the lines with the order and the frame are not there. A record of a kernel before 5.10 has no time, which is then 0.
pub fn parse_page_owner(record: &str, stacks: &mut Stacks) -> Result<Allocation, ParseError> {
    let first = record.lines().next().unwrap_or_default();
    let order = number_after(first, "order ")
        .ok_or_else(|| ParseError::new(1, "the order of an allocation", first))?;
    // The process's name is before it, and may be anything.
    let time = first.rfind(" ts ").and_then(|at| number_after(&first[at..], " ts "));
    let time_ns = time.unwrap_or(0);
    let pfn = pfn_of(record)?;
    let functions: Vec<_> = record.lines().skip(2).map_while(function).collect();
    let is_stack = !functions.iter().any(|function| NO_STACKS.contains(&function.as_str()));
    let order = u8::try_from(order).map_err(|_| ParseError::new(1, "the order of an allocation", first))?;
    Ok(Allocation { pfn, order: order.min(63), time_ns, stack: is_stack.then(|| stacks.keep(functions)) })
}

/// Returns the frame of a record.
fn pfn_of(record: &str) -> Result<u64, ParseError> {
    let line = record.lines().nth(1).unwrap_or_default();
    number_after(line, "PFN ").ok_or_else(|| ParseError::new(2, "the frame of a page", line))
}

/// Returns the decimal number, or the hexadecimal one behind `0x`, after the first `word` of a line.
fn number_after(line: &str, word: &str) -> Option<u64> {
    let rest = &line[line.find(word)? + word.len()..];
    let (digits, radix) = rest.strip_prefix("0x").map_or((rest, 10), |digits| (digits, 16));
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).ok()
}

/// Returns the function of a line of a stack; `None` for another line.
fn function(line: &str) -> Option<String> {
    let line = line.strip_prefix(' ')?;
    // Kernels before 4.15 print the address first.
    let line =
        line.strip_prefix('[').map_or(line, |rest| rest.split_once("] ").map_or(line, |(_, name)| name));
    let (name, rest) = line.split_once("+0x")?;
    let module = rest.split_once(' ').map_or("", |(_, module)| module.trim());
    Some(if module.is_empty() { name.to_owned() } else { format!("{name} {module}") })
}

/// What to do about a file that cannot be understood.
const REPORT: &str = "report it with the kernel's version";

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "\
Page allocated via order 3, mask 0x52dc0(GFP_KERNEL|__GFP_ZERO), pid 1, tgid 1 (order 7 ts 5), ts 2064318125 ns
PFN 0x105f58 type Unmovable Block 2095 type Movable Flags 0x17ffffc0000000(node=0|zone=2)
 __alloc_pages_noprof+0x1a2/0x330
 ext4_alloc_inode+0x20/0x130 [ext4]
Charged to memcg session-1.scope
";

    const OLD: &str = "\
Page allocated via order 0, mask 0x100cca(GFP_HIGHUSER_MOVABLE), pid 7, ts 12 ns, free_ts 11 ns
PFN 4660 type Movable Block 9 type Movable Flags 0x0()
 [<ffffffff8117d3ea>] pipe_write+0x10/0x20
";

    #[test]
    fn records_of_old_and_new_kernels_are_understood() {
        let mut stacks = Stacks::default();
        let new = parse_page_owner(NEW, &mut stacks).unwrap();
        let old = parse_page_owner(OLD, &mut stacks).unwrap();
        assert_eq!((new.pfn, new.order, new.time_ns), (0x10_5f58, 3, 2_064_318_125));
        assert_eq!((old.pfn, old.order, old.time_ns), (4660, 0, 12));
        assert_eq!(stacks.functions(new.stack.unwrap()), ["__alloc_pages_noprof", "ext4_alloc_inode [ext4]"]);
        assert_eq!(stacks.functions(old.stack.unwrap()), ["pipe_write"]);
    }

    #[test]
    fn a_stack_that_stands_for_none_is_none() {
        let record = NEW.replace("ext4_alloc_inode+0x20/0x130 [ext4]", "register_early_stack+0x2b/0x50");
        let made = parse_page_owner(&record, &mut Stacks::default()).unwrap();
        assert_eq!((made.pfn, made.stack), (0x10_5f58, None));
    }

    #[test]
    fn damage_is_named() {
        let mut stacks = Stacks::default();
        assert_eq!(parse_page_owner("", &mut stacks).unwrap_err().line, 1);
        assert_eq!(parse_page_owner("Page allocated via order 1", &mut stacks).unwrap_err().line, 2);
        assert!(parse_page_owner("via order 999, x\nPFN 1", &mut stacks).is_err());
    }

    #[test]
    fn of_a_copy_the_frames_of_the_ranges_are_read() {
        let root = tempfile::tempdir().unwrap();
        assert!(PageOwner::open(root.path()).unwrap().is_none());
        let folder = root.path().join("sys/kernel/debug");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("page_owner"), format!("{OLD}\n{NEW}\n")).unwrap();
        let owner = PageOwner::open(root.path()).unwrap().unwrap();
        let frames = |ranges: &[(u64, u64)]| {
            let read = owner.read(ranges, &mut Stacks::default()).unwrap();
            read.iter().map(|made| made.pfn).collect::<Vec<_>>()
        };
        assert_eq!(frames(&[(0, 4660), (4661, 1 << 40)]), [0x10_5f58]);
        assert_eq!(frames(&[(4660, 4661)]), [4660]);
        assert_eq!(frames(&[(0, 1), (4608, 5120), (0x10_5e00, 0x10_6000)]), [4660, 0x10_5f58]);
    }
}
