//! Placement rules of an embedder.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::common::{Random, config, order, plain_zone, request};
use freehold::{
    Chore, Era, FallbackRequest, GfpFlags, Memory, Migratetype, NoReclaim, Offer, Offers, Order,
    PageblockUse, Pfn, PlacementChoice, PlacementRule, Platform, Relocate, Switches, ZoneConfig,
    required_bytes,
};

/// The platform of a memory with a rule of type `R`.
struct Ruled<R>(PhantomData<R>);

impl<R: PlacementRule> Platform for Ruled<R> {
    type ZoneLock = parking_lot::RawMutex;
    type PerCpuLock = parking_lot::RawMutex;
    type Tracepoints = ();
    type Rule = R;
}

const PAGES: u64 = 512 * 40;

fn act<R: PlacementRule, T>(switches: Switches, rule: &R, act: impl FnOnce(&Memory<'_, Ruled<R>>) -> T) -> T {
    act_in(plain_zone(0x400, PAGES), switches, rule, act)
}

fn act_in<R: PlacementRule, T>(
    zone: ZoneConfig,
    switches: Switches,
    rule: &R,
    act: impl FnOnce(&Memory<'_, Ruled<R>>) -> T,
) -> T {
    let zones = [zone];
    let config = config(&zones, switches);
    let mut bytes = vec![MaybeUninit::uninit(); required_bytes::<Ruled<R>>(&config)];
    let memory = Memory::with_policy(&config, &mut bytes, &(), rule).expect("a valid machine");
    memory.zones()[0].add_free(zones[0].start, zones[0].spanned).expect("absent frames");
    act(&memory)
}

/// Freehold's own rule for claims, as an embedder would write it.
struct UsedFirst;

impl PlacementRule for UsedFirst {
    fn claim(&self, wanted: FallbackRequest, offers: Offers<'_>) -> PlacementChoice {
        let pages = 1 << wanted.pageblock_order.get();
        let immovable = wanted.migratetype != Migratetype::Movable;
        let mut partly = offers.filter(|offer| offer.order < wanted.pageblock_order);
        let found = partly.find(|offer| {
            let alike = offer.like(wanted.migratetype);
            (immovable && alike > 0 && offer.free >= pages / 8) || offer.free + alike >= pages / 2
        });
        found.map_or(PlacementChoice::AsEra, PlacementChoice::Take)
    }
}

/// Allocates and frees at random until memory is short and mixed. Returns the result of every request.
fn answers<R: PlacementRule>(memory: &Memory<'_, Ruled<R>>, seed: u64) -> Vec<Option<Pfn>> {
    let (mut random, mut in_use, mut answers) = (Random::new(seed), Vec::new(), Vec::new());
    for step in 0..60_000_u32 {
        let fills = step % 20_000 < 12_000;
        if in_use.is_empty() || random.below(100) < if fills { 62 } else { 35 } {
            let gfp =
                [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::KERNEL | GfpFlags::RECLAIMABLE]
                    [random.below(3) as usize];
            let size = [0, 0, 0, 1, 2, 3, 5][random.below(7) as usize];
            let got = memory.alloc(request(gfp, size), NoReclaim).ok();
            answers.push(got);
            in_use.extend(got.map(|pfn| (pfn, order(size))));
        } else {
            let (pfn, order) = in_use.swap_remove(random.below(in_use.len() as u64) as usize);
            memory.free(0, pfn, order).expect("a block in use");
        }
    }
    answers
}

#[test]
fn external_rule_matches_the_rule_of_the_era() {
    let own = Era::Freehold.switches();
    let without = Switches { claims_used_first: false, ..own };
    for seed in 1..=3 {
        let by_era = act(own, &(), |memory| answers(memory, seed));
        let without_rule = act(without, &(), |memory| answers(memory, seed));
        let by_rule = act(without, &UsedFirst, |memory| {
            let answers = answers(memory, seed);
            assert_eq!(memory.refused_choices().count, 0, "seed {seed}");
            memory.check().expect("every invariant holds");
            answers
        });
        assert_ne!(by_era, without_rule, "seed {seed} never needs the rule");
        assert_eq!(by_rule, by_era, "seed {seed}");
    }
}

/// A rule that consists of two closures and counts their calls.
struct LoggedRule<C, S> {
    claim: C,
    steal: S,
    calls: Cell<[u32; 2]>,
}

impl<C, S> LoggedRule<C, S> {
    fn new(claim: C, steal: S) -> Self {
        Self { claim, steal, calls: Cell::default() }
    }

    fn count(&self, which: usize) {
        let mut calls = self.calls.get();
        calls[which] += 1;
        self.calls.set(calls);
    }
}

impl<C, S> PlacementRule for LoggedRule<C, S>
where
    C: Fn(&mut dyn Iterator<Item = Offer>) -> PlacementChoice,
    S: Fn(&mut dyn Iterator<Item = Offer>) -> PlacementChoice,
{
    fn claim(&self, _: FallbackRequest, mut offers: Offers<'_>) -> PlacementChoice {
        self.count(0);
        (self.claim)(&mut offers)
    }

    fn steal(&self, _: FallbackRequest, mut offers: Offers<'_>) -> PlacementChoice {
        self.count(1);
        (self.steal)(&mut offers)
    }
}

type Choose<'c> = &'c dyn Fn(&mut dyn Iterator<Item = Offer>) -> PlacementChoice;

const AS_ERA: Choose<'_> = &|_| PlacementChoice::AsEra;

/// Fills memory with movable pages, frees some scattered pages, and makes unmovable requests.
fn pollute<R: PlacementRule>(memory: &Memory<'_, Ruled<R>>) -> Vec<Pfn> {
    let movable = request(GfpFlags::HIGHUSER_MOVABLE, 0);
    let pages: Vec<_> = core::iter::from_fn(|| memory.alloc(movable, NoReclaim).ok()).collect();
    assert!(pages.len() as u64 > PAGES / 2, "{}", pages.len());
    for pfn in pages.iter().filter(|pfn| pfn.0 % 16 < 8) {
        memory.free(0, *pfn, Order::ZERO).expect("a page in use");
    }
    memory.drain_all();
    (0..64).filter_map(|_| memory.alloc(request(GfpFlags::KERNEL, 2), NoReclaim).ok()).collect()
}

/// Fills memory with movable pages, frees few of them, and makes unmovable requests. No pageblock can be claimed.
fn steal_too<R: PlacementRule>(memory: &Memory<'_, Ruled<R>>) -> usize {
    pollute(memory);
    let movable = request(GfpFlags::HIGHUSER_MOVABLE, 0);
    while memory.alloc(movable, NoReclaim).is_ok() {}
    let page = memory.zones()[0].start().0 + PAGES / 2;
    let freed =
        (page..page + 4096).step_by(64).filter(|&pfn| memory.free(0, Pfn(pfn), Order::ZERO).is_ok()).count();
    memory.drain_all();
    let gfp = GfpFlags::KERNEL | GfpFlags::RECLAIMABLE;
    (0..freed).filter(|_| memory.alloc(request(gfp, 0), NoReclaim).is_ok()).count()
}

#[test]
fn chosen_block_is_claimed_in_unaligned_zones() {
    for era in [Era::Linux6_12, Era::Linux7_3, Era::Freehold] {
        let chosen = Cell::new(0);
        let fullest = |offers: &mut dyn Iterator<Item = Offer>| match offers.min_by_key(|offer| offer.free) {
            Some(offer) => {
                chosen.set(chosen.get() + 1);
                PlacementChoice::Take(offer)
            }
            None => PlacementChoice::AsEra,
        };
        let claim: Choose<'_> = &fullest;
        act_in(plain_zone(0x4f3, PAGES + 77), era.switches(), &LoggedRule::new(claim, AS_ERA), |memory| {
            pollute(memory);
            assert!(chosen.get() > 0, "{era:?}");
            // If a chosen pageblock could not be claimed, there would be more attempts, because the era would try
            // another.
            let stats = memory.zone_stats();
            assert_eq!([stats.claim_attempts, stats.claims], [chosen.get(); 2], "{era:?}");
            assert_eq!(memory.refused_choices().count, 0);
            memory.check().expect("every invariant holds");
        });
    }
}

#[test]
fn offers_are_ordered_and_describe_their_pageblocks() {
    let seen = RefCell::new(Vec::new());
    let look = |offers: &mut dyn Iterator<Item = Offer>| {
        seen.borrow_mut().push(offers.collect::<Vec<_>>());
        PlacementChoice::AsEra
    };
    let (claim, steal): (Choose<'_>, Choose<'_>) = (&look, AS_ERA);
    for era in [Era::Linux6_12, Era::Linux7_3, Era::Freehold] {
        seen.take();
        act(era.switches(), &LoggedRule::new(claim, steal), |memory| {
            pollute(memory);
            let seen = seen.borrow();
            let first = seen.iter().find(|offers| offers.len() > 30).expect("a choice of many");
            assert!(first.iter().map(|offer| offer.order).is_sorted_by(|one, next| one >= next), "{era:?}");
            for offer in first {
                assert_eq!(offer.migratetype, Migratetype::Movable);
                assert_eq!(offer.free + offer.movable + offer.immovable, 512, "{era:?} {offer:?}");
                assert!(offer.order.get() >= 2 && offer.free >= 200, "{era:?} {offer:?}");
            }
        });
    }
}

#[test]
fn invalid_choice_is_refused_and_the_era_decides() {
    let by_era = act(Era::Linux7_3.switches(), &(), pollute);
    let beside = |offers: &mut dyn Iterator<Item = Offer>| match offers.next() {
        Some(offer) => PlacementChoice::Take(Offer { pfn: Pfn(offer.pfn.0 + 8), ..offer }),
        None => PlacementChoice::AsEra,
    };
    let larger = |offers: &mut dyn Iterator<Item = Offer>| match offers.next() {
        Some(offer) => PlacementChoice::Take(Offer { order: offer.order.up().expect("an order"), ..offer }),
        None => PlacementChoice::AsEra,
    };
    let outside = |_: &mut dyn Iterator<Item = Offer>| {
        let (order, migratetype) = (Order::HUGE_PAGE, Migratetype::Movable);
        PlacementChoice::Take(Offer {
            pfn: Pfn(u64::MAX),
            order,
            migratetype,
            free: 0,
            movable: 0,
            immovable: 0,
        })
    };
    let bad: [Choose<'_>; 3] = [&beside, &larger, &outside];
    for (number, bad) in bad.into_iter().enumerate() {
        for (claims, rule) in [(true, LoggedRule::new(bad, AS_ERA)), (false, LoggedRule::new(AS_ERA, bad))] {
            act(Era::Linux7_3.switches(), &rule, |memory| {
                steal_too(memory);
                let refused = memory.refused_choices();
                let calls = rule.calls.get()[usize::from(!claims)];
                assert!(
                    refused.count > 0 && refused.count <= u64::from(calls),
                    "{number} {claims}: {refused:?}"
                );
                assert_eq!(refused.last == Pfn(u64::MAX), number == 2, "{refused:?}");
                memory.check().expect("every invariant holds");
            });
        }
        let rule = LoggedRule::new(bad, AS_ERA);
        act(Era::Linux7_3.switches(), &rule, |memory| {
            assert_eq!(pollute(memory), by_era, "{number}");
            let refused = memory.refused_choices();
            assert!(
                refused.count > 0 && refused.count <= u64::from(rule.calls.get()[0]),
                "{number}: {refused:?}"
            );
            assert_eq!(refused.last == Pfn(u64::MAX), number == 2, "{refused:?}");
            memory.check().expect("every invariant holds");
        });
    }
}

#[test]
fn requests_steal_without_a_claim_and_fail_without_a_steal() {
    let (nothing, smallest): (Choose<'_>, Choose<'_>) = (&|_| PlacementChoice::Nothing, &|offers| {
        offers.next().map_or(PlacementChoice::Nothing, PlacementChoice::Take)
    });
    let rule = LoggedRule::new(nothing, smallest);
    act(Era::Linux7_3.switches(), &rule, |memory| {
        assert_eq!(pollute(memory).len(), 64);
        let stats = memory.zone_stats();
        assert!(stats.claims == 0 && stats.steals > 0, "{stats:?}");
        assert!(rule.calls.get()[1] > 0);
        memory.check().expect("every invariant holds");
    });
    act(Era::Linux7_3.switches(), &LoggedRule::new(nothing, nothing), |memory| {
        assert_eq!(pollute(memory), []);
        memory.check().expect("every invariant holds");
    });
}

/// A rule that lets unmovable requests steal from movable pageblocks, and lets tidying change the type of these.
struct Tidier(Migratetype);

impl PlacementRule for Tidier {
    fn claim(&self, _: FallbackRequest, _: Offers<'_>) -> PlacementChoice {
        PlacementChoice::Nothing
    }

    fn tidies(&self) -> bool {
        true
    }

    fn chore(&self, pageblock: &PageblockUse, pages: u32) -> Chore {
        assert_eq!(pages, 512);
        let is_polluted = pageblock.migratetype == Some(Migratetype::Movable) && pageblock.allocated[0] > 0;
        if is_polluted { Chore::Retype(self.0) } else { Chore::AsEra }
    }
}

#[test]
fn tidying_rule_sets_pageblock_types() {
    for (to, refuses) in
        [(Migratetype::Unmovable, false), (Migratetype::Isolate, true), (Migratetype::Cma, true)]
    {
        act(Era::Linux7_3.switches(), &Tidier(to), |memory| {
            pollute(memory);
            let mixed = || {
                let blocks = memory.zones()[0].pageblocks();
                blocks
                    .filter(|block| block.migratetype == Some(Migratetype::Movable) && block.allocated[0] > 0)
                    .count()
            };
            let before = mixed();
            assert!(before > 0);
            memory.tidy_pageblocks(0, 0, 1000, &mut ());
            let stats = memory.zone_stats();
            assert_eq!(
                (mixed(), memory.refused_choices().count > 0),
                (if refuses { before } else { 0 }, refuses),
                "{to}"
            );
            assert_eq!(stats.retyped, if refuses { 0 } else { before as u64 });
            memory.check().expect("every invariant holds");
        });
    }
}

/// A rule that lets tidying empty movable pageblocks with few pages in use.
struct Emptier;

impl PlacementRule for Emptier {
    fn tidies(&self) -> bool {
        true
    }

    fn chore(&self, pageblock: &PageblockUse, pages: u32) -> Chore {
        let is_movable = pageblock.migratetype == Some(Migratetype::Movable);
        let [unmovable, movable, _] = pageblock.allocated;
        let is_sparse = movable > 0 && movable < pages / 4 && unmovable == 0;
        if is_movable && is_sparse { Chore::Empty } else { Chore::Nothing }
    }
}

/// An embedder that moves every page.
#[derive(Default)]
struct Moves(u64);

impl Relocate for Moves {
    fn is_movable(&mut self, _: Pfn, _: Order) -> bool {
        true
    }

    fn relocate(&mut self, _: Pfn, _: Pfn, _: Order) -> bool {
        self.0 += 1;
        true
    }
}

#[test]
fn tidying_rule_empties_pageblocks() {
    for era in Era::ALL.into_iter().filter(|era| era.switches().hygiene) {
        act(era.switches(), &Emptier, |memory| {
            let movable = request(GfpFlags::HIGHUSER_MOVABLE, 0);
            let pages: Vec<_> = core::iter::from_fn(|| memory.alloc(movable, NoReclaim).ok()).collect();
            // The upper half keeps one page of eight, the lower half seven. The free pages of the lower half come first
            // on the lists.
            let half = memory.zones()[0].start().0 + PAGES / 2;
            let upper = pages.iter().filter(|pfn| pfn.0 >= half && pfn.0 % 8 != 0);
            for pfn in upper.chain(pages.iter().filter(|pfn| pfn.0 < half && pfn.0 % 8 == 0)) {
                memory.free(0, *pfn, Order::ZERO).expect("a page in use");
            }
            memory.drain_all();
            let whole = || {
                let blocks = memory.zones()[0].pageblocks();
                blocks.filter(|block| block.free == 512).count()
            };
            let before = whole();
            let mut moves = Moves::default();
            memory.tidy_pageblocks(0, 0, 100_000, &mut moves);
            memory.drain_all();
            assert!(
                moves.0 > 0 && whole() > before,
                "{era:?}: {} moved, {before} then {} whole",
                moves.0,
                whole()
            );
            memory.check().unwrap_or_else(|broken| panic!("{era:?}: {broken:?}"));
        });
    }
}
