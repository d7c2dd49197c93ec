//! Pageblocks read from files like the kernel's.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use freehold_linux::Error;
use freehold_linux::pageblocks::{
    Charge, PageblockMap, PageblockReader, PerCpuFrames, Unflagged, UnmovableKind, pageblock_order,
    read_charges, read_pageblocks, recount_listed,
};
use freehold_linux::procfs::{
    parse_allocinfo, parse_slabinfo, parse_vmallocinfo, read_hugetlb_pools, read_kpageflags, read_slabinfo,
    read_vmallocinfo,
};
use freehold_trace::{FrameUse, ZoneSnapshot};

use crate::roots::random;

const BUDDY: u64 = 1 << 10;
const LRU: u64 = 1 << 5;
const SLAB: u64 = 1 << 7;
const NOPAGE: u64 = 1 << 20;

fn threads(count: usize) -> NonZero<usize> {
    NonZero::new(count).unwrap()
}

/// A folder with the files of a machine whose pageblocks have 2 MiB.
fn machine(words: &[u64]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::create_dir_all(folder.path().join("proc")).unwrap();
    fs::write(folder.path().join("proc/kpageflags"), bytes).unwrap();
    folder
}

fn write(root: &Path, name: &str, text: &str) {
    let path: PathBuf = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn zone(name: &str, start_pfn: u64, spanned: u64) -> ZoneSnapshot {
    let name = name.to_owned();
    ZoneSnapshot { name, start_pfn, spanned, present: spanned, managed: spanned, ..ZoneSnapshot::default() }
}

/// Words of many pageblocks, no two alike.
fn words(pages: u64) -> Vec<u64> {
    (0..pages).map(|pfn| [BUDDY, LRU, SLAB, BUDDY][(pfn.wrapping_mul(pfn >> 9) % 4) as usize]).collect()
}

fn sums(map: &PageblockMap) -> (u64, u64, u64) {
    let blocks = map.zones.iter().flat_map(|zone| &zone.blocks);
    blocks.fold((0, 0, 0), |(free, movable, stuck), block| {
        (free + u64::from(block.free), movable + u64::from(block.movable()), stuck + u64::from(block.stuck()))
    })
}

#[test]
fn however_it_is_read_it_is_the_same() {
    let words = words(300 * 512);
    let root = machine(&words);
    let zones = [zone("DMA", 1, 4095), zone("Normal", 4096, 296 * 512 - 4096 + 100)];
    let one = read_pageblocks(root.path(), &zones, Unflagged::NONE, threads(1)).unwrap();
    assert_eq!(one, read_pageblocks(root.path(), &zones, Unflagged::NONE, threads(3)).unwrap());
    let mut reader = PageblockReader::open(root.path(), &zones).unwrap();
    assert_eq!(reader.map(&zones).unmovable_pages(UnmovableKind::Absent), 297 * 512, "nothing is read yet");
    let mut steps = 0;
    while reader.advance(10_000, Unflagged::NONE).unwrap().0 == 0 {
        steps += 1;
    }
    assert!(steps > 2, "{steps}");
    assert_eq!(reader.map(&zones), one);
    let uses = read_kpageflags(root.path(), &zones).unwrap();
    let pages =
        |used_for| uses.iter().filter(|run| run.used_for == used_for).map(|run| run.pages).sum::<u64>();
    let (free, movable, stuck) = sums(&one);
    assert_eq!((free, movable), (pages(FrameUse::Free), pages(FrameUse::Movable)));
    assert_eq!(one.unmovable_pages(UnmovableKind::Slab), pages(FrameUse::Slab));
    assert_eq!(free + movable + stuck, 297 * 512);
}

#[test]
fn cut_and_damaged_files_are_read_as_far_as_they_go() {
    let words = words(4 * 512);
    let root = machine(&words);
    let path = root.path().join("proc/kpageflags");
    let whole = fs::read(&path).unwrap();
    let zones = [zone("Normal", 0, 4 * 512)];
    for cut in [0, 1, 7, 8, 512 * 8 + 3, 3 * 512 * 8] {
        fs::write(&path, &whole[..cut]).unwrap();
        let map = read_pageblocks(root.path(), &zones, Unflagged::NONE, threads(2)).unwrap();
        assert_eq!(map.unmovable_pages(UnmovableKind::Absent), 4 * 512 - cut as u64 / 8, "cut at {cut}");
    }
    let mut random = random(0x5eed_0009);
    let mut next = move || random.u64(..);
    for _ in 0..50 {
        let garbage: Vec<u8> = (0..4 * 512).flat_map(|_| (next() & next()).to_le_bytes()).collect();
        fs::write(&path, garbage).unwrap();
        let strange =
            [zone("Normal", next() % 600, next() % 5000), zone("Movable", next() % 5000, next() % 900)];
        let map = read_pageblocks(root.path(), &strange, Unflagged::NONE, threads(2)).unwrap();
        let (free, movable, stuck) = sums(&map);
        let blocks: usize = map.zones.iter().map(|zone| zone.blocks.len()).sum();
        assert_eq!(free + movable + stuck, blocks as u64 * 512, "every page is something");
    }
}

#[test]
fn what_is_missing_is_named() {
    let root = tempfile::tempdir().unwrap();
    let error = read_pageblocks(root.path(), &[], Unflagged::NONE, threads(1)).unwrap_err();
    assert!(matches!(error, Error::NoKpageflags { .. }), "{error}");
    assert!(read_slabinfo(root.path()).unwrap_err().to_string().contains("slabinfo"));
    assert!(read_vmallocinfo(root.path()).unwrap_err().to_string().contains("vmallocinfo"));
    assert_eq!(read_hugetlb_pools(root.path()).unwrap(), []);
}

#[test]
fn pools_and_the_order_of_a_pageblock_are_read() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(pageblock_order(root.path()), 10, "without huge pages it is the largest");
    write(root.path(), "proc/meminfo", "MemTotal: 9 kB\nHugepagesize:       2048 kB\n");
    assert_eq!(pageblock_order(root.path()), 9);
    write(root.path(), "proc/meminfo", "Hugepagesize: much kB\n");
    assert_eq!(pageblock_order(root.path()), 10);
    let pool = |name: &str, number: &str| {
        write(root.path(), &format!("sys/kernel/mm/hugepages/hugepages-2048kB/{name}"), number);
    };
    for (name, number) in [
        ("nr_hugepages", "7\n"),
        ("free_hugepages", "3"),
        ("resv_hugepages", "1"),
        ("surplus_hugepages", "0"),
    ] {
        pool(name, number);
    }
    write(root.path(), "sys/kernel/mm/hugepages/other", "");
    let pools = read_hugetlb_pools(root.path()).unwrap();
    assert_eq!((pools.len(), pools[0].page_kib, pools[0].pages, pools[0].free), (1, 2048, 7, 3));
    pool("free_hugepages", "");
    assert!(read_hugetlb_pools(root.path()).unwrap_err().to_string().contains("free_hugepages"));
}

#[test]
fn damaged_lists_of_holders_are_errors_and_no_panics() {
    let slabs = "slabinfo - version: 2.1\n# name <active_objs>\ndentry 40000 42000 192 21 1 : tunables 0 0 0 : \
                 slabdata 2000 2000 0\nkmalloc-64 1 2 64 64 1 : tunables 0 0 0 : slabdata 9 9 0\n";
    let areas =
        "0x0000000015a3b667-0x00000000c682998a   20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4\n";
    let mut random = random(0x5eed_000a);
    let mut next = move || random.usize(..);
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/linux-7.3-alloc-profiling/proc/allocinfo");
    let sites = &fs::read_to_string(fixture).unwrap();
    for text in [slabs, areas, sites] {
        for _ in 0..500 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=next() % 4 {
                let at = next() % bytes.len();
                bytes[at] = b"9 -:,\nx=("[next() % 9];
            }
            bytes.truncate(next() % bytes.len());
            let damaged = format!("{}\n", String::from_utf8_lossy(&bytes));
            let _ = parse_slabinfo(&damaged);
            let _ = parse_vmallocinfo(&damaged);
            let _ = parse_allocinfo(&damaged);
        }
    }
    let huge = format!(
        "slabinfo - version: 2.1\nx {0} {0} 1 1 {0} : tunables 0 0 0 : slabdata {0} {0} 0\n",
        u64::MAX
    );
    assert_eq!(parse_slabinfo(&huge).unwrap()[0].pages, u64::MAX);
}

#[test]
fn pages_that_were_on_lists_before_or_after_the_reading_count() {
    let mut all = vec![BUDDY; 3 * 512];
    all[5..9].fill(0);
    all[512 + 7] = 0;
    all[1024..1030].fill(SLAB);
    let root = machine(&all);
    let zones = [zone("Normal", 0, 3 * 512)];
    let mut listed = PerCpuFrames::new([(5, 0)]);
    let mut map =
        read_pageblocks(root.path(), &zones, Unflagged { listed: &listed, ..Unflagged::NONE }, threads(1))
            .unwrap();
    let counts =
        |map: &PageblockMap| map.zones[0].blocks.iter().map(|block| block.listed).collect::<Vec<_>>();
    assert_eq!(counts(&map), [1, 0, 0]);
    // Two that were added later, and one that has become a slab's.
    listed.extend(PerCpuFrames::new([(6, 1), (512 + 7, 0), (1024, 0)]));
    recount_listed(root.path(), &mut map, &listed).unwrap();
    assert_eq!(counts(&map), [3, 1, 0]);
    fs::remove_file(root.path().join("proc/kpageflags")).unwrap();
    assert!(recount_listed(root.path(), &mut map, &listed).is_err());
}

#[test]
fn memory_that_is_missing_is_not_read() {
    // Three memory blocks of 128 MiB; in the second one the words would say free pages.
    let per_block = 64 * 512;
    let mut all = words(3 * per_block);
    all[per_block as usize..2 * per_block as usize].fill(BUDDY);
    let root = machine(&all);
    let zones = [ZoneSnapshot { present: 2 * per_block, ..zone("Normal", 0, 3 * per_block) }];
    let read = || read_pageblocks(root.path(), &zones, Unflagged::NONE, threads(2)).unwrap();
    assert_eq!(read().unmovable_pages(UnmovableKind::Absent), 0);
    write(root.path(), "sys/devices/system/memory/block_size_bytes", "8000000\n");
    assert_eq!(
        read().unmovable_pages(UnmovableKind::Absent),
        0,
        "a kernel that tells of no block tells nothing"
    );
    write(root.path(), "sys/devices/system/memory/memory0/state", "online\n");
    write(root.path(), "sys/devices/system/memory/memory2/state", "online\n");
    let skipped = read();
    assert_eq!(skipped.unmovable_pages(UnmovableKind::Absent), per_block);
    all[per_block as usize..2 * per_block as usize].fill(NOPAGE);
    let bytes: Vec<u8> = all.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(root.path().join("proc/kpageflags"), bytes).unwrap();
    fs::remove_dir_all(root.path().join("sys/devices")).unwrap();
    assert_eq!(read(), skipped, "as if every word had been read");
}

#[test]
fn of_hugetlb_pages_one_word_a_pageblock_is_read() {
    const HEAD: u64 = 1 << 15;
    const TAIL: u64 = 1 << 16;
    const HUGE: u64 = 1 << 17;
    let mut all = words(100 * 512);
    // Ten pages of 2 MiB, and one of 1 GiB cut short.
    for block in (20..30).chain([60]) {
        all[block * 512..(block + 1) * 512].fill(HUGE | TAIL);
        all[block * 512] = HUGE | HEAD;
    }
    all[61 * 512..70 * 512].fill(HUGE | TAIL);
    let root = machine(&all);
    let zones = [zone("Normal", 0, 100 * 512)];
    let read = || read_pageblocks(root.path(), &zones, Unflagged::NONE, threads(2)).unwrap();
    let every_word = read();
    assert_eq!(every_word.unmovable_pages(UnmovableKind::Hugetlb), 20 * 512);
    write(root.path(), "proc/meminfo", "MemTotal: 204800 kB\n");
    let pool = |kib: u64, pages: &str| {
        for name in ["nr_hugepages", "free_hugepages", "resv_hugepages", "surplus_hugepages"] {
            write(root.path(), &format!("sys/kernel/mm/hugepages/hugepages-{kib}kB/{name}"), pages);
        }
    };
    pool(2048, "20");
    assert_eq!(read(), every_word);
    // What is not read is unknown.
    all[20 * 512 + 1] = BUDDY;
    let bytes: Vec<u8> = all.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(root.path().join("proc/kpageflags"), bytes).unwrap();
    assert_eq!(read(), every_word);
    pool(64, "1");
    assert_eq!(
        read().unmovable_pages(UnmovableKind::Hugetlb),
        20 * 512 - 1,
        "smaller hugetlb pages may fill a part"
    );
    pool(64, "0");
    pool(2048, "1");
    assert_eq!(read().unmovable_pages(UnmovableKind::Hugetlb), 20 * 512 - 1, "too few to look for");
}

#[test]
fn the_kernels_own_pages_are_charged_to_cgroups() {
    use std::os::unix::fs::MetadataExt;

    const PAGE_TABLE: u64 = 1 << 26;
    let mut words = vec![LRU; 3 * 512];
    words[5] = PAGE_TABLE;
    words[6] = PAGE_TABLE;
    words[700] = PAGE_TABLE;
    words[701] = 0;
    let root = machine(&words);
    write(root.path(), "sys/fs/cgroup/memory/pods/web/tasks", "");
    let web = fs::metadata(root.path().join("sys/fs/cgroup/memory/pods/web")).unwrap().ino();
    // LRU pages are charged too, but compaction moves them.
    let mut inodes = vec![web; 3 * 512];
    inodes[701] = u64::MAX;
    let bytes: Vec<u8> = inodes.iter().flat_map(|inode| inode.to_ne_bytes()).collect();
    fs::write(root.path().join("proc/kpagecgroup"), bytes).unwrap();
    let map =
        read_pageblocks(root.path(), &[zone("Normal", 0, 3 * 512)], Unflagged::NONE, threads(1)).unwrap();
    let charge = |cgroup: &str, pages, pageblocks| Charge { cgroup: cgroup.to_owned(), pages, pageblocks };
    let expected = [charge("/pods/web", 3, 2), charge(&format!("inode {}", u64::MAX), 1, 1)];
    assert_eq!(read_charges(root.path(), &map, |_| true).unwrap(), expected);
    assert_eq!(read_charges(root.path(), &map, |zone| zone.name == "Elsewhere").unwrap(), []);
    fs::remove_file(root.path().join("proc/kpagecgroup")).unwrap();
    assert!(read_charges(root.path(), &map, |_| true).unwrap_err().to_string().contains("kpagecgroup"));
}
