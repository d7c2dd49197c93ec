//! The engine compared with a naive model: the same results and the same lists after every step.

use crate::common::{self, Random, metadata, order};
use crate::naive::{Naive, Settings, TYPES};
use freehold::{
    Era, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, PerCpuSettings, Pfn, Request, Sections,
    Switch, Switches, Watermarks, Zone, ZoneConfig, ZoneType,
};

const KINDS: [(Migratetype, GfpFlags); TYPES] = [
    (Migratetype::Unmovable, GfpFlags::KERNEL),
    (Migratetype::Movable, GfpFlags::HIGHUSER_MOVABLE),
    (Migratetype::Reclaimable, GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE)),
];

const CPUS: u16 = 2;

/// The shape of a zone: pageblock order, largest order, first frame, pages.
type Shape = (u8, u8, u64, u64);

const SHAPES: [Shape; 4] = [(3, 5, 0x203, 300), (4, 4, 0x400, 320), (4, 5, 0x41d, 420), (9, 10, 0x3f0, 3700)];

/// Settings of per-CPU lists: batch, lower and upper bound of `high`. In order: almost no lists, two fixed, tuned.
const PERCPU: [(i64, i64, i64); 4] = [(1, 0, 0), (4, 4, 4), (3, 28, 28), (5, 12, 90)];

fn settings(shape: (u8, u8, u64, u64), percpu: (i64, i64, i64), switches: Switches) -> Settings {
    let (block_order, max_order, start, pages) = shape;
    let (batch, high_min, high_max) = percpu;
    Settings {
        start,
        end: start + pages,
        holes: &[],
        max_order,
        block_order,
        switches,
        batch,
        high_min,
        high_max,
        flush_needs_batch: start.is_multiple_of(2),
        marks: [8, 16, 40],
        managed: pages as i64,
    }
}

fn zone(set: &Settings) -> ZoneConfig {
    let [min, low, high] = set.marks.map(|mark| mark as u64);
    ZoneConfig {
        node: 0,
        kind: ZoneType::Normal,
        start: Pfn(set.start),
        spanned: set.end - set.start,
        managed: set.managed as u64,
        watermarks: Watermarks { min, low, high },
        // This reserve applies to requests that the test never makes. The check of the high watermark ignores it.
        lowmem_reserve: [0, 0, 0, 0, 0, 10_000],
        percpu: PerCpuSettings {
            batch: set.batch as u32,
            high_min: set.high_min as u32,
            high_max: set.high_max as u32,
            flush_needs_batch: set.flush_needs_batch,
        },
    }
}

struct Pair<'a, 'm> {
    memory: &'a Memory<'m, common::Host>,
    zone: &'a Zone<'m, common::Host>,
    model: Naive,
    random: Random,
    context: String,
    /// True if some blocks are requested by their addresses.
    by_address: bool,
}

impl Pair<'_, '_> {
    fn step(&mut self, number: u64) {
        let cpu = self.random.below(u64::from(CPUS)) as u16;
        let filling = number / 200 % 3 < 2;
        match self.random.below(100) {
            0 => {
                self.memory.drain_all();
                self.model.drain_all();
            }
            1..=3 => {
                self.memory.refresh(cpu);
                self.model.refresh(usize::from(cpu));
            }
            4 => {
                self.model.reclaiming = !self.model.reclaiming;
                self.zone.set_reclaim_active(self.model.reclaiming);
            }
            5..25 if self.by_address => self.alloc_at(),
            5..80 if filling => self.alloc(cpu, number),
            5..30 => self.alloc(cpu, number),
            _ => self.free(cpu),
        }
    }

    fn alloc(&mut self, cpu: u16, number: u64) {
        // Each phase has a preferred type, so that it needs more pageblocks than it has.
        let favourite = number / 100 % TYPES as u64;
        let kind =
            if self.random.below(3) > 0 { favourite } else { self.random.below(TYPES as u64) } as usize;
        let largest = u64::from(self.model.set.max_order) + 1;
        let size = match self.random.below(8) {
            0 => self.random.below(largest) as u8,
            1 | 2 => self.random.below(4.min(largest)) as u8,
            _ => 0,
        };
        let request = Request { cpu, node: 0, order: order(size), gfp: KINDS[kind].1 };
        let engine = self.memory.alloc(request, NoReclaim).ok();
        let model = self.model.alloc(usize::from(cpu), size, kind).map(Pfn);
        assert_eq!(engine, model, "{}: {request:?}", self.context);
    }

    /// Requests a block by address that may be free, on a CPU's list, in use or beyond the zone.
    fn alloc_at(&mut self) {
        let size = self.random.below(u64::from(self.model.set.max_order) + 1) as u8;
        let first = self.model.set.start & !((1 << size) - 1);
        let blocks = ((self.model.set.end - first) >> size) + 1;
        let pfn = first + (self.random.below(blocks) << size);
        let engine = self.memory.alloc_at(Pfn(pfn), order(size));
        let model = self.model.alloc_at(pfn, size);
        assert_eq!(engine.is_ok(), model, "{}: order {size} at {pfn:#x}: {engine:?}", self.context);
    }

    fn free(&mut self, cpu: u16) {
        let count = self.model.owned.len() as u64;
        if count == 0 {
            return;
        }
        let at = self.random.below(count) as usize;
        let (&pfn, &(size, _)) = self.model.owned.iter().nth(at).expect("an owned block");
        self.memory.free(cpu, Pfn(pfn), order(size)).expect("an owned block");
        self.model.free(usize::from(cpu), pfn);
    }

    fn compare(&self) {
        let context = &self.context;
        for size in 0..=self.model.set.max_order {
            for (kind, (migratetype, _)) in KINDS.into_iter().enumerate() {
                let engine = self.zone.free_list(order(size), migratetype).map(|pfn| pfn.0);
                let model = self.model.lists[usize::from(size)][kind].iter().copied();
                let (engine, model): (Vec<_>, Vec<_>) = (engine.collect(), model.collect());
                assert_eq!(engine, model, "{context}: order {size} {migratetype}");
                if self.model.has_cpu_list(size) {
                    self.compare_cpu_lists(size, kind);
                }
            }
        }
        for (block, &kind) in &self.model.types {
            let pfn = (block << self.model.set.block_order).max(self.model.set.start);
            let has_section = self.zone.section_runs().any(|run| run.contains(&Pfn(pfn)));
            if pfn < self.model.set.end {
                let expected = has_section.then_some(KINDS[kind].0);
                assert_eq!(self.zone.block_type(Pfn(pfn)), expected, "{context}: {pfn:#x}");
            }
        }
        assert_eq!(self.zone.watermark_boost() as i64, self.model.boost, "{context}");
    }

    fn compare_cpu_lists(&self, size: u8, kind: usize) {
        for cpu in 0..CPUS {
            let engine = self.zone.percpu_list(cpu, order(size), KINDS[kind].0).map(|pfn| pfn.0);
            let model = &self.model.cpus[usize::from(cpu)].lists[self.model.list_number(size, kind)];
            let (engine, model): (Vec<_>, Vec<_>) = (engine.collect(), model.iter().map(|e| e.0).collect());
            assert_eq!(engine, model, "{}: order {size} on CPU {cpu}", self.context);
        }
    }
}

fn run(name: &str, set: &Settings, seed: u64, steps: u64) {
    run_with(name, set, seed, steps, false);
}

fn run_with(name: &str, set: &Settings, seed: u64, steps: u64, by_address: bool) {
    let zones = [zone(set)];
    let present: Vec<_> = set.memory().map(|(start, end)| Pfn(start)..Pfn(end)).collect();
    let config = MemoryConfig {
        zones: &zones,
        sections: Sections { present: &present, hotplug: &[], order: order(set.max_order) },
        cpus: CPUS,
        max_order: order(set.max_order),
        pageblock_order: order(set.block_order),
        huge_pages: set.block_order < set.max_order,
        switches: set.switches,
        watermark_boost_factor: None,
    };
    let mut bytes = metadata(&config);
    let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("a valid configuration");
    for (start, end) in set.memory() {
        memory.zones()[0].add_free(Pfn(start), end - start).expect("absent frames");
    }
    let model = Naive::new(*set, usize::from(CPUS));
    let mut pair = Pair {
        memory: &memory,
        zone: &memory.zones()[0],
        model,
        random: Random::new(seed),
        context: String::new(),
        by_address,
    };
    for number in 0..steps {
        pair.context = format!("{name}, pageblock order {}, seed {seed}, step {number}", set.block_order);
        pair.compare();
        pair.step(number);
    }
    memory.check().unwrap_or_else(|broken| panic!("{name}, seed {seed}: {broken}"));
}

fn all_sets(name: &str, switches: Switches) {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        for percpu in PERCPU {
            let set = settings(shape, percpu, switches);
            run(&format!("{name}, {percpu:?}"), &set, 1 + number as u64, 1500);
        }
    }
}

#[test]
fn every_era_matches_the_model() {
    for era in Era::ALL {
        all_sets(era.name(), era.switches());
    }
}

#[test]
fn claims_by_counts_and_by_page_scan_match_the_model() {
    for claims_by_counts in [false, true] {
        for base in [Era::Linux6_12, Era::Freehold] {
            let switches = Switches { claims_by_counts, ..base.switches() };
            all_sets(&format!("{}, by counts {claims_by_counts}", base.name()), switches);
        }
    }
}

#[test]
fn hygiene_and_remembered_mode_match_the_model() {
    for base in [Era::Linux6_1, Era::Linux7_3] {
        for switch in [Switch::Hygiene, Switch::RememberedMode] {
            for on in [false, true] {
                let name = format!("{} with {} {on}", base.name(), switch.name());
                all_sets(&name, switch.set(base.switches(), on));
            }
        }
    }
}

#[test]
fn blocks_by_address_match_the_model() {
    for era in Era::ALL {
        for (number, shape) in SHAPES.into_iter().enumerate() {
            for percpu in PERCPU {
                let set = settings(shape, percpu, era.switches());
                run_with(&format!("{}, {percpu:?}", era.name()), &set, 31 + number as u64, 1500, true);
            }
        }
    }
}

/// Covers the smallest and the largest orders of a zone, pageblocks whose counts need separate places, and a start that
/// no block of the largest order can have.
#[test]
fn every_largest_order_matches_the_model() {
    let shapes = [
        (0, 0, 0x201, 90),
        (0, 3, 0x203, 200),
        (1, 1, 0x203, 200),
        (1, 12, 0x1003, 9_000),
        (11, 11, 0x1003, 9_000),
        (12, 13, 0x2803, 50_000),
        (13, 15, 0x4_0803, 150_000),
        (9, 18, 0x3_f003, 700_000),
        (18, 18, 0x3_f003, 1_400_000),
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        for era in Era::ALL {
            let set = settings(shape, PERCPU[number % PERCPU.len()], era.switches());
            run(&format!("{}, largest order {}", era.name(), shape.1), &set, 5 + number as u64, 300);
        }
    }
}

/// Covers holes between sections and within them, at the start, in the middle and before the end.
#[test]
fn zones_with_holes_match_the_model() {
    let shapes: [(Shape, &'static [(u64, u64)]); 4] = [
        ((3, 5, 0x203, 300), &[(0x219, 0x261), (0x29c, 0x301)]),
        ((4, 4, 0x400, 320), &[(0x400, 0x440), (0x450, 0x48f), (0x492, 0x52f)]),
        ((4, 5, 0x41d, 420), &[(0x421, 0x4a0), (0x4c1, 0x560)]),
        ((9, 10, 0x3f0, 13_700), &[(0x400, 0x1400), (0x1900, 0x1a00), (0x2123, 0x3800)]),
    ];
    for (number, (shape, holes)) in shapes.into_iter().enumerate() {
        for percpu in PERCPU {
            for era in Era::ALL {
                let set = Settings { holes, ..settings(shape, percpu, era.switches()) };
                let name = format!("{} with holes, {percpu:?}", era.name());
                run_with(&name, &set, 61 + number as u64, 1000, true);
            }
        }
    }
}

#[test]
fn long_lists_match_the_model() {
    // The lists have more blocks than the places of their stacks. Refills and drains move many at a time.
    for (number, percpu) in [(31, 90, 1500), (16, 600, 600), (3, 900, 1100)].into_iter().enumerate() {
        for era in Era::ALL {
            let name = format!("{} {percpu:?}", era.name());
            run(&name, &settings(SHAPES[3], percpu, era.switches()), 77 + number as u64, 2500);
        }
    }
}
