//! Files of real kernels, and of other kernels' formats.

use std::path::{Path, PathBuf};

use freehold::{GfpFlags, Migratetype, Order, Pfn};
use freehold_linux::Error;
use freehold_linux::procfs::{Occupancy, read_allocinfo, read_buddyinfo, snapshot};
use freehold_linux::tracefs::{Decoded, Decoder, Detail, PageLayout};
use freehold_trace::{EventKind, KernelTypes};

fn root(kernel: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kernel)
}

#[test]
fn snapshots_of_every_format_are_read() {
    for kernel in ["linux-5.15", "linux-6.12-cma", "linux-6.18"] {
        let snapshot = snapshot(&root(kernel), Occupancy::Skip).unwrap();
        let names: Vec<_> = snapshot.zones.iter().map(|z| z.name.as_str()).collect();
        assert_eq!(names, ["DMA", "DMA32", "Normal"], "{kernel}: zones without memory are left out");
        let dma = &snapshot.zones[0];
        assert_eq!((dma.start_pfn, dma.spanned, dma.present, dma.managed), (1, 4095, 3998, 3840));
        assert_eq!(dma.pagesets.len(), 2);
        assert_eq!(snapshot.pagetypeinfo.pageblock_order, 9);
        assert_eq!(snapshot.pagetypeinfo.zones.len(), 3);
        assert_eq!(snapshot.sysctl["lowmem_reserve_ratio"], "256 256 32 0 0");
        assert!(snapshot.vmstat.contains_key("pgfree") && !snapshot.vmstat.contains_key("nr_dirty"));
        let free = &snapshot.pagetypeinfo.zones[1].free;
        let blocks: u64 = free.iter().map(|orders| orders[10].blocks).sum();
        assert_eq!(read_buddyinfo(&root(kernel)).unwrap()[1].free[10], blocks, "{kernel}");
    }
}

#[test]
fn formats_differ_where_they_should() {
    let [old, cma, new] = ["linux-5.15", "linux-6.12-cma", "linux-6.18"]
        .map(|kernel| snapshot(&root(kernel), Occupancy::Skip).unwrap());
    assert_eq!(old.zones[0].watermark_promo, 0);
    assert_eq!(old.zones[0].pagesets[0].high_max, old.zones[0].pagesets[0].high);
    assert_eq!((new.zones[0].pagesets[0].high_min, new.zones[0].pagesets[0].high_max), (6, 240));
    assert_eq!((new.zones[0].watermark_min, new.zones[0].watermark_promo), (10, 19));
    assert_eq!((cma.zones[0].boost, cma.zones[0].watermark_min, cma.zones[0].cma), (4, 6, 16384));
    assert_eq!(new.pagetypeinfo.types, of_codes([0, 1, 2, 3, 5]));
    assert_eq!(cma.pagetypeinfo.types, of_codes([0, 1, 2, 3, 4, 5]));
    let movable = &cma.pagetypeinfo.zones[2].free[Migratetype::Movable.index()];
    assert!(movable[0].capped && !movable[1].capped);
    assert_eq!(movable[0].blocks, 100_000);
}

#[test]
fn memory_in_use_by_code_is_read() {
    let sites = read_allocinfo(&root("linux-7.3-alloc-profiling")).unwrap().unwrap();
    assert_eq!(sites.len(), 469);
    assert_eq!(sites.iter().map(|site| site.bytes).sum::<u64>(), 244_629_648);
    assert!(sites.is_sorted_by(|one, other| one.bytes >= other.bytes));
    let of = |function: &str| sites.iter().find(|site| site.function == function).unwrap();
    let pipe = of("anon_pipe_get_page");
    assert_eq!((pipe.file.as_str(), pipe.line, pipe.calls, pipe.is_accurate), ("fs/pipe.c", 204, 4800, true));
    assert_eq!(of("alloc_thread_stack_node").bytes, 650 << 14);
    let inaccurate = sites.iter().filter(|site| !site.is_accurate).map(|site| site.function.as_str());
    assert_eq!(
        inaccurate.collect::<Vec<_>>(),
        ["alloc_slab_page", "__pud_alloc", "alloc_page_ext", "alloc_slab_page"]
    );
    assert_eq!(read_allocinfo(&root("linux-7.3")).unwrap(), None);
}

#[test]
fn what_is_missing_is_named() {
    let error = snapshot(&root("linux-6.18"), Occupancy::Read).unwrap_err();
    assert!(matches!(error, Error::NoKpageflags { .. }), "{error}");
    assert!(error.to_string().contains("--no-occupancy"));
    let error = snapshot(&root("no-such-kernel"), Occupancy::Skip).unwrap_err();
    assert!(error.to_string().contains("pagetypeinfo"), "{error}");
}

fn of_codes<const N: usize>(codes: [u8; N]) -> KernelTypes {
    codes.into_iter().map(|code| Migratetype::new(code).unwrap()).collect()
}

fn decoder(types: &KernelTypes) -> Decoder {
    let folder = root("linux-6.18").join("events/kmem");
    let read = |name: &&'static str| {
        (*name, std::fs::read_to_string(folder.join(format!("{name}.format"))).unwrap())
    };
    let formats: Vec<_> = Detail::Lists.events().iter().map(read).collect();
    Decoder::new(&formats, types, Order::MAX_PAGE_ORDER).unwrap()
}

/// Bytes of an event `mm_page_alloc` of 6.18.
fn alloc(pfn: u64, order: u32, gfp: u64, migratetype: i32) -> Vec<u8> {
    let mut event = Vec::from(653_u16.to_ne_bytes());
    event.extend([0, 0]);
    event.extend(77_i32.to_ne_bytes());
    event.extend(pfn.to_ne_bytes());
    event.extend(order.to_ne_bytes());
    event.extend([0; 4]);
    event.extend(gfp.to_ne_bytes());
    event.extend(migratetype.to_ne_bytes());
    event
}

#[test]
fn events_are_decoded_by_their_formats() {
    let decoder = decoder(&of_codes([0, 1, 2, 3, 5]));
    let Decoded::Event(raw) = decoder.decode(&alloc(0x1234, 3, 0xcc0 | 1 << 18, 4)) else { panic!() };
    assert_eq!(raw.pid, 77);
    let expected = EventKind::Alloc {
        pfn: Some(Pfn(0x1234)),
        order: Order::new(3).unwrap(),
        migratetype: Migratetype::Isolate,
        gfp: GfpFlags::KERNEL | GfpFlags::COMP,
    };
    assert_eq!(raw.kind, expected, "this kernel has no CMA: 4 is Isolate");
    let Decoded::Event(raw) = decoder.decode(&alloc(u64::MAX, 0, 1 << 40, 1)) else { panic!() };
    assert!(matches!(raw.kind, EventKind::Alloc { pfn: None, gfp: GfpFlags::UNKNOWN, .. }));
    assert_eq!(decoder.decode(&alloc(1, 11, 0, 0)), Decoded::Unreadable);
    assert_eq!(decoder.decode(&alloc(1, 0, 0, 5)), Decoded::Unreadable);
    assert_eq!(decoder.decode(&alloc(1, 0, 0, 0)[..30]), Decoded::Unreadable);
    assert_eq!(decoder.decode(&[]), Decoded::Unreadable);
    assert_eq!(decoder.decode(&[0xff; 64]), Decoded::Foreign);
}

#[test]
fn the_page_layout_is_read() {
    let text = std::fs::read_to_string(root("linux-6.18").join("events/header_page")).unwrap();
    assert_eq!(PageLayout::parse(&text).unwrap().page_bytes(), 4096);
}

#[test]
fn damaged_files_are_errors_and_no_panics() {
    use freehold_linux::procfs::{parse_buddyinfo, parse_pagetypeinfo, parse_vmstat, parse_zoneinfo};
    let seed = 0x5eed_0003_u64;
    println!("seed {seed:#x}");
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for name in ["zoneinfo", "pagetypeinfo", "buddyinfo", "vmstat"] {
        let text = std::fs::read_to_string(root("linux-6.18").join("proc").join(name)).unwrap();
        for _ in 0..300 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=next() % 4 {
                let at = next() % bytes.len();
                bytes[at] = b"9 -:,\nx>("[next() % 9];
            }
            bytes.truncate(next() % bytes.len());
            let damaged = String::from_utf8_lossy(&bytes);
            let _ = parse_zoneinfo(&damaged);
            let _ = parse_pagetypeinfo(&damaged);
            let _ = parse_buddyinfo(&damaged);
            let _ = parse_vmstat(&damaged);
        }
    }
}
