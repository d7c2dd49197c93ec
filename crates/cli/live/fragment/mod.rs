//! Fragments this machine's memory in many ways. What was made goes when it is dropped.

pub(crate) mod memory;

use std::any::Any;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags, MemfdFlags, fadvise, fallocate, ftruncate, memfd_create};

use memory::{Anonymous, page_bytes};

/// Things that hold memory for as long as they live.
pub(crate) type PinnedMemory = Vec<Box<dyn Any>>;

/// A way to fragment memory: its name, and what does it with so many MiB.
pub(crate) type Way = (&'static str, fn(&mut Random, usize, &Path) -> io::Result<PinnedMemory>);

/// Every way.
pub(crate) const WAYS: [Way; 16] = [
    ("nothing", |_, _, _| Ok(Vec::new())),
    ("anonymous", anonymous),
    ("anonymous-sparse", anonymous_sparse),
    ("huge-pages-punched", huge_pages),
    ("page-cache", page_cache),
    ("tmpfs-punched", tmpfs),
    ("mlocked", mlocked),
    ("slab-inodes", inodes),
    ("slab-mixed", slab_mixed),
    ("pipes", pipes),
    ("page-tables", page_tables),
    ("hugetlb", hugetlb),
    ("pinned-by-pipes", pinned_by_pipes),
    ("pinned-by-io-uring", pinned_by_io_uring),
    ("mixed", mixed),
    ("mixed-shuffled", shuffled),
];

/// Lets this process have as many descriptors as it may: pipes take them.
#[allow(dead_code, reason = "tests keep what they plant small")]
pub(crate) fn allow_descriptors() -> io::Result<()> {
    let files = rustix::process::Resource::Nofile;
    let limit = rustix::process::getrlimit(files);
    Ok(rustix::process::setrlimit(files, rustix::process::Rlimit { current: limit.maximum, ..limit })?)
}

/// Random numbers that a seed decides.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

fn pages(mib: usize) -> usize {
    (mib << 20) / page_bytes()
}

/// Fills memory and gives `percent` of the pages back, in holes of up to `longest` pages.
fn punched(
    random: &mut Random,
    mib: usize,
    percent: usize,
    longest: usize,
    huge: bool,
) -> io::Result<Anonymous> {
    let pages = pages(mib);
    let mut memory = Anonymous::map(pages)?;
    memory.huge(huge)?;
    (0..pages).for_each(|page| memory.touch(page));
    let mut page = 0;
    while page < pages {
        let count = (1 + random.below(longest)).min(pages - page);
        if random.below(100) < percent {
            memory.punch(page, count)?;
        }
        page += count;
    }
    Ok(memory)
}

fn anonymous(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    Ok(vec![Box::new(punched(random, mib, 50, 1, false)?)])
}

fn anonymous_sparse(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    Ok(vec![Box::new(punched(random, mib, 90, 16, false)?)])
}

fn huge_pages(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    Ok(vec![Box::new(punched(random, mib, 60, 64, true)?)])
}

/// A file that is removed when it is dropped.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn page_cache(random: &mut Random, mib: usize, folder: &Path) -> io::Result<PinnedMemory> {
    let mib = mib.min(2048);
    let path = folder.join("fragmentations.cache");
    let scratch = Scratch(path.clone());
    let mut file = File::create(&path)?;
    let chunk = vec![7_u8; 1 << 20];
    (0..mib).try_for_each(|_| file.write_all(&chunk))?;
    file.sync_all()?;
    let mut file = File::open(&path)?;
    let mut buffer = chunk;
    while file.read(&mut buffer)? > 0 {}
    let len = std::num::NonZero::new(page_bytes() as u64 * 8);
    for at in (0..pages(mib)).step_by(8) {
        if random.below(100) < 50 {
            fadvise(&file, (at * page_bytes()) as u64, len, Advice::DontNeed)?;
        }
    }
    Ok(vec![Box::new(file), Box::new(scratch)])
}

fn tmpfs(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    let file: OwnedFd = memfd_create("fragmentations", MemfdFlags::CLOEXEC)?;
    let len = (mib << 20) as u64;
    ftruncate(&file, len)?;
    fallocate(&file, FallocateFlags::empty(), 0, len)?;
    for page in 0..pages(mib) {
        if random.below(100) < 60 {
            let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&file, holes, (page * page_bytes()) as u64, page_bytes() as u64)?;
        }
    }
    Ok(vec![Box::new(file)])
}

fn mlocked(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    let pages = pages(mib);
    let mut memory = Anonymous::map(pages)?;
    memory.huge(false)?;
    // Each locked range is a mapping of its own, and so is each hole: the kernel allows about 65 000.
    let stride = (pages / 16_000).next_power_of_two().max(16);
    for page in (0..pages - stride).step_by(stride) {
        let locked = 1 + random.below(stride / 2);
        (page..page + stride).for_each(|page| memory.touch(page));
        memory.lock(page, locked)?;
        memory.punch(page + locked, stride - locked)?;
    }
    Ok(vec![Box::new(memory)])
}

/// Makes many small files and removes most of them: inodes and dentries stay scattered over slabs.
fn small_files(random: &mut Random, count: usize) -> io::Result<PinnedMemory> {
    let folder = tempfile::Builder::new().tempdir_in("/dev/shm")?;
    let path = |at: usize| folder.path().join(format!("file-with-a-name-too-long-to-be-stored-inline-{at}"));
    for at in 0..count {
        File::create(path(at))?;
    }
    for at in 0..count {
        if random.below(100) < 70 {
            fs::remove_file(path(at))?;
        }
    }
    Ok(vec![Box::new(folder)])
}

fn inodes(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    small_files(random, mib * 128)
}

fn slab_mixed(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    let mut pinned_memory = PinnedMemory::new();
    for _ in 0..8 {
        pinned_memory.push(Box::new(punched(random, mib / 16, 70, 8, false)?));
        pinned_memory.extend(small_files(random, mib * 8)?);
    }
    Ok(pinned_memory)
}

/// Fills pipes and empties many of them: the kernel's own pages, which nothing moves.
fn pipes(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    let mut pinned_memory = PinnedMemory::new();
    let bytes = vec![1_u8; 64 << 10];
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(1024);
    for _ in 0..(mib * 16 / 6).min(descriptors as usize / 2) {
        let (reader, writer) = rustix::pipe::pipe()?;
        rustix::io::write(&writer, &bytes)?;
        pinned_memory.push(Box::new(punched(random, 1, 50, 8, false)?));
        if random.below(100) < 30 {
            pinned_memory.push(Box::new((reader, writer)));
        }
    }
    Ok(pinned_memory)
}

/// One page in each 2 MiB, and as many pages where pages are larger: every one of them takes a page table.
fn page_tables(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    let (tables, in_table) = (pages(mib) / 4, page_bytes() / size_of::<u64>());
    let mut memory = Anonymous::map(tables * in_table)?;
    memory.huge(false)?;
    (0..tables).for_each(|table| memory.touch(table * in_table));
    for table in 0..tables {
        if random.below(100) < 50 {
            memory.punch(table * in_table, 1)?;
        }
    }
    Ok(vec![Box::new(memory)])
}

/// A pool of hugetlb pages that goes back to its old size.
struct Pool(String);

const POOL: &str = "/proc/sys/vm/nr_hugepages";

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = fs::write(POOL, &self.0);
    }
}

fn hugetlb(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    let memory = punched(random, mib, 50, 4, false)?;
    let pool = Pool(fs::read_to_string(POOL)?);
    fs::write(POOL, (mib / 8).to_string())?;
    Ok(vec![Box::new(memory), Box::new(pool)])
}

/// Fills memory, and gives half of it back, but for pages that were pinned: one in `stride`.
fn with_pins(
    random: &mut Random,
    mib: usize,
    stride: usize,
    pin: impl FnOnce(&Anonymous, &[usize]) -> io::Result<PinnedMemory>,
) -> io::Result<PinnedMemory> {
    let pages = pages(mib);
    let mut memory = Anonymous::map(pages)?;
    memory.huge(false)?;
    (0..pages).for_each(|page| memory.touch(page));
    let pinned: Vec<_> = (0..pages / stride).map(|at| at * stride + random.below(stride)).collect();
    let mut pinned_memory = pin(&memory, &pinned)?;
    let mut next = pinned.into_iter().peekable();
    for page in 0..pages {
        if next.next_if_eq(&page).is_none() && random.below(100) < 50 {
            memory.punch(page, 1)?;
        }
    }
    pinned_memory.push(Box::new(memory));
    Ok(pinned_memory)
}

/// Pages that pipes refer to (`vmsplice`).
fn pinned_by_pipes(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    with_pins(random, mib, 64, |memory, pages| {
        let mut pipes = Vec::new();
        for &page in pages {
            let is_in = match pipes.last() {
                Some((_, writer)) => memory.give_to_pipe(page, writer)?,
                None => false,
            };
            if !is_in {
                let (reader, writer) = rustix::pipe::pipe()?;
                memory.give_to_pipe(page, &writer)?;
                pipes.push((reader, writer));
            }
        }
        Ok(vec![Box::new(pipes)])
    })
}

/// The most buffers that one `io_uring` takes.
const MOST_BUFFERS: usize = 1 << 14;

/// Pages that are buffers of `io_uring`.
fn pinned_by_io_uring(random: &mut Random, mib: usize, _: &Path) -> io::Result<PinnedMemory> {
    with_pins(random, mib, 64, |memory, pages| {
        let rings = pages.chunks(MOST_BUFFERS).map(|pages| memory.register(pages));
        Ok(vec![Box::new(rings.collect::<io::Result<Vec<_>>>()?)])
    })
}

fn mixed(random: &mut Random, mib: usize, folder: &Path) -> io::Result<PinnedMemory> {
    let mut pinned_memory = anonymous(random, mib / 3, folder)?;
    pinned_memory.extend(tmpfs(random, mib / 4, folder)?);
    pinned_memory.extend(mlocked(random, mib / 8, folder)?);
    pinned_memory.extend(inodes(random, mib / 8, folder)?);
    pinned_memory.extend(pipes(random, mib / 8, folder)?);
    pinned_memory.extend(page_cache(random, mib / 4, folder)?);
    Ok(pinned_memory)
}

/// Many small pieces of every kind, of which half go again.
fn shuffled(random: &mut Random, mib: usize, folder: &Path) -> io::Result<PinnedMemory> {
    let ways = [anonymous, anonymous_sparse, huge_pages, tmpfs, mlocked, inodes, pipes, page_tables];
    let mut pinned_memory = PinnedMemory::new();
    for _ in 0..mib / 32 {
        pinned_memory.extend(ways[random.below(ways.len())](random, 32, folder)?);
    }
    for _ in 0..pinned_memory.len() / 2 {
        let at = random.below(pinned_memory.len());
        pinned_memory.swap_remove(at);
    }
    Ok(pinned_memory)
}
