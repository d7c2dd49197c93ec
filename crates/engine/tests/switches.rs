//! The effect of each of the four systems, in numbers that can be checked by hand.

use crate::common::{self, fixed_lists, geometry, listed, metadata, order, plain_zone, request};
use freehold::{
    Era, GfpFlags, Memory, Migratetype, NoReclaim, PerCpuSettings, Pfn, Request, Switch, Switches,
    ZoneConfig, ZoneStats,
};

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

/// Runs with two movable pageblocks of 16 pages. The second has ten movable pages in
/// use and six free ones: too few free pages for a claim by an unmovable request.
fn scarce(switches: Switches, percpu: PerCpuSettings, act: impl FnOnce(&Memory<'_, common::Host>)) {
    let zones = [ZoneConfig { percpu, ..plain_zone(0x400, 32) }];
    let config = geometry(&zones, switches, 4, 4);
    let mut bytes = metadata(&config);
    let memory = Memory::new(&config, &mut bytes).expect("valid");
    let zone = &memory.zones()[0];
    for (pfn, size) in [(0x400, 4), (0x410, 3), (0x418, 1)] {
        zone.add_allocated(Pfn(pfn), order(size), Migratetype::Movable).expect("absent frames");
    }
    zone.add_free(Pfn(0x41a), 6).expect("absent frames");
    act(&memory);
    memory.check().expect("intact");
}

fn unmovable_pages(memory: &Memory<'_, common::Host>, count: usize) -> Vec<u64> {
    (0..count)
        .map(|_| memory.alloc(request(GfpFlags::KERNEL, 0), NoReclaim).expect("a free page").0)
        .collect()
}

#[test]
fn hygiene_keeps_the_rest_of_a_stolen_block_on_its_list() {
    scarce(Era::Linux6_12.switches(), common::NO_LISTS, |memory| {
        assert_eq!(unmovable_pages(memory, 1), [0x41a]);
        let zone = &memory.zones()[0];
        assert_eq!(listed(zone, 0, Migratetype::Movable), [0x41b]);
        assert_eq!(listed(zone, 2, Migratetype::Movable), [0x41c]);
        let stats = zone.stats();
        assert_eq!((stats.claim_attempts, stats.claims, stats.steals), (2, 0, 1));
        assert_eq!((stats.hygiene_violations, stats.foreign_leaves), (0, 0));
        assert_eq!(memory.request_stats().type_mismatches, 1);
    });
}

#[test]
fn without_hygiene_free_pages_move_to_lists_of_another_type() {
    let without = Switch::Hygiene.set(Era::Linux6_12.switches(), false);
    for switches in [Era::Linux6_1.switches(), without] {
        scarce(switches, common::NO_LISTS, |memory| {
            assert_eq!(unmovable_pages(memory, 1), [0x41a]);
            let zone = &memory.zones()[0];
            // All of the pageblock's free pages moved, but the pageblock stayed movable.
            assert_eq!(zone.block_type(Pfn(0x41a)), Some(Migratetype::Movable));
            assert_eq!(listed(zone, 0, Migratetype::Unmovable), [0x41b]);
            assert_eq!(listed(zone, 2, Migratetype::Unmovable), [0x41c]);
            let stats = zone.stats();
            assert_eq!((stats.claim_attempts, stats.claims, stats.steals), (1, 0, 1));
            assert_eq!(stats.hygiene_violations, 3, "two blocks, and the half that was split off");
            assert_eq!(stats.foreign_leaves, 1, "the block that was split");
            assert_eq!(memory.request_stats().type_mismatches, 1);
        });
    }
}

#[test]
fn remembered_mode_claims_once_a_refill() {
    for (remembered, first, second) in [(true, 2, 4), (false, 5, 9)] {
        let switches = Switch::RememberedMode.set(Era::Linux7_3.switches(), remembered);
        scarce(switches, fixed_lists(3, 6), |memory| {
            assert_eq!(unmovable_pages(memory, 1), [0x41a]);
            let stats = memory.zone_stats();
            assert_eq!((stats.refills, stats.refilled_blocks, stats.steals), (1, 3, 3));
            assert_eq!(stats.claim_attempts, first, "remembered: {remembered}");
            assert_eq!(unmovable_pages(memory, 2), [0x41b, 0x41c], "the same pages either way");
            // The next refill is a new lock hold, which does not remember the level of the last.
            assert_eq!(unmovable_pages(memory, 1), [0x41d]);
            assert_eq!(memory.zones()[0].percpu_pages(0), 2);
            assert_eq!(memory.zone_stats().claim_attempts, second, "remembered: {remembered}");
        });
    }
}

/// Frees two more pages in the second pageblock of [`scarce`], so that half of it is free.
fn half_free(memory: &Memory<'_, common::Host>) {
    memory.free(0, Pfn(0x418), order(1)).expect("in use");
}

#[test]
fn claim_by_counts_matches_page_scan() {
    for claims_by_counts in [false, true] {
        let switches = Switches { claims_by_counts, ..Era::Freehold.switches() };
        scarce(switches, common::NO_LISTS, |memory| {
            unmovable_pages(memory, 1);
            let stats = memory.zone_stats();
            assert_eq!((stats.claim_attempts, stats.claims, stats.steals), (2, 0, 1));
            // The request itself touches the moved page and the rest of its split block. A scan adds a dozen frames.
            assert_eq!(stats.longest_hold_touched < 10, claims_by_counts, "{stats:?}");
        });
        scarce(switches, common::NO_LISTS, |memory| {
            half_free(memory);
            unmovable_pages(memory, 1);
            let stats = memory.zone_stats();
            assert_eq!((stats.claim_attempts, stats.claims, stats.steals), (1, 1, 0));
        });
    }
}

#[test]
fn used_first_claims_a_mixed_pageblock_less_than_half_free() {
    for (claims_used_first, claims, steals) in [(true, 1, 1), (false, 0, 2)] {
        let switches = Switches { claims_used_first, ..Era::Freehold.switches() };
        scarce(switches, common::NO_LISTS, |memory| {
            // The first unmovable page makes the movable pageblock mixed, the second request claims it.
            unmovable_pages(memory, 2);
            let stats = memory.zone_stats();
            assert_eq!((stats.claims, stats.steals), (claims, steals), "used first: {claims_used_first}");
            memory.check().expect("intact");
        });
    }
}

#[test]
fn counts_follow_stolen_and_returned_pages() {
    let switches = Switches { claims_used_first: false, ..Era::Freehold.switches() };
    scarce(switches, common::NO_LISTS, |memory| {
        // Two pages of the movable pageblock are stolen: neither free nor movable any more.
        assert_eq!(unmovable_pages(memory, 2), [0x41a, 0x41b]);
        // The returned page is free again. The next movable request gets it, so that it counts as movable.
        memory.free(0, Pfn(0x41a), order(0)).expect("in use");
        assert_eq!(memory.alloc(request(MOVABLE, 0), NoReclaim), Ok(Pfn(0x41a)));
        memory.check().expect("intact");
        // Ten of sixteen pages were movable, and four are free. With the stolen page, 4 + 1 of 16 pages suit an
        // unmovable request. After more movable pages return, 8 + 1 do.
        unmovable_pages(memory, 1);
        assert_eq!(memory.zone_stats().claims, 0);
        memory.free(0, Pfn(0x410), order(3)).expect("in use");
        memory.free(0, Pfn(0x418), order(1)).expect("in use");
        unmovable_pages(memory, 1);
        assert_eq!(memory.zone_stats().claims, 1);
    });
}

#[test]
fn counts_miss_pages_reused_from_a_cpus_list() {
    // Ten movable pages are in use and six are free. The CPU's list takes two of these at a time.
    for (claims_by_counts, claims) in [(true, 1), (false, 0)] {
        let switches = Switches { claims_by_counts, ..Era::Freehold.switches() };
        scarce(switches, fixed_lists(2, 12), |memory| {
            let stolen = unmovable_pages(memory, 2);
            for &pfn in &stolen {
                memory.free(0, Pfn(pfn), order(0)).expect("in use");
            }
            // The pages were freed to the CPU's list of the pageblock's type. Movable requests take them from there.
            for _ in &stolen {
                memory.alloc(request(MOVABLE, 0), NoReclaim).expect("a page on the list");
            }
            memory.drain_all();
            // Six pages are free now. The two reused pages count as neither free nor movable.
            memory.free(0, Pfn(0x418), order(1)).expect("in use");
            memory.drain_all();
            unmovable_pages(memory, 1);
            assert_eq!(memory.zone_stats().claims, claims, "by counts: {claims_by_counts}");
        });
    }
}

/// Runs `act` on a zone with 64 pages in use. Returns the statistics of the zone.
fn drained(
    switches: Switches,
    lists: PerCpuSettings,
    act: impl FnOnce(&Memory<'_, common::Host>),
) -> ZoneStats {
    let zones = [ZoneConfig { percpu: lists, ..plain_zone(0x400, 256) }];
    let config = geometry(&zones, switches, 4, 5);
    let mut bytes = metadata(&config);
    let memory = Memory::new(&config, &mut bytes).expect("valid");
    for pfn in [0x400, 0x420] {
        memory.zones()[0].add_allocated(Pfn(pfn), order(5), Migratetype::Movable).expect("absent frames");
    }
    memory.zones()[0].add_free(Pfn(0x440), 192).expect("absent frames");
    act(&memory);
    memory.check().expect("intact");
    memory.zone_stats()
}

/// Frees the first pages in use, `count` consecutive blocks.
fn free_in_a_row(memory: &Memory<'_, common::Host>, count: u64, size: u8) {
    for pfn in [0x400, 0x420] {
        memory.split(Pfn(pfn), order(5), order(size)).expect("in use");
    }
    for number in 0..count {
        memory.free(0, Pfn(0x400 + (number << size)), order(size)).expect("in use");
    }
}

#[test]
fn a_batched_free_holds_the_lock_for_one_batch() {
    for (batched, largest, drains) in [(true, 4, 7), (false, 28, 1)] {
        let switches = Switches { batched_free: batched, ..Era::Linux7_3.switches() };
        let stats = drained(switches, fixed_lists(4, 32), |memory| free_in_a_row(memory, 32, 0));
        assert_eq!((stats.largest_drain, stats.drains, stats.drained_pages), (largest, drains, 28));
    }
}

#[test]
fn a_batch_that_ends_inside_a_block_frees_the_block() {
    let switches = Switches { batched_free: true, ..Era::Linux7_3.switches() };
    let stats = drained(switches, fixed_lists(4, 32), |memory| free_in_a_row(memory, 8, 3));
    assert_eq!(stats.largest_drain, 8, "one block of order 3, although the batch is 4");
}

#[test]
fn a_batched_drain_holds_the_lock_for_one_batch() {
    for (batched, largest, drains) in [(true, 4, 5), (false, 20, 1)] {
        let switches = Switches { batched_drain: batched, ..Era::Linux7_3.switches() };
        let stats = drained(switches, fixed_lists(4, 32), |memory| {
            free_in_a_row(memory, 20, 0);
            assert_eq!(memory.zones()[0].percpu_pages(0), 20);
            memory.drain_all();
        });
        assert_eq!((stats.largest_drain, stats.drains, stats.drained_pages), (largest, drains, 20));
    }
}

#[test]
fn a_batched_decay_holds_the_lock_for_one_batch() {
    let lists = PerCpuSettings { batch: 4, high_min: 8, high_max: 64, flush_needs_batch: false };
    for batched in [true, false] {
        let switches = Switches { batched_decay: batched, ..Era::Linux7_3.switches() };
        let mut frees = ZoneStats::default();
        let stats = drained(switches, lists, |memory| {
            assert!(!memory.refresh(0), "the lists were never used");
            let pages = (0..60).map(|_| memory.alloc(request(MOVABLE, 0), NoReclaim).expect("free pages"));
            for pfn in pages.collect::<Vec<_>>() {
                memory.free(0, pfn, order(0)).expect("a page in use");
            }
            frees = memory.zone_stats();
            // With few pages on the lists, their bound falls by an eighth a second.
            let mut rounds = 0;
            while memory.refresh(0) {
                rounds += 1;
            }
            assert_eq!(memory.zones()[0].percpu_pages(0), 8, "the lower bound");
            assert!((10..30).contains(&rounds), "{rounds} rounds");
            assert!(!memory.refresh(0), "at the lower bound nothing is left to do");
        });
        assert_eq!(frees.drained_pages, 0, "all 60 fit");
        assert_eq!(stats.largest_drain <= 4, batched, "{}", stats.largest_drain);
        assert_eq!(stats.drained_pages, 52);
    }
}

#[test]
fn without_automatic_tuning_there_is_no_decay() {
    let stats = drained(Era::Linux6_1.switches(), fixed_lists(4, 32), |memory| {
        free_in_a_row(memory, 20, 0);
        assert!(!memory.refresh(0));
        assert_eq!(memory.zones()[0].percpu_pages(0), 20);
    });
    assert_eq!(stats.drains, 0);
}

#[test]
fn counts_match_a_walk_over_the_lists() {
    drained(Era::Freehold.switches(), fixed_lists(4, 32), |memory| {
        free_in_a_row(memory, 20, 0);
        unmovable_pages(memory, 9);
        let zone = &memory.zones()[0];
        let (walked, nodes) = zone.counts_by_walk(u64::MAX);
        let counted = zone.counts_consistent(1).expect("no writer is busy");
        assert_eq!(counted, walked);
        assert_eq!(counted, zone.counts_relaxed());
        assert!(counted.totals_agree());
        assert_eq!(counted.free_pages(), zone.free_pages());
        assert_eq!(nodes, counted.total.iter().sum::<u64>());
        assert_eq!(memory.zone_stats().nodes_walked, nodes, "only the walk visited nodes");
        let (capped, visited) = zone.counts_by_walk(1);
        assert!(capped.by_type.iter().flatten().all(|&blocks| blocks <= 1));
        assert_eq!(visited, capped.by_type.iter().flatten().sum::<u64>());
    });
}

#[test]
fn derived_total_matches_kept_total() {
    let mut seen = Vec::new();
    for derived_total in [false, true] {
        let switches = Switches { derived_total, ..Era::Freehold.switches() };
        drained(switches, fixed_lists(4, 32), |memory| {
            free_in_a_row(memory, 20, 0);
            unmovable_pages(memory, 9);
            let zone = &memory.zones()[0];
            let counts = zone.counts_relaxed();
            assert_eq!(counts.total, zone.list_lengths().total);
            assert_eq!(zone.counts_by_walk(1).0.total, counts.total, "a capped walk knows the totals");
            seen.push(counts);
        });
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn without_counts_only_a_walk_counts_by_type() {
    let without = Switch::Counts.set(Era::Freehold.switches(), false);
    for switches in [Era::Linux7_3.switches(), without] {
        drained(switches, fixed_lists(4, 32), |memory| {
            unmovable_pages(memory, 9);
            let zone = &memory.zones()[0];
            assert_eq!(zone.counts_consistent(8), None);
            let relaxed = zone.counts_relaxed();
            assert!(relaxed.by_type.iter().flatten().all(|&blocks| blocks == 0));
            assert_eq!(relaxed.total, zone.list_lengths().total, "there is nothing to derive it from");
        });
    }
    drained(Switches { counts: true, ..without }, fixed_lists(4, 32), |memory| {
        unmovable_pages(memory, 9);
        assert!(memory.zones()[0].counts_consistent(8).is_some());
    });
}

#[test]
fn counts_and_batching_do_not_change_results() {
    // Counts and batching change how long locks are held, but never the results of requests.
    let mut answers = Vec::new();
    for switch in [Switch::Counts, Switch::BatchedDraining] {
        for on in [false, true] {
            let switches = switch.set(Era::Linux7_3.switches(), on);
            drained(switches, fixed_lists(4, 12), |memory| {
                free_in_a_row(memory, 30, 0);
                let ask = |cpu| {
                    memory.alloc(Request { cpu, ..request(MOVABLE, 0) }, NoReclaim).expect("free pages")
                };
                answers.push((0..40).map(|number| ask(number % 2)).collect::<Vec<_>>());
            });
        }
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(answers[0].len(), 40);
}
