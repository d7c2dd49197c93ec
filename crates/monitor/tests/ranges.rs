//! Contiguous ranges: what is promised of maps that are made up, and that more work never yields less.

use freehold::Migratetype;
use freehold_linux::pageblocks::{Pageblock, PageblockMap, UnmovableKind, ZonePageblocks};
use freehold_monitor::verdict::{
    BlockRequest, Evidence, HighestZone, HolderKind, Mobility, Names, RangeRules, RangeState, Requester,
    State, Verdict, judge,
};
use freehold_trace::ZoneSnapshot;

/// Pages of a pageblock.
const PAGES: u16 = 512;

/// The order of a range: four pageblocks.
const ORDER: u8 = 11;

/// A machine with a zone of these pageblocks.
struct Machine {
    blocks: Vec<Pageblock>,
    zone: ZoneSnapshot,
    types: Option<Vec<Vec<Option<Migratetype>>>>,
    rules: RangeRules,
    names: Names,
}

impl Machine {
    fn new(blocks: Vec<Pageblock>) -> Self {
        let pages = blocks.len() as u64 * u64::from(PAGES);
        let free = blocks.iter().map(|block| u64::from(block.free)).sum();
        let zone = ZoneSnapshot {
            name: "Normal".to_owned(),
            spanned: pages,
            present: pages,
            managed: pages,
            free,
            ..ZoneSnapshot::default()
        };
        let names = Names { page_kib: 4, ..Names::default() };
        Self { blocks, zone, types: None, rules: RangeRules::default(), names }
    }

    fn verdict(&self, blocks: u64) -> Verdict {
        let zone = ZonePageblocks {
            node: 0,
            name: "Normal".to_owned(),
            start_pfn: self.zone.start_pfn / u64::from(PAGES) * u64::from(PAGES),
            blocks: self.blocks.clone(),
        };
        let map = PageblockMap { pageblock_order: 9, zones: vec![zone] };
        let evidence = Evidence {
            zones: std::slice::from_ref(&self.zone),
            free: &[],
            map: Some(&map),
            types: self.types.as_deref(),
            mobility: Mobility::default(),
            ranges: self.rules,
            compacting_cpu: None,
            bounds_lists: false,
            names: &self.names,
            slab_of: None,
            missing: &[],
        };
        judge(&evidence, &request(blocks))
    }

    fn states(&self) -> Vec<RangeState> {
        let ranges = self.verdict(1).ranges.expect("a map");
        ranges.list.iter().map(|range| range.state).collect()
    }

    /// Now, by migration, by reclaim and migration, and at most.
    fn counts(&self) -> [u64; 4] {
        let verdict = self.verdict(1);
        let supply = verdict.supply;
        [
            supply.now,
            supply.after_compaction.expect("a map"),
            supply.after_reclaim_and_compaction.expect("a map"),
            verdict.ranges.expect("a map").at_most(),
        ]
    }
}

fn request(blocks: u64) -> BlockRequest {
    BlockRequest {
        order: ORDER,
        block_bytes: 4096 << ORDER,
        contiguous: true,
        blocks,
        node: None,
        allowed_nodes: None,
        zone: None,
        highest: HighestZone::default(),
        by: Requester::default(),
    }
}

fn free() -> Pageblock {
    Pageblock { free: PAGES, ..Pageblock::default() }
}

fn anon(pages: u16) -> Pageblock {
    Pageblock { free: PAGES - pages, anon: pages, ..Pageblock::default() }
}

fn clean(pages: u16) -> Pageblock {
    Pageblock { free: PAGES - pages, file_clean: pages, ..Pageblock::default() }
}

fn unmovable(why: UnmovableKind, pages: u16) -> Pageblock {
    let mut block = Pageblock { free: PAGES - pages, ..Pageblock::default() };
    block.unmovable[why as usize] = pages;
    block
}

/// Ranges of four pageblocks, each like one of `blocks` and three free ones.
fn ranges(blocks: &[Pageblock]) -> Vec<Pageblock> {
    blocks.iter().flat_map(|&block| [free(), block, free(), free()]).collect()
}

#[test]
fn each_kind_of_page_has_its_effect() {
    use RangeState::{Free, Movable, NotSetUp, Outside, Unmovable as Stuck};
    let unevictable = Pageblock { free: 0, unevictable: PAGES, ..Pageblock::default() };
    let folio = Pageblock { free: 0, anon: PAGES, whole_folio: true, ..Pageblock::default() };
    let blocks = [
        free(),
        anon(1),
        clean(512),
        unevictable,
        folio,
        unmovable(UnmovableKind::Slab, 1),
        unmovable(UnmovableKind::PageTable, 1),
        unmovable(UnmovableKind::Kernel, 1),
        unmovable(UnmovableKind::Hugetlb, 512),
        unmovable(UnmovableKind::Offline, 1),
        unmovable(UnmovableKind::Reserved, 1),
        unmovable(UnmovableKind::Absent, 1),
        unmovable(UnmovableKind::Deferred, 512),
    ];
    let expected = [
        Free, Movable, Movable, Movable, Movable, Stuck, Stuck, Stuck, Stuck, Stuck, Outside, Outside,
        NotSetUp,
    ];
    assert_eq!(Machine::new(ranges(&blocks)).states(), expected);
}

#[test]
fn the_pages_of_a_range_need_room_elsewhere() {
    // Two ranges full of pages in use, and one that is free.
    let full = [anon(512); 4];
    let machine = Machine::new([&full[..], &full, &[free(); 4]].concat());
    assert_eq!(machine.counts(), [1, 1, 1, 3], "the free range is taken, so no room is left");
    let mut half = Machine::new([&full[..], &[anon(256); 4], &[anon(256); 4]].concat());
    assert_eq!(half.counts(), [0, 1, 1, 3], "two half-full ranges make room for half a range");
    half.zone.watermark_min = 1;
    assert_eq!(half.counts(), [0, 0, 0, 3], "the min watermark is kept");
    half.zone.watermark_min = 0;
    half.zone.protection = vec![0, 1];
    assert_eq!(half.counts(), [0, 0, 0, 3], "the lowmem reserve is kept");
}

#[test]
fn clean_page_cache_is_dropped_where_it_lies_and_elsewhere_to_make_room() {
    let full = [anon(512); 4];
    let cache = [clean(512); 4];
    let own = Machine::new([&cache[..], &full].concat());
    assert_eq!(own.counts(), [0, 1, 1, 2], "what is dropped in the range needs no room");
    let states = Machine::new(
        [&full[..], &[clean(512), clean(512), unmovable(UnmovableKind::Slab, 1), clean(512)], &cache]
            .concat(),
    );
    let states = states.states();
    assert_eq!(states, [RangeState::NoRoom, RangeState::Unmovable, RangeState::Movable]);
    let mut reclaim =
        [&full[..], &[unmovable(UnmovableKind::Slab, 1), clean(512), clean(512), clean(512)]].concat();
    reclaim.extend([clean(512), unmovable(UnmovableKind::Slab, 1), clean(512), clean(512)]);
    let machine = Machine::new(reclaim);
    assert_eq!(machine.counts(), [0, 0, 1, 1]);
    assert_eq!(machine.states()[0], RangeState::Reclaimable);
}

#[test]
fn only_whole_aligned_ranges_of_one_zone_count() {
    let mut machine = Machine::new(vec![free(); 11]);
    machine.zone.start_pfn = 3 * 512;
    assert_eq!(machine.states().len(), 2, "pageblocks 4 to 7 and 8 to 11");
    machine.zone.start_pfn = 0;
    assert_eq!(machine.states().len(), 2);
    machine.blocks.truncate(3);
    assert_eq!(machine.counts(), [0; 4]);
    let reason = machine.verdict(1).reason.join("\n");
    assert!(reason.contains("no aligned range of this size lies in one zone"), "{reason}");
}

#[test]
fn kernels_differ() {
    let blocks = ranges(&[
        free(),
        anon(1),
        unmovable(UnmovableKind::Hugetlb, 512),
        unmovable(UnmovableKind::Kernel, 3),
    ]);
    let mut machine = Machine::new(blocks);
    assert_eq!(machine.counts(), [1, 2, 2, 2]);
    machine.names.per_cpu_pages = 3;
    assert_eq!(machine.counts(), [1, 2, 2, 3], "what holds the last may be on lists");
    machine.rules.hugetlb = true;
    assert_eq!(machine.counts(), [1, 2, 2, 4], "smaller huge pages may be moved");
    machine.rules.in_use = false;
    assert_eq!(machine.counts()[..3], [1, 1, 1], "nothing in use is moved");
    machine.blocks = vec![unmovable(UnmovableKind::Hugetlb, 512); 4];
    machine.rules = RangeRules { hugetlb: true, ..RangeRules::default() };
    assert_eq!(machine.counts(), [0; 4], "a range full of huge pages is most likely one gigantic page");
}

#[test]
fn what_is_known_to_be_on_lists_is_free() {
    let mut listed = unmovable(UnmovableKind::Kernel, 3);
    listed.listed = 3;
    let mut machine = Machine::new(ranges(&[listed, anon(2), unmovable(UnmovableKind::Kernel, 3)]));
    machine.names.per_cpu_pages = 5;
    assert_eq!(machine.counts(), [1, 2, 2, 2], "two pages of unknown places are too few for the third range");
    machine.names.per_cpu_pages += 1;
    assert_eq!(machine.counts(), [1, 2, 2, 3]);
}

#[test]
fn pageblocks_of_cma_are_not_given() {
    let mut machine = Machine::new(ranges(&[free(), free()]));
    let mut types = vec![None; 8];
    types[5] = Some(Migratetype::Cma);
    types[0] = Some(Migratetype::Movable);
    machine.types = Some(vec![types]);
    assert_eq!(machine.states(), [RangeState::Free, RangeState::Unmovable]);
    let ranges = machine.verdict(2).ranges.expect("a map");
    assert_eq!(ranges.holders[0].kind, HolderKind::Kept);
}

#[test]
fn the_verdict_says_what_holds_the_others() {
    let machine = Machine::new(ranges(&[
        anon(100),
        unmovable(UnmovableKind::Slab, 7),
        unmovable(UnmovableKind::Slab, 2),
        unmovable(UnmovableKind::Kernel, 9),
    ]));
    let verdict = machine.verdict(1);
    assert_eq!(verdict.state, State::AfterCompaction);
    let reason = machine.verdict(2).reason.join("\n");
    for text in [
        "2 contiguous ranges of 8 MiB (order 11) cannot be had before memory is freed",
        "of 4 aligned ranges 1 can be emptied by migration, 3 contain pages that cannot be moved",
        "slab caches hold 2 ranges alone, with 9 pages in 2",
        "nearest to free: the range at 16 MiB (node 0, Normal), in use by slab caches (2)",
    ] {
        assert!(reason.contains(text), "no {text:?} in: {reason}");
    }
}

#[test]
fn more_work_never_yields_less() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..2000 {
        let blocks = (0..8 + random(40)).map(|_| match random(12) {
            0..5 => free(),
            5 => unmovable(UnmovableKind::Slab, 1),
            6 => unmovable(UnmovableKind::Kernel, 1),
            7..9 => anon(random(513) as u16),
            _ => clean(random(513) as u16),
        });
        let mut machine = Machine::new(blocks.collect());
        machine.zone.watermark_min = random(2000);
        machine.names.per_cpu_pages = random(3);
        let verdict = machine.verdict(1);
        let supply = verdict.supply;
        let [now, moved, both, most] = machine.counts();
        let reclaimed = supply.after_reclaim.expect("a map");
        assert!(now <= moved && moved <= both && both <= most, "round {round}: {:?}", machine.counts());
        assert!(now <= reclaimed && reclaimed <= both, "round {round}: {reclaimed} of {both}");
    }
}
