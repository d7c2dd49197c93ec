//! The processes that map pinned pages.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::unmovable::{Pin, PinOwner, UnmovablePages, What};
use crate::error::Error;
use crate::procfs::{FrameWords, WORD_BYTES, page_bytes, read_processes, read_text, words};

/// The most pages of one process's mappings that are looked at, the smallest mappings first: 512 MiB of words.
const MOST_PAGES: u64 = 1 << 26;

/// Pages that are read at once.
const AT_ONCE: u64 = 1 << 16;

/// The bit of a word of `pagemap` that says that the page is present, and those of its frame.
const PRESENT: u64 = 1 << 63;
const FRAME: u64 = (1 << 55) - 1;

/// Tells the owners of pinned pages by `proc/PID/maps` and `proc/PID/pagemap` below `root`. Of several processes that map a page the
/// the result is the one that pinned the most memory (`VmPin`), then the one with the most memory. A process that cannot be read is left out.
///
/// # Errors
/// If `proc` cannot be read.
pub fn name_by_mapping(root: &Path, unmovable: &mut [UnmovablePages]) -> Result<(), Error> {
    let mut unowned: HashMap<u64, usize> = HashMap::new();
    for (at, run) in unmovable.iter().enumerate().filter(|(_, run)| matches!(run.what, What::Pinned(_))) {
        unowned.extend((run.pfn..run.pfn + u64::from(run.pages)).map(|pfn| (pfn, at)));
    }
    if unowned.is_empty() {
        return Ok(());
    }
    let page_bytes = page_bytes(root).unwrap_or(rustix::param::page_size() as u64);
    let mut processes = read_processes(root)?;
    // Stable: within the same number of pinned bytes the most memory comes first.
    processes.sort_by_key(|process| std::cmp::Reverse(process.pinned_bytes));
    for process in processes {
        if unowned.is_empty() {
            break;
        }
        let folder = root.join("proc").join(process.pid.to_string());
        let Ok(maps) = read_text(&folder.join("maps")) else { continue };
        let Ok(file) = FrameWords::open(&folder.join("pagemap")) else { continue };
        let owner = Arc::new(PinOwner::Process { pid: process.pid, name: process.name });
        each_frame(&file, &mappings(&maps, page_bytes), |pfn| {
            let Some(at) = unowned.remove(&pfn) else { return };
            if let What::Pinned(Pin { owner: unknown @ None, .. }) = &mut unmovable[at].what {
                *unknown = Some(owner.clone());
            }
        });
    }
    Ok(())
}

/// Returns the pages of a process's mappings by their number in its address space, the smallest mappings first.
fn mappings(maps: &str, page_bytes: u64) -> Vec<Range<u64>> {
    let mapping = |line: &str| -> Option<Range<u64>> {
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        let page = |address| Some(u64::from_str_radix(address, 16).ok()? / page_bytes);
        Some(page(start)?..page(end)?)
    };
    let mut found: Vec<_> = maps.lines().filter_map(mapping).collect();
    found.sort_by_key(|pages| pages.end.saturating_sub(pages.start));
    found
}

/// Calls `found` with each frame that `mappings` have, up to the first that cannot be read and the most pages.
fn each_frame(file: &FrameWords, mappings: &[Range<u64>], mut found: impl FnMut(u64)) {
    let mut buffer = vec![0; AT_ONCE as usize * WORD_BYTES];
    let mut left = MOST_PAGES;
    for pages in mappings {
        let Some(rest) = left.checked_sub(pages.end.saturating_sub(pages.start)) else { return };
        left = rest;
        let mut at = pages.start;
        while at < pages.end {
            let here = (pages.end - at).min(AT_ONCE);
            // [vsyscall] is outside the address space, and has no words.
            let Ok(filled) = file.read(at, &mut buffer[..here as usize * WORD_BYTES]) else { break };
            words(&buffer[..filled]).filter(|word| word & PRESENT != 0).for_each(|word| found(word & FRAME));
            at += here;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn pinning_process_is_preferred() {
        let root = tempfile::tempdir().unwrap();
        let process = |pid: u32, anon_kib: u64, pinned_kib: u64, start: u64, frames: &[u64]| {
            let folder = root.path().join(format!("proc/{pid}"));
            fs::create_dir_all(&folder).unwrap();
            let status = format!("Name:\tp{pid}\nVmPin:\t{pinned_kib} kB\nRssAnon:\t{anon_kib} kB\n");
            fs::write(folder.join("status"), status).unwrap();
            let page = rustix::param::page_size() as u64;
            let end = start + frames.len() as u64;
            let maps = format!("{:x}-{:x} rw-p 00000000 00:00 0 [heap]\n", start * page, end * page);
            fs::write(folder.join("maps"), maps).unwrap();
            let words = frames.iter().map(|frame| if *frame == 0 { 77 } else { frame | PRESENT | 1 << 61 });
            let words = std::iter::repeat_n(0, start as usize).chain(words);
            fs::write(folder.join("pagemap"), words.flat_map(u64::to_le_bytes).collect::<Vec<_>>()).unwrap();
        };
        process(1, 900, 0, 3, &[70, 71, 0, 90]);
        process(2, 10, 8, 0, &[71, 72]);
        let run = |pfn, pages, what| UnmovablePages { pfn, pages, what };
        let pin = || What::Pinned(Pin { is_user_pin: true, owner: None });
        let mut unmovable = [
            run(70, 1, pin()),
            run(71, 1, pin()),
            run(77, 1, pin()),
            run(89, 4, pin()),
            run(90, 1, What::Slab(None)),
        ];
        name_by_mapping(root.path(), &mut unmovable).unwrap();
        let owners: Vec<_> = unmovable
            .iter()
            .map(|run| match &run.what {
                What::Pinned(Pin { owner: Some(owner), .. }) => match &**owner {
                    PinOwner::Process { pid, name } => format!("{name} {pid}"),
                    PinOwner::Cgroup(_) => unreachable!(),
                },
                _ => String::new(),
            })
            .collect();
        assert_eq!(owners, ["p1 1", "p2 2", "", "p1 1", ""]);
    }
}
