//! Further ways to fragment memory: those that a forecast of reclaim and of direct compaction must know apart.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::fragment::memory::{Anonymous, page_bytes};
use super::fragment::{PinnedMemory, Random, Way};

/// Every further way.
pub(crate) const MORE_WAYS: [Way; 9] = [
    ("every-2nd-anonymous", |_, mib, _| kept(mib, 2, false)),
    ("every-8th-anonymous", |_, mib, _| kept(mib, 8, false)),
    ("every-4th-mlocked", |_, mib, _| kept(mib, 4, true)),
    ("cache-clean", |_, mib, folder| written(mib, folder, Written::Synced)),
    ("cache-dirty", |_, mib, folder| written(mib, folder, Written::Dirty)),
    ("cache-mapped", |_, mib, folder| written(mib, folder, Written::Mapped)),
    ("cache-dirtied-again", |_, mib, folder| written(mib, folder, Written::DirtiedAgain)),
    ("inodes-on-disk", inodes_on_disk),
    ("huge-pages-sparse", huge_pages_sparse),
];

/// Touches memory, and keeps one page in `stride`.
fn kept(mib: usize, stride: usize, is_locked: bool) -> io::Result<PinnedMemory> {
    let pages = (mib << 20) / page_bytes();
    let mut memory = Anonymous::map(pages)?;
    memory.huge(false)?;
    (0..pages).for_each(|page| memory.touch(page));
    for page in 0..pages {
        if page % stride != 0 {
            memory.punch(page, 1)?;
        } else if is_locked {
            memory.lock(page, 1)?;
        }
    }
    Ok(vec![Box::new(memory)])
}

/// What a file in the page cache is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Synced,
    Dirty,
    Mapped,
    DirtiedAgain,
}

fn written(mib: usize, folder: &Path, how: Written) -> io::Result<PinnedMemory> {
    let path = folder.join("cache");
    let mut file = File::create_new(&path).or_else(|_| File::create_new(folder.join("cache-2")))?;
    let chunk = vec![7_u8; 1 << 20];
    (0..mib).try_for_each(|_| file.write_all(&chunk))?;
    if how != Written::Dirty {
        file.sync_all()?;
    }
    match how {
        Written::Mapped => Ok(vec![Box::new(Anonymous::of_file(&File::open(&path)?, mib << 20)?)]),
        Written::DirtiedAgain => {
            let again = File::options().write(true).open(&path)?;
            for at in (0..(mib << 20) as u64).step_by(page_bytes()) {
                std::os::unix::fs::FileExt::write_at(&again, b"y", at)?;
            }
            Ok(vec![Box::new(again)])
        }
        Written::Synced | Written::Dirty => Ok(vec![Box::new(file)]),
    }
}

/// Makes empty files, 160 a MiB, and removes three of four: their inodes stay in caches until they are reclaimed.
fn inodes_on_disk(random: &mut Random, mib: usize, folder: &Path) -> io::Result<PinnedMemory> {
    let folder = folder.join("inodes");
    fs::create_dir(&folder)?;
    let path = |at: usize| folder.join(format!("f{at}"));
    for at in 0..mib * 160 {
        File::create(path(at))?;
    }
    for at in 0..mib * 160 {
        if random.below(4) > 0 {
            fs::remove_file(path(at))?;
        }
    }
    Ok(Vec::new())
}

/// Fills huge pages, and gives back all but one page in each 16: whole huge pages stay with holes.
fn huge_pages_sparse(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    let pages = (mib << 20) / page_bytes();
    let mut memory = Anonymous::map(pages)?;
    memory.huge(true)?;
    (0..pages).for_each(|page| memory.touch(page));
    for page in (0..pages - 16).step_by(16) {
        let keep = random.below(16);
        memory.punch(page, keep)?;
        memory.punch(page + keep + 1, 15 - keep)?;
    }
    Ok(vec![Box::new(memory)])
}

/// Maps, touches and unmaps memory again and again, without end.
pub(crate) fn churn(mib: usize) -> io::Result<()> {
    let pages = (mib << 20) / page_bytes();
    loop {
        let mut memory = Anonymous::map(pages)?;
        memory.huge(false)?;
        (0..pages).for_each(|page| memory.touch(page));
        thread::sleep(Duration::from_millis(20));
        drop(memory);
        thread::sleep(Duration::from_millis(20));
    }
}
