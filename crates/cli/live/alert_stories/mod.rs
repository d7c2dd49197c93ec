//! Stories of a machine's memory: a minute comes in, a sample of that minute goes out.

use std::collections::BTreeMap;
use std::sync::Arc;

use freehold_linux::pageblocks::{Pageblock, PageblockMap, STRIDES, Surveyed, UnmovableKind, ZonePageblocks};
use freehold_linux::procfs::{Machine, Pressure, Stall};
use freehold_linux::sample::Sample;
use freehold_linux::sensor::{FreeBlocks, Source, ZoneFreeBlocks};
use freehold_trace::{ByOrder, FreeCount, KernelTypes, Pageset, ZoneSnapshot};

/// The order of a pageblock of 2 MiB.
const PAGEBLOCK_ORDER: u8 = 9;

/// Pages of a pageblock.
const PAGES: u64 = 1 << PAGEBLOCK_ORDER;

/// Pageblocks of a machine of 8 GiB.
pub(crate) const PAGEBLOCKS: usize = 4096;

/// Pageblocks at the start of memory that the kernel fills.
const KERNELS: usize = 200;

/// Pages that stay free in each pageblock of a full machine, scattered: they are between the low watermark and the high.
const SCATTERED: u64 = 6;

/// The same where nothing can be reclaimed: they are below the min watermark.
const EXHAUSTED: u64 = 4;

/// The first minute's time, in milliseconds since 1970.
const START_MS: u64 = 1_800_000_000_000;

/// What memory is used for in one minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Use {
    /// Pages of anonymous memory.
    pub(crate) anon: u64,
    /// Pageblocks that anonymous huge pages fill.
    pub(crate) huge: usize,
    /// Pages of page cache that are dirty or mapped.
    pub(crate) busy: u64,
    /// Pages of clean page cache, if there is room.
    pub(crate) cache: u64,
    /// Pageblocks with pages of slab caches in them, beside those that the kernel fills.
    pub(crate) spoiled: usize,
    /// Counters of `/proc/vmstat`: how much each grows in the minute.
    pub(crate) counts: Vec<(&'static str, u64)>,
    /// The share of the minute in which every task waited for memory.
    pub(crate) waited: f64,
}

/// A machine of 8 GiB that takes a story's uses minute by minute.
pub(crate) struct AlertStory {
    minute: u64,
    counters: BTreeMap<String, u64>,
    waited_us: u64,
    /// The pageblocks behind the kernel's in the order in which slab caches come to them.
    shuffled: Vec<usize>,
}

impl AlertStory {
    pub(crate) fn new() -> Self {
        let mut random = Random(7);
        let mut shuffled: Vec<_> = (KERNELS..PAGEBLOCKS).collect();
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, (random.next() * (at + 1) as f64) as usize);
        }
        let counters = ["compact_stall", "compact_fail", "compact_success", "thp_fault_fallback", "pgfree"];
        let counters = counters.map(|name| (name.to_owned(), 0)).into();
        Self { minute: 0, counters, waited_us: 0, shuffled }
    }

    pub(crate) fn machine() -> Machine {
        Machine {
            kernel_release: "6.12.0-story".to_owned(),
            cpus: 4,
            page_bytes: 4096,
            memory_bytes: PAGEBLOCKS as u64 * PAGES * 4096,
            ..Machine::default()
        }
    }

    /// Returns the sample of the next minute.
    pub(crate) fn next(&mut self, of: &Use) -> Sample {
        let time_ns = self.minute * 60_000_000_000;
        self.minute += 1;
        for (name, more) in &of.counts {
            *self.counters.get_mut(*name).expect("a counter of the machine") += more;
        }
        self.waited_us += (of.waited * 60e6) as u64;
        let stall = |total_us| Stall { avg10: of.waited * 100.0, total_us, ..Stall::default() };
        let blocks = self.pageblocks(of);
        Sample {
            unix_ms: START_MS + time_ns / 1_000_000,
            free: FreeBlocks {
                source: Source::Buddyinfo,
                time_ns,
                cost_ns: 60_000,
                types_time_ns: None,
                pageblock_order: Some(PAGEBLOCK_ORDER),
                types: KernelTypes::default(),
                zones: vec![free_blocks(&blocks)],
            },
            zones: vec![zone(&blocks)],
            counters: self.counters.clone(),
            swap_pages: 0,
            pressure: Some(Pressure { some: stall(2 * self.waited_us), full: stall(self.waited_us) }),
            pageblocks: Some(Surveyed {
                map: Arc::new(PageblockMap {
                    pageblock_order: PAGEBLOCK_ORDER,
                    zones: vec![ZonePageblocks { node: 0, name: "Normal".to_owned(), start_pfn: 0, blocks }],
                }),
                first_round: None,
                round_ms: 40_000,
                types: None,
            }),
            notes: Vec::new(),
        }
    }

    fn pageblocks(&self, of: &Use) -> Vec<Pageblock> {
        let mut blocks = vec![Pageblock::default(); PAGEBLOCKS];
        for block in &mut blocks[..KERNELS] {
            block.unmovable[UnmovableKind::Kernel as usize] = (PAGES - SCATTERED) as u16;
        }
        for &at in self.shuffled.iter().take(of.spoiled) {
            blocks[at].unmovable[UnmovableKind::Slab as usize] = 12;
        }
        // Huge pages are given where nothing lies, from the end.
        let whole = self.shuffled[of.spoiled.min(self.shuffled.len())..].iter().rev().take(of.huge);
        for &at in whole {
            blocks[at].anon = PAGES as u16;
            blocks[at].whole_folio = true;
        }
        let room_in = |block: &Pageblock, scattered: u64| {
            (PAGES - scattered).saturating_sub(u64::from(block.movable() + block.stuck()))
        };
        let of_all = |scattered| blocks.iter().map(|block| room_in(block, scattered)).sum::<u64>();
        let scattered = if of.anon + of.busy > of_all(SCATTERED) { EXHAUSTED } else { SCATTERED };
        let mut room = of_all(scattered);
        let mut left = [of.anon, of.busy, of.cache];
        // Each pageblock gets of each kind what is left of it in equal parts, until all lie somewhere: a machine
        // that is not full has free pageblocks at its end.
        for block in &mut blocks {
            let here = room_in(block, scattered);
            let wanted: u64 = left.iter().sum::<u64>().max(1);
            let share = |pages: u64| (pages * here.min(wanted)).div_ceil(wanted.min(room.max(1)).max(1));
            let mut taken = 0;
            for (pages, field) in
                left.iter_mut().zip([&mut block.anon, &mut block.file_busy, &mut block.file_clean])
            {
                let more = share(*pages).min(*pages).min(here - taken);
                *field += more as u16;
                *pages -= more;
                taken += more;
            }
            room -= here;
        }
        for block in &mut blocks {
            block.free = (PAGES as u32 - block.movable() - block.stuck()) as u16;
            let found = |stride: u64| {
                if block.free == PAGES as u16 { block.free } else { block.free / stride as u16 }
            };
            block.free_strided = STRIDES.map(found);
            block.used_parts = if block.free == PAGES as u16 { 0 } else { u64::MAX };
            block.pinned_parts = u64::from(block.stuck() > 0);
        }
        blocks
    }
}

/// Free blocks as they merge: free pageblocks whole, the rest as single pages and pairs.
fn free_blocks(blocks: &[Pageblock]) -> ZoneFreeBlocks {
    let mut total = ByOrder::<FreeCount>::default();
    for block in blocks {
        let free = u64::from(block.free);
        if free == PAGES {
            total[usize::from(PAGEBLOCK_ORDER)].blocks += 1;
        } else {
            total[0].blocks += free % 2;
            total[1].blocks += free / 2;
        }
    }
    ZoneFreeBlocks { name: "Normal".to_owned(), total, ..ZoneFreeBlocks::default() }
}

fn zone(blocks: &[Pageblock]) -> ZoneSnapshot {
    let pages = blocks.len() as u64 * PAGES;
    ZoneSnapshot {
        name: "Normal".to_owned(),
        spanned: pages,
        present: pages,
        managed: pages,
        free: blocks.iter().map(|block| u64::from(block.free)).sum(),
        // What Linux computes of 8 GiB.
        watermark_min: 16_896,
        watermark_low: 21_120,
        watermark_high: 25_344,
        pagesets: (0..4)
            .map(|cpu| Pageset { cpu, count: 300, high: 2000, batch: 63, ..Pageset::default() })
            .collect(),
        ..ZoneSnapshot::default()
    }
}

/// Numbers that are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number from 0 up to 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }
}

/// Pages of so many MiB.
const fn mib(mib: u64) -> u64 {
    mib << 8
}

/// A day of a file server from its start on: page cache fills memory within hours and stays, clients write in
/// bursts, a backup at night walks all directories, and compaction fails now and then.
pub(crate) fn day_of_a_file_server() -> Vec<Use> {
    let mut random = Random(1);
    let day = |minute: u64| {
        let hour = minute as f64 / 60.0;
        let busy_day = (-((hour - 12.0) / 4.0).powi(2)).exp();
        // Dirty pages may be a fifth of what is available.
        let burst = if random.next() < 0.2 + 0.3 * busy_day { random.next() * 1400.0 } else { 40.0 };
        let backup = (minute.saturating_sub(20 * 60) as f64 / 20.0).min(1.0);
        Use {
            anon: mib(900 + (400.0 * busy_day + 60.0 * random.next()) as u64),
            huge: 20 + (20.0 * random.next()) as usize,
            busy: mib(burst as u64),
            cache: mib(300 + 40 * minute),
            spoiled: 80 + minute as usize / 10 + (500.0 * backup) as usize,
            counts: vec![
                ("compact_stall", 45),
                ("compact_fail", 40),
                ("compact_success", 4),
                ("thp_fault_fallback", 300),
                ("pgfree", 900_000),
            ],
            waited: 0.01 + 0.02 * random.next(),
        }
    };
    (0..24 * 60).map(day).collect()
}

/// A file server with a full page cache.
fn full_server(random: &mut Random) -> Use {
    Use {
        anon: mib(900 + (60.0 * random.next()) as u64),
        huge: 20,
        busy: mib(40 + (300.0 * random.next()) as u64),
        cache: mib(64 << 10),
        spoiled: 150,
        counts: vec![("compact_stall", 6), ("compact_fail", 5), ("compact_success", 1)],
        waited: 0.01,
    }
}

/// Ten hours of a file server, then a process that takes all that is left, evenly in so many hours.
pub(crate) fn leak_of_a_process(hours: u64) -> Vec<Use> {
    let mut random = Random(2);
    let (before, minutes) = (10 * 60, hours * 60);
    let leak = |minute: u64| {
        let of = full_server(&mut random);
        let share = minute.saturating_sub(before) as f64 / minutes as f64;
        Use { anon: of.anon + (share * mib(7000) as f64) as u64, ..of }
    };
    (0..before + minutes).map(leak).collect()
}

/// Ten hours of a file server, then slab objects that nobody frees come to all pageblocks in so many hours.
pub(crate) fn leak_of_slab_objects(hours: u64) -> Vec<Use> {
    let mut random = Random(3);
    let (before, minutes) = (10 * 60, hours * 60);
    let leak = |minute: u64| {
        let of = full_server(&mut random);
        let share = minute.saturating_sub(before) as f64 / minutes as f64;
        Use { huge: 0, spoiled: of.spoiled + (share * PAGEBLOCKS as f64) as usize, ..of }
    };
    (0..before + minutes).map(leak).collect()
}

/// Two calm hours, an hour in which every seven minutes processes take all huge pages for four, and half a calm hour.
pub(crate) fn hour_of_storms() -> Vec<Use> {
    let mut random = Random(4);
    let hour = |minute: u64| {
        let of = Use { cache: mib(1000), ..full_server(&mut random) };
        let storm = (120..180).contains(&minute) && (minute - 120) % 7 < 4;
        if !storm {
            return of;
        }
        // Each fault that finds no huge page tries to compact, unless that failed too lately.
        let counts = vec![
            ("compact_stall", 1300),
            ("compact_fail", 1250),
            ("compact_success", 50),
            ("thp_fault_fallback", 90_000),
        ];
        Use { huge: PAGEBLOCKS, waited: 0.08, counts, ..of }
    };
    (0..210).map(hour).collect()
}

/// Five hours of a file server, on which a database starts after two and takes six tenths of memory in ten minutes.
pub(crate) fn start_of_a_database() -> Vec<Use> {
    let mut random = Random(5);
    let start = |minute: u64| {
        let of = full_server(&mut random);
        let share = minute.saturating_sub(120).min(10) as f64 / 10.0;
        Use { anon: of.anon + (share * mib(4900) as f64) as u64, ..of }
    };
    (0..300).map(start).collect()
}
