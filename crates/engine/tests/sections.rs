//! Metadata for present memory only: a memory without tables for its holes gives the same results as one with them.

use core::ops::Range;
use std::collections::BTreeMap;

use crate::common::{
    self, Host, all_switch_sets, fixed_lists, geometry, metadata, order, plain_zone, request,
};
use crate::twins::Twins;
use freehold::{
    AllocAtError, BlockError, Era, FreeError, GfpFlags, Memory, MemoryBuilder, MemoryConfig, Migratetype,
    NoReclaim, Order, Pfn, Reclaimed, Relocate, Request, Sections, SetupError, ShrinkControl, Shrinker,
    Switches, Watermarks, ZoneConfig, ZoneType, required_bytes,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

fn range(start: u64, end: u64) -> Range<Pfn> {
    Pfn(start)..Pfn(end)
}

/// Returns the ranges of two zones. The first zone begins with a hole. The second begins in the middle of a section,
/// and ends with a hole. The longest run is neither the first nor the last. Holes within a section have tables.
fn ranges() -> Vec<Range<Pfn>> {
    let ranges = [
        (0x1233, 0x1a03),
        (0x2800, 0x2c00),
        (0x2c01, 0x4100),
        (0x7000, 0x7003),
        (0x70f0, 0x7240),
        (0x9000, 0x9c00),
        (0xa0ff, 0xb001),
        (0xe400, 0xe7ff),
    ];
    ranges.into_iter().map(|(start, end)| range(start, end)).collect()
}

fn zones() -> [ZoneConfig; 2] {
    let watermarks = Watermarks { min: 32, low: 60, high: 90 };
    let zone =
        |kind, start: u64, end: u64| ZoneConfig { watermarks, ..common::zone(kind, start, end - start) };
    [zone(ZoneType::Dma32, 0x401, 0x7123), zone(ZoneType::Normal, 0x7123, 0xf400)]
}

/// Brings the ranges into service, and sets other types for some pageblocks.
fn fill(memory: &Memory<'_, Host>, ranges: &[Range<Pfn>], block: u64) {
    for zone in memory.zones() {
        for run in zone.section_runs() {
            let first = run.start.0.next_multiple_of(block);
            let kinds = [Migratetype::Cma, Migratetype::Unmovable, Migratetype::Reclaimable];
            for (nth, kind) in kinds.into_iter().enumerate() {
                let pfn = Pfn(first + (1 + nth as u64) * block);
                if pfn.0 + block <= run.end.0 {
                    zone.set_block_type(pfn, kind).expect("nothing there yet");
                }
            }
        }
        for range in ranges {
            let (start, end) = (range.start.max(zone.start()), range.end.min(zone.end()));
            if start < end {
                zone.add_free(start, end.0 - start.0).expect("absent frames");
            }
        }
    }
}

/// An embedder that can move most blocks in use, and logs its moves.
#[derive(Default, PartialEq, Debug)]
struct Mover {
    in_use: BTreeMap<u64, Order>,
    log: Vec<(Pfn, Pfn, Order)>,
}

impl Mover {
    fn of(in_use: &[(Pfn, Order)]) -> Self {
        Self { in_use: in_use.iter().map(|&(pfn, order)| (pfn.0, order)).collect(), log: Vec::new() }
    }
}

impl Relocate for Mover {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        pfn.0 % 7 != 3 && self.in_use.get(&pfn.0) == Some(&order)
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        self.relocate_unless(to.0.is_multiple_of(31), from, to, order)
    }
}

impl Mover {
    fn relocate_unless(&mut self, refuses: bool, from: Pfn, to: Pfn, order: Order) -> bool {
        if refuses {
            return false;
        }
        assert_eq!(self.in_use.remove(&from.0), Some(order));
        assert_eq!(self.in_use.insert(to.0, order), None);
        self.log.push((from, to, order));
        true
    }
}

/// Makes calls for ranges and pageblocks on both sides.
struct Ranges {
    gone: Vec<(Pfn, u64)>,
    moved: usize,
    offlined: usize,
}

impl Ranges {
    /// Makes one call with an embedder on each side. Afterwards the same blocks are in use.
    fn with_embedders<T: PartialEq + core::fmt::Debug>(
        &mut self,
        twins: &mut Twins<'_, '_>,
        act: impl Fn(&Memory<'_, Host>, &mut Mover) -> T,
    ) -> T {
        let (mut one, mut other) = (Mover::of(&twins.in_use), Mover::of(&twins.in_use));
        let answer = act(twins.fast, &mut one);
        assert_eq!(answer, act(twins.slow, &mut other), "{}", twins.context);
        assert!(one == other, "{}: {:?}, {:?}", twins.context, one.log, other.log);
        self.moved += one.log.len();
        twins.in_use = one.in_use.into_iter().map(|(pfn, order)| (Pfn(pfn), order)).collect();
        answer
    }

    fn step(&mut self, twins: &mut Twins<'_, '_>, block: u64) {
        let (pfn, behind) = twins.some_frame();
        match twins.random.below(8) {
            0 | 1 => self.with_embedders(twins, |memory, mover| memory.tidy_pageblocks(0, 0, 300, mover)),
            2 | 3 => self.offline(twins, Pfn(pfn.0.next_multiple_of(block)), block),
            4 => self.online(twins),
            5 => {
                let size = order(twins.random.below(6) as u8);
                let at = Pfn(pfn.0 & !(size.pages() - 1));
                let done = twins.fast.alloc_at(at, size);
                assert_eq!(done, twins.slow.alloc_at(at, size), "{} {at:?} {size:?}", twins.context);
                twins.in_use.extend(done.ok().map(|()| (at, size)));
            }
            6 => {
                let pages = 1 + twins.random.below(behind.min(2 * block));
                let kind = Migratetype::Movable;
                let taken = self.with_embedders(twins, |memory, mover| {
                    memory.alloc_contig_range(pfn, pages, kind, 0, mover)
                });
                let pages = if taken.is_ok() { pages } else { 0 };
                twins.in_use.extend((0..pages).map(|number| (pfn.add(number), Order::ZERO)));
            }
            _ => self.contig_pages(twins),
        }
    }

    fn contig_pages(&mut self, twins: &mut Twins<'_, '_>) {
        let pages = 1 + twins.random.below(600);
        let any = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: MOVABLE };
        let found = self.with_embedders(twins, |memory, mover| memory.alloc_contig_pages(any, pages, mover));
        if let Ok(first) = found {
            twins.in_use.extend((0..pages).map(|number| (first.add(number), Order::ZERO)));
        }
    }

    fn offline(&mut self, twins: &mut Twins<'_, '_>, start: Pfn, block: u64) {
        let pages = block * (1 + twins.random.below(2));
        let inside = |run: Range<Pfn>| run.start <= start && start.0 + pages <= run.end.0;
        if !twins.slow.zones().iter().any(|zone| zone.section_runs().any(inside)) {
            return;
        }
        let done = self.with_embedders(twins, |memory, mover| memory.offline_range(start, pages, 0, mover));
        if done.is_ok() {
            self.offlined += 1;
            self.gone.push((start, pages));
        }
    }

    fn online(&mut self, twins: &mut Twins<'_, '_>) {
        if let Some((start, pages)) = self.gone.pop() {
            twins.both(|memory| memory.online_range(start, pages));
        }
    }
}

fn run(name: &str, switches: Switches, orders: (u8, u8), section: u8, seed: u64) -> (usize, usize) {
    let (zones, ranges) = (zones(), ranges());
    let (block, max) = orders;
    let spanned = geometry(&zones, switches, block, max);
    let sections = Sections { present: &ranges, hotplug: &[], order: order(section) };
    let sparse = MemoryConfig { sections, ..spanned };
    let (mut one, mut other) = (metadata(&spanned), metadata(&sparse));
    assert!(other.len() < one.len() * 3 / 4, "{} of {}", other.len(), one.len());
    let fast = Memory::<Host>::new(&spanned, &mut one).expect("a valid machine");
    let slow = Memory::<Host>::new(&sparse, &mut other).expect("a valid machine");
    let pages = 1 << block;
    fill_alike(&fast, &slow, &ranges, pages);
    let mut twins = Twins::new(&sparse, &fast, &slow, seed);
    let mut calls = Ranges { gone: Vec::new(), moved: 0, offlined: 0 };
    for step in 0..150 {
        twins.context = format!("{name} {orders:?} seed {seed} step {step}");
        if step % 3 == 2 {
            calls.step(&mut twins, pages);
        } else {
            twins.step(step / 60 % 3 < 2);
        }
        if step % 16 == 0 {
            twins.compare();
            twins.check();
        }
    }
    while !calls.gone.is_empty() {
        calls.online(&mut twins);
    }
    twins.empty();
    twins.compare();
    twins.check();
    assert!(twins.request_stats().allocs.iter().sum::<u64>() > 500, "{name}");
    (calls.moved, calls.offlined)
}

fn fill_alike(fast: &Memory<'_, Host>, slow: &Memory<'_, Host>, ranges: &[Range<Pfn>], block: u64) {
    fill(slow, ranges, block);
    for (zone, like) in fast.zones().iter().zip(slow.zones()) {
        for used in like.pageblocks() {
            if let Some(kind) = like.block_type(used.start) {
                zone.set_block_type(used.start, kind).expect("nothing there yet");
            }
        }
        for range in ranges {
            let (start, end) = (range.start.max(zone.start()), range.end.min(zone.end()));
            if start < end {
                zone.add_free(start, end.0 - start.0).expect("absent frames");
            }
        }
    }
}

#[test]
fn sparse_tables_match_full_tables() {
    let (mut moved, mut offlined) = (0, 0);
    for (number, (name, switches)) in all_switch_sets().into_iter().enumerate() {
        let orders = [(9, 10), (5, 7), (3, 3), (4, 10), (10, 10), (1, 4)][number % 6];
        let section = [10, 7, 4, 9, 11, 5][number / 6 % 6].max(orders.1);
        let did = run(&name, switches, orders, section, 400 + number as u64);
        (moved, offlined) = (moved + did.0, offlined + did.1);
    }
    assert!(moved > 1000 && offlined > 100, "{moved} moved, {offlined} out of service");
}

/// Three runs of sections of 128 pages.
const APART: [(u64, u64); 3] = [(0x403, 0x500), (0x600, 0x680), (0x1000, 0x10fd)];

/// Maps a frame of the contiguous zone from 0x403 on to the frame with the same index in the zone [`APART`].
fn apart(pfn: Pfn) -> Pfn {
    let hole = [(0x580, 0xa80), (0x500, 0x100)].into_iter().find(|&(from, _)| pfn.0 >= from);
    Pfn(pfn.0 + hole.map_or(0, |(_, pages)| pages))
}

/// The inverse of [`apart`].
fn together(pfn: Pfn) -> Pfn {
    let hole = [(0x1000, 0xa80), (0x600, 0x100)].into_iter().find(|&(from, _)| pfn.0 >= from);
    Pfn(pfn.0 - hole.map_or(0, |(_, pages)| pages))
}

/// A mover that decides by the frame numbers of the contiguous zone.
struct Renumbered<'m>(&'m mut Mover, fn(Pfn) -> Pfn);

impl Relocate for Renumbered<'_> {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        (self.1)(pfn).0 % 7 != 3 && self.0.in_use.get(&pfn.0) == Some(&order)
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        self.0.relocate_unless((self.1)(to).0.is_multiple_of(31), from, to, order)
    }
}

impl Shrinker<Host> for Renumbered<'_> {
    fn shrink(&mut self, _: &Memory<'_, Host>, _: ShrinkControl) -> Reclaimed {
        Reclaimed::default()
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        0
    }
}

/// The same zone twice: contiguous, and with holes between its sections.
struct Shifted<'a, 'm> {
    close: &'a Memory<'m, Host>,
    wide: &'a Memory<'m, Host>,
    in_use: Vec<(Pfn, Order)>,
    moved: usize,
    context: String,
}

impl Shifted<'_, '_> {
    fn step(&mut self, random: &mut common::Random) {
        match random.below(10) {
            0 => self.compact(random.below(2) == 0),
            1..=6 => {
                let gfp = if random.below(3) == 0 { GfpFlags::KERNEL } else { MOVABLE };
                let size = if random.below(4) == 0 { random.below(5) as u8 } else { 0 };
                let found = self.close.alloc(request(gfp, size), NoReclaim);
                assert_eq!(
                    found.map(apart),
                    self.wide.alloc(request(gfp, size), NoReclaim),
                    "{}",
                    self.context
                );
                self.in_use.extend(found.ok().map(|pfn| (pfn, order(size))));
            }
            _ if self.in_use.is_empty() => {}
            _ => {
                let (pfn, size) = self.in_use.swap_remove(random.below(self.in_use.len() as u64) as usize);
                let done = self.close.free(0, pfn, size);
                assert_eq!(done, self.wide.free(0, apart(pfn), size), "{}", self.context);
            }
        }
    }

    /// Compacts the whole zone, or as much as a request needs.
    fn compact(&mut self, whole: bool) {
        let mut movers = [Mover::of(&self.in_use), Mover::default()];
        movers[1].in_use = self.in_use.iter().map(|&(pfn, order)| (apart(pfn).0, order)).collect();
        let [one, other] = &mut movers;
        let (mut one, mut other) = (Renumbered(one, |pfn| pfn), Renumbered(other, together));
        if whole {
            self.close.compact_node(0, 0, &mut one);
            self.wide.compact_node(0, 0, &mut other);
        } else {
            let wanted = request(MOVABLE, 5);
            let found = self.close.alloc(wanted, &mut one);
            assert_eq!(found.map(apart), self.wide.alloc(wanted, &mut other), "{}", self.context);
            if let Ok(pfn) = found {
                self.close.free(0, pfn, order(5)).expect("just allocated");
                self.wide.free(0, apart(pfn), order(5)).expect("just allocated");
            }
        }
        let moves = movers[0].log.iter().map(|&(from, to, order)| (apart(from), apart(to), order));
        assert!(moves.eq(movers[1].log.iter().copied()), "{}", self.context);
        self.moved += movers[0].log.len();
        self.in_use = movers[0].in_use.iter().map(|(&pfn, &order)| (Pfn(pfn), order)).collect();
    }
}

/// Compaction treats the sections on both sides of a hole as if they were adjacent.
#[test]
fn compaction_passes_over_holes() {
    let present = APART.map(|(start, end)| range(start, end));
    let (mut moved, sets) = (0, all_switch_sets());
    let enough = 10 * sets.len();
    for (number, (name, switches)) in sets.into_iter().enumerate() {
        let (close, mut wide) = (one_zone(0x403, 0x67d - 0x403), one_zone(0x403, 0x10fd - 0x403));
        wide[0].managed = close[0].managed;
        let close = geometry(&close, switches, 4, 6);
        let sections = Sections { present: &present, hotplug: &[], order: order(7) };
        let wide = MemoryConfig { sections, ..geometry(&wide, switches, 4, 6) };
        let (mut one, mut other) = (metadata(&close), metadata(&wide));
        let close = common::all_free(&close, &mut one);
        let wide = Memory::<Host>::new(&wide, &mut other).expect("three runs");
        for run in &present {
            wide.zones()[0].add_free(run.start, run.end.0 - run.start.0).expect("absent");
        }
        let mut random = common::Random::new(900 + number as u64);
        let mut both =
            Shifted { close: &close, wide: &wide, in_use: Vec::new(), moved: 0, context: String::new() };
        for step in 0..400 {
            both.context = format!("{name}, step {step}");
            both.step(&mut random);
        }
        moved += both.moved;
        wide.check().unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    assert!(moved > enough, "{moved} moved");
}

/// The number of present pages: 16 GiB.
const PRESENT: u64 = 1 << 22;

fn one_zone(start: u64, spanned: u64) -> [ZoneConfig; 1] {
    [ZoneConfig { percpu: fixed_lists(4, 64), ..plain_zone(start, spanned) }]
}

fn sparse<'c>(zones: &'c [ZoneConfig], present: &'c [Range<Pfn>]) -> MemoryConfig<'c> {
    let sections = Sections { present, ..Sections::ALL };
    MemoryConfig { sections, ..MemoryConfig::linux(zones, 2) }
}

#[test]
fn metadata_size_follows_present_memory() {
    let dense = one_zone(0, PRESENT);
    let needed = required_bytes::<Host>(&MemoryConfig::linux(&dense, 2));
    // The span of two banks in pages, and the limit in bytes for the metadata of its sections.
    for (spanned, most) in [(1 << 28, 128 << 10), (1_u64 << 34, 4 << 20), (1 << 36, 16 << 20)] {
        let zones = one_zone(0, spanned);
        let banks = [range(0, PRESENT / 2), range(spanned - PRESENT / 2, spanned)];
        let sparse = required_bytes::<Host>(&sparse(&zones, &banks));
        assert!(sparse.abs_diff(needed) < most, "{spanned:#x}: {sparse} bytes, {needed} without holes");
    }
    // If no section is left out, the size does not change.
    let all = [range(0, PRESENT)];
    assert_eq!(required_bytes::<Host>(&sparse(&dense, &all)), needed);
}

/// The memory map of an arm64 server: banks at 2 GiB, 512 GiB and 8.5 TiB, here of 1 GiB each.
#[test]
fn distant_banks_are_one_zone() {
    let banks = [0x8_0000, 0x800_0000, 0x8800_0000].map(|start| range(start, start + (1 << 18)));
    let zones = one_zone(0x8_0000, 0x8804_0000 - 0x8_0000);
    let dense = MemoryConfig::linux(&zones, 2);
    let mut none = [];
    assert_eq!(Memory::<Host>::new(&dense, &mut none).map(|_| ()), Err(SetupError::ZoneTooLarge));
    let config = sparse(&zones, &banks);
    let mut bytes = metadata(&config);
    let memory = Memory::<Host>::new(&config, &mut bytes).expect("three banks");
    let zone = &memory.zones()[0];
    for bank in &banks {
        zone.add_free(bank.start, 1 << 18).expect("absent");
    }
    assert!(zone.section_runs().eq(banks.iter().cloned()));
    assert_eq!((zone.spanned_pages(), zone.present_pages()), (0x8804_0000 - 0x8_0000, 3 << 18));
    memory.check().expect("invariants");
    let mut in_use = Vec::new();
    while let Ok(pfn) = memory.alloc(request(MOVABLE, 10), NoReclaim) {
        in_use.push(pfn);
    }
    assert_eq!(in_use.len(), 3 << 8);
    for bank in &banks {
        assert_eq!(in_use.iter().filter(|pfn| bank.contains(pfn)).count(), 1 << 8, "{bank:?}");
    }
    for pfn in in_use {
        memory.free(0, pfn, order(10)).expect("in use");
    }
    memory.check().expect("invariants");
}

/// A span of 64 TiB with 64 MiB of memory at either end.
#[test]
fn all_calls_work_on_the_widest_span() {
    let end = 1 << 34;
    let banks = [range(0x100, 0x4000), range(end - 0x3fff, end)];
    let zones = one_zone(0x100, end - 0x100);
    let config = sparse(&zones, &banks);
    let mut bytes = metadata(&config);
    let memory = Memory::<Host>::new(&config, &mut bytes).expect("two banks");
    let zone = &memory.zones()[0];
    for bank in &banks {
        zone.add_free(bank.start, bank.end.0 - bank.start.0).expect("absent");
    }
    let any = request(MOVABLE, 0);
    let found = [0; 6].map(|_| memory.alloc_contig_pages(any, 0x1000, &mut ()).expect("free pages"));
    let low = [0x1000, 0x2000, 0x3000].map(Pfn);
    let high = [0x3000, 0x2000, 0x1000].map(|below| Pfn(end - below));
    assert_eq!((&found[..3], &found[3..]), (&low[..], &high[..]));
    memory.alloc_contig_pages(any, 0x1000, &mut ()).expect_err("all taken");
    for pfn in found {
        memory.free_contig_range(0, pfn, 0x1000).expect("in use");
    }
    memory.drain_all();
    assert_eq!(zone.free_pages(), zone.present_pages());
    memory.check().expect("invariants");
}

/// Runs with a zone of six sections of 32 pages. The second and third are a hole, the fifth may get memory later.
fn holey(act: impl Fn(&Memory<'_, Host>, Era)) {
    for era in Era::ALL {
        let zones = one_zone(0x400, 192);
        let (present, hotplug) =
            ([range(0x460, 0x480), range(0x4a0, 0x4c0), range(0x400, 0x420)], [range(0x488, 0x489)]);
        let sections = Sections { present: &present, hotplug: &hotplug, order: Order::ZERO };
        let config = MemoryConfig { sections, ..geometry(&zones, era.switches(), 4, 5) };
        let mut bytes = metadata(&config);
        let memory = Memory::<Host>::new(&config, &mut bytes).expect("three sections, and one to come");
        let zone = &memory.zones()[0];
        assert!(zone.section_runs().eq([range(0x400, 0x420), range(0x460, 0x4c0)]));
        for part in &present {
            zone.add_free(part.start, 32).expect("absent");
        }
        act(&memory, era);
        memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    }
}

#[test]
fn memory_is_added_to_hotplug_sections() {
    holey(|memory, era| {
        let zone = &memory.zones()[0];
        let managed = zone.managed_pages();
        assert_eq!(memory.free(0, Pfn(0x490), Order::ZERO), Err(FreeError::OutsideZones));
        memory.online_range(Pfn(0x480), 32).expect("room was set aside");
        assert_eq!((zone.present_pages(), zone.managed_pages()), (128, managed + 32), "{}", era.name());
        for (start, pages) in [(0x420, 32), (0x45f, 2), (0x400, 0xc0), (0x43f, 1)] {
            let refused = memory.online_range(Pfn(start), pages);
            assert_eq!(refused, Err(SetupError::NoSection), "{start:#x}");
        }
        assert_eq!(memory.online_range(Pfn(0x4bf), 2), Err(SetupError::EmptyZone));
        assert_eq!(zone.present_pages(), 128);
        memory.offline_range(Pfn(0x480), 32, 0, &mut ()).expect("free");
        memory.offline_range(Pfn(0x400), 32, 0, &mut ()).expect("free");
        memory.online_range(Pfn(0x400), 32).expect("absent");
    });
}

#[test]
fn ranges_across_a_hole_are_refused() {
    holey(|memory, era| {
        let (zone, kind) = (&memory.zones()[0], Migratetype::Movable);
        let name = era.name();
        let unmovable = Err(BlockError::Unmovable);
        for (start, pages) in [(0x400, 0x80), (0x410, 0x11), (0x41f, 0x42), (0x420, 1), (0x45f, 2)] {
            let at = Pfn(start);
            assert_eq!(
                memory.alloc_contig_range(at, pages, kind, 0, NoReclaim),
                unmovable,
                "{name} {start:#x}"
            );
            assert_eq!(memory.alloc_contig_range(at, pages, kind, 0, &mut ()), unmovable, "{name}");
            assert_eq!(zone.isolate_range(at, pages), unmovable, "{name} {start:#x}");
            assert_eq!(memory.offline_range(at, pages, 0, &mut ()), unmovable, "{name} {start:#x}");
            assert_eq!(zone.isolated_pageblocks(), 0, "{name} {start:#x}");
        }
        for pfn in [0x420, 0x43f, 0x45f].map(Pfn) {
            assert_eq!(zone.isolate_block(pfn), Err(BlockError::OutsideZone), "{name}");
            assert_eq!(memory.alloc_at(pfn, Order::ZERO), Err(AllocAtError::OutsideZones), "{name}");
            assert_eq!(memory.free(0, pfn, Order::ZERO), Err(FreeError::OutsideZones), "{name}");
            assert_eq!((zone.block_type(pfn), zone.contains(pfn)), (None, true), "{name}");
        }
        // These two are adjacent in the tables, but not in memory.
        assert_eq!(
            zone.pageblocks().map(|used| used.start.0).collect::<Vec<_>>(),
            [0x400, 0x410, 0x460, 0x470, 0x480, 0x490, 0x4a0, 0x4b0]
        );
        let found = memory.alloc_contig_pages(request(MOVABLE, 0), 33, &mut ());
        assert!(found.is_err(), "{name}: no two sections with memory lie side by side");
        memory.online_range(Pfn(0x480), 32).expect("room was set aside");
        let found = memory.alloc_contig_pages(request(MOVABLE, 0), 33, &mut ());
        assert_eq!(found, Ok(Pfn(0x462)), "{name}");
        memory.free_contig_range(0, Pfn(0x462), 33).expect("in use");
    });
}

#[test]
fn single_pages_behind_a_hole_are_freed() {
    holey(|memory, era| {
        memory.online_range(Pfn(0x480), 32).expect("room was set aside");
        let mut owner = memory.exclusive(1).expect("a CPU");
        let mut pages = vec![None; 128];
        assert_eq!(
            owner.alloc_batch(Request { cpu: 1, ..request(MOVABLE, 0) }, &mut pages),
            128,
            "{}",
            era.name()
        );
        let mut pages: Vec<_> = pages.into_iter().flatten().collect();
        pages.sort_unstable();
        owner.free_batch(Order::ZERO, &pages).expect("in use");
        assert_eq!(owner.free(Pfn(0x43f), Order::ZERO), Err(FreeError::OutsideZones));
        drop(owner);
        memory.drain_all();
        assert_eq!(memory.zones()[0].free_pages(), 128, "{}", era.name());
    });
}

#[test]
fn section_ranges_may_overlap_and_exceed_the_zone() {
    let zones = one_zone(0x400, 192);
    let set_up = |present: &[Range<Pfn>], section: u8| {
        let sections = Sections { present, hotplug: &[], order: order(section) };
        let config = MemoryConfig { sections, ..geometry(&zones, Era::Freehold.switches(), 4, 5) };
        let mut bytes = metadata(&config);
        let memory = Memory::<Host>::new(&config, &mut bytes)?;
        memory.check().expect("invariants");
        Ok(memory.zones()[0].section_runs().collect::<Vec<_>>())
    };
    // The ranges overlap, are empty or reversed, and reach beyond the zone.
    let odd = [
        range(0x300, 0x401),
        range(0x4bf, 0x900),
        range(0x4b0, 0x4bf),
        range(0x450, 0x450),
        range(0x450, 0x440),
    ];
    assert_eq!(set_up(&odd, 5), Ok(vec![range(0x400, 0x420), range(0x4a0, 0x4c0)]));
    // A section that reaches beyond the zone on both sides is not a hole.
    assert_eq!(set_up(&odd[..1], 18), Ok(vec![range(0x400, 0x4c0)]));
    assert_eq!(set_up(&[range(0x300, 0x400), range(0x4c0, u64::MAX)], 5), Err(SetupError::EmptyZone));
    // Numbers at the limits of their types.
    let huge = [ZoneConfig { start: Pfn(1), spanned: u64::MAX - 1, ..zones[0] }];
    let everything = [range(0, u64::MAX)];
    let config = sparse(&huge, &everything);
    assert_eq!(required_bytes::<Host>(&config), usize::MAX);
    assert_eq!(Memory::<Host>::new(&config, &mut []).map(|_| ()), Err(SetupError::ZoneTooLarge));
    let one_page = [range(u64::MAX - 3, u64::MAX)];
    let sparse_huge = sparse(&huge, &one_page);
    assert_eq!(Memory::<Host>::new(&sparse_huge, &mut []).map(|_| ()), Err(SetupError::ZoneTooLarge));
}

#[test]
fn builder_needs_no_metadata_for_holes() {
    let far = [range(0x100, 0x2100), range(0x4000_0000, 0x4000_2000)];
    let near = [range(0x100, 0x2100), range(0x2100, 0x4100)];
    let (far, near) = (MemoryBuilder::new(&far, 2), MemoryBuilder::new(&near, 2));
    // A hole saves metadata only for whole sections of 2^15 frames.
    assert!(far.required_bytes::<Host>() < near.required_bytes::<Host>() + (400 << 10) + (4 << 15));
    let mut bytes = vec![core::mem::MaybeUninit::uninit(); far.required_bytes::<Host>()];
    let memory = far.build::<Host>(&mut bytes).expect("two ranges");
    assert_eq!(memory.zones()[0].present_pages(), 0x4000);
    memory.check().expect("invariants");
}
