//! The kernel's text formats, byte for byte.

use crate::common::{self, all_free, config, geometry, metadata, order, plain_zone, zone};
use freehold::{
    Era, FreeCounts, GfpFlags, Memory, Migratetype, NoReclaim, Order, PAGETYPEINFO_CAP, PageTypeRows, Pfn,
    Request, ZoneType,
};

fn pagetypeinfo(era: Era, rows: PageTypeRows) -> String {
    let zones = [zone(ZoneType::Dma, 1, 1023), zone(ZoneType::Normal, 0x1000, 2048)];
    let config = config(&zones, era.switches());
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let request = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL };
    memory.alloc(request, NoReclaim).expect("a page of an empty machine");
    memory.drain_all();
    let mut text = String::new();
    memory.write_pagetypeinfo(&mut text, rows).expect("writing to a string");
    text
}

#[test]
fn pagetypeinfo_matches_the_kernels_text() {
    let expected = "\
Page block order: 9
Pages per block:  512

Free pages count per migrate type at order       0      1      2      3      4      5      6      7      8      9     10 
Node    0, zone      DMA, type    Unmovable      0      0      0      0      0      0      0      0      0      0      0 
Node    0, zone      DMA, type      Movable      1      1      1      1      1      1      1      1      1      1      0 
Node    0, zone      DMA, type  Reclaimable      0      0      0      0      0      0      0      0      0      0      0 
Node    0, zone      DMA, type   HighAtomic      0      0      0      0      0      0      0      0      0      0      0 
Node    0, zone      DMA, type      Isolate      0      0      0      0      0      0      0      0      0      0      0 
Node    0, zone   Normal, type    Unmovable      1      1      1      1      1      1      1      1      1      1      0 
Node    0, zone   Normal, type      Movable      0      0      0      0      0      0      0      0      0      0      1 
Node    0, zone   Normal, type  Reclaimable      0      0      0      0      0      0      0      0      0      0      0 
Node    0, zone   Normal, type   HighAtomic      0      0      0      0      0      0      0      0      0      0      0 
Node    0, zone   Normal, type      Isolate      0      0      0      0      0      0      0      0      0      0      0 

Number of blocks type     Unmovable      Movable  Reclaimable   HighAtomic      Isolate 
Node 0, zone      DMA            0            2            0            0            0 
Node 0, zone   Normal            2            2            0            0            0 
";
    let rows = PageTypeRows { cma: false, isolate: true };
    for era in Era::ALL {
        assert_eq!(pagetypeinfo(era, rows), expected, "{}", era.name());
    }
    assert!(pagetypeinfo(Era::Freehold, PageTypeRows::default()).contains("type          CMA      0"));
}

/// Linux stops counting a list at 100 000 blocks, and prints that number with `>` in front.
#[test]
fn pagetypeinfo_stops_at_the_cap_of_linux() {
    let zones = [plain_zone(0x400, 2 * (PAGETYPEINFO_CAP + 1))];
    // The first walks over the lists, the second reads the counts.
    for era in [Era::Linux7_3, Era::Linux7_3Counts] {
        let config = geometry(&zones, era.switches(), 9, 10);
        let mut bytes = metadata(&config);
        let memory = Memory::<common::Host>::new(&config, &mut bytes).expect("valid");
        let zone = &memory.zones()[0];
        let pages = |number: u64| (Pfn(0x400 + 2 * number), Pfn(0x401 + 2 * number));
        for (free, in_use) in (0..=PAGETYPEINFO_CAP).map(pages) {
            zone.add_free(free, 1).expect("absent frames");
            zone.add_allocated(in_use, Order::ZERO, Migratetype::Movable).expect("absent frames");
        }
        // Merges with a single page each: the row of order 0 loses a block.
        for (number, printed) in [(0, ">100000"), (1, ">100000"), (2, " 99999")] {
            let mut text = String::new();
            memory.write_pagetypeinfo(&mut text, PageTypeRows::default()).expect("writing to a string");
            let row = text.lines().find(|line| line.contains("Movable")).expect("a row");
            assert!(row.contains(&format!("Movable {printed} {number:>6} ")), "{}: {row}", era.name());
            let (_, walked) = zone.counts_by_walk(PAGETYPEINFO_CAP);
            assert_eq!(walked, (PAGETYPEINFO_CAP + 1 - number).min(PAGETYPEINFO_CAP) + number);
            memory.free(0, pages(2 * number).1, Order::ZERO).expect("in use");
            memory.drain_all();
        }
    }
}

#[test]
fn buddyinfo_matches_the_kernels_text() {
    let zones = [zone(ZoneType::Normal, 0x1000, 1027)];
    let config = config(&zones, Era::Freehold.switches());
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let mut text = String::new();
    memory.write_buddyinfo(&mut text).expect("writing to a string");
    let expected = "Node 0, zone   Normal      1      1      0      0      0      0      0      0      0      0      1 \n";
    assert_eq!(text, expected);
}

#[test]
fn fragmentation_indices_match_the_kernels_formulas() {
    let mut counts = FreeCounts::default();
    assert_eq!(counts.unusable_index(order(9)), 1000, "nothing free is all unusable");
    assert_eq!(counts.extfrag_index(order(9)), 0, "nothing free is a lack of memory");
    counts.total[0] = 1024;
    assert_eq!(counts.unusable_index(order(0)), 0);
    assert_eq!(counts.unusable_index(order(9)), 1000);
    // 1000 - (1000 + 1024 * 1000 / 512) / 1024
    assert_eq!(counts.extfrag_index(order(9)), 998);
    counts.total[9] = 2;
    assert_eq!(counts.unusable_index(order(9)), 500);
    assert_eq!(counts.extfrag_index(order(9)), -1000);
}
