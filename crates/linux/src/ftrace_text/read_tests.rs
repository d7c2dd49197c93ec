//! Lines in every spelling, intact and damaged.

use freehold::{GfpFlags, Migratetype, Order, Pfn};
use freehold_trace::PageWork;

use super::*;
use crate::ftrace_text::{MAX_LINE_BYTES, PfnRadix, open_packed, unpack};

const FTRACE: &str = "\
# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
            bash-7313    [000] .....   941.013459: mm_page_alloc: page=0000000002af01c2 pfn=0x115608 order=0 migratetype=0 gfp_flags=GFP_KERNEL_ACCOUNT|__GFP_ZERO|__GFP_COMP
     a b-[1] c-7-13    (  13) [001] d..2.   941.013550: mm_page_free: page=000000002520f3e7 pfn=0x1522c6 order=3
CPU:1 [LOST 123 EVENTS]
          <idle>-0       [001] d..2.   941.013551: sched_switch: prev_comm=mm_page_alloc: prev_pid=0
            bash-7313    [000] .....   941.013560: mm_page_alloc: page=0000000000000000 pfn=0x0 order=9 migratetype=1 gfp_flags=GFP_TRANSHUGE
            bash-7313    [000] .....   941.013561: mm_page_alloc_extfrag: page=00000000d7071c8e pfn=0x134800 alloc_order=0 fallback_order=9 pageblock_order=9 alloc_migratetype=0 fallback_migratetype=1 fragmenting=0 change_ownership=1
            bash-7313    [000] .....   941.013562: mm_page_alloc_zone_locked: page=00000000d7071c8e pfn=0x134800 order=0 migratetype=0 percpu_refill=1
            bash-7313    [000] .....   941.013563: mm_page_pcpu_drain: page=00000000d7071c8e pfn=0x134800 order=0 migratetype=4
";

const PERF: &str = "\
       perf-exec  7317 [001]   939.840360123:         kmem:mm_page_alloc: page=0x165974 pfn=0x165974 order=0 migratetype=1 gfp_flags=GFP_NOFS|__GFP_MOVABLE|0x40000000
 my task [3] 7  7317/7318 [001]   939.840361:         kmem:mm_page_free: page=0x165974 pfn=1464692 order=0
             :-1    -1 [001]   939.840362:         kmem:mm_page_free: page=0x165974 pfn=1464692 order=0
";

/// What `contrib/bpftrace/freehold.bt` prints, with a description made short.
const BPFTRACE: &str = r#"# freehold.bt 1
name: mm_page_alloc
	field:unsigned long gfp_flags;	offset:24;	size:8;	signed:0;
print fmt: "gfp_flags=%s", (REC->gfp_flags) ? __print_flags(REC->gfp_flags, "|", {( unsigned long)(( gfp_t)((((1UL))) << (3))), "__GFP_MOVABLE"}, {( unsigned long)(( gfp_t)((((1UL))) << (18))), "__GFP_COMP"}, { 0, ((void *)0) } ) : "none"
11959 [001] 55475.638950386: mm_page_alloc: pfn=0x2e37a0 order=1 migratetype=1 gfp_flags=0x40008
Lost 130 events
7 [000] 55475.338950386: mm_page_free: pfn=0x2e37a0 order=0
7 [000] 55475.738950386: mm_page_alloc: pfn=0x0 order=9 migratetype=1 gfp_flags=0x8
7 [000] 55475.738950387: mm_compaction_begin:
"#;

fn read_with(text: &str, options: &TextOptions) -> Result<(Vec<Event>, TextCounts), Error> {
    let mut events = Vec::new();
    let counts = read_text_events(Path::new("text"), &mut text.as_bytes(), options, &mut |event| {
        events.push(event);
        Ok(())
    })?;
    assert!(events.is_sorted_by_key(|e| e.time_ns));
    Ok((events, counts))
}

fn read(text: &str) -> Result<(Vec<Event>, TextCounts), Error> {
    read_with(text, &TextOptions::default())
}

#[test]
fn compaction_is_read() {
    let text = "\
     kcompactd0-37      [001] .....   941.013564: mm_compaction_begin: zone_start=0x100000 migrate_pfn=0x100000 free_pfn=0x63fe00 zone_end=0x640000, mode=sync
     kcompactd0    37 [001]   941.013565: compaction:mm_compaction_end: zone_start=0x100000 migrate_pfn=0x100000 free_pfn=0x63fe00 zone_end=0x640000, mode=sync status=contended
     kcompactd0-37      [001] .....   941.013566: mm_compaction_suitable: node=0 zone=Normal   order=-1 ret=continue
";
    let (events, counts) = read(text).unwrap();
    assert_eq!((counts.events, counts.other_lines), (2, 1));
    let kinds: Vec<_> = events.iter().map(|e| (e.pid, e.kind)).collect();
    assert_eq!(kinds, [(37, EventKind::CompactionBegin), (37, EventKind::CompactionEnd)]);
}

#[test]
fn reclaim_and_the_steps_of_compaction_are_read() {
    let lines = [
        "kcompactd0-37 [000] ..... 3.000001: mm_compaction_isolate_migratepages: range=(0x1000 ~ 0x1200) nr_scanned=512 nr_taken=32",
        "kcompactd0 37 [000] 3.000002: compaction:mm_compaction_migratepages: nr_migrated=30 nr_failed=2",
        "sh-9 [001] ..... 3.000003: mm_vmscan_direct_reclaim_begin: order=9 gfp_flags=GFP_TRANSHUGE",
        "sh 9 [001] 3.000004: vmscan:mm_vmscan_lru_shrink_inactive: nid=0 nr_scanned=32 nr_reclaimed=31 nr_dirty=0",
        "sh-9 [001] ..... 3.000005: mm_vmscan_direct_reclaim_end: nr_reclaimed=44",
        "kswapd0-5 [001] ..... 3.000006: mm_vmscan_kswapd_wake: nid=0 order=3",
        "kswapd0-5 [001] ..... 3.000007: mm_vmscan_kswapd_sleep: nid=0",
        "sh-9 [001] ..... 3.000008: test_pages_isolated: start_pfn=0x400 end_pfn=0x800 fin_pfn=0x410 ret=fail",
        "sh-9 [001] ..... 3.000009: cma_alloc_finish: name=a pfn=0x0 page=0 count=8 align=0 errorno=-12",
    ];
    let (events, counts) = read(&(lines.join("\n") + "\n")).unwrap();
    let work = |work, pages, obtained| EventKind::Work { work, pages, obtained };
    let gfp = GfpFlags::TRANSHUGE;
    let expected = [
        work(PageWork::IsolateMigratePages, 512, 32),
        work(PageWork::MigratePages, 32, 30),
        EventKind::DirectReclaimBegin { order: Order::new(9).unwrap(), gfp },
        work(PageWork::ShrinkInactive, 32, 31),
        work(PageWork::DirectReclaim, 0, 44),
        EventKind::KswapdWake { order: Order::new(3).unwrap() },
        EventKind::KswapdSleep,
        work(PageWork::TestIsolated, 1024, 16),
        work(PageWork::CmaAlloc, 8, 0),
    ];
    assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), expected);
    assert_eq!((counts.events, counts.other_lines), (9, 0));
    let damaged = read("a-1 [000] ..... 1.000001: mm_vmscan_kswapd_wake: nid=0 order=99\n").unwrap_err();
    assert!(damaged.to_string().contains("order"), "{damaged}");
}

#[test]
fn ftrace_text_is_read() {
    let (events, counts) = read(FTRACE).unwrap();
    assert_eq!((counts.lines, counts.events, counts.lost, counts.other_lines), (10, 6, 123, 3));
    let first = events[0];
    assert_eq!((first.time_ns, first.cpu, first.pid), (941_013_459_000, 0, 7313));
    let EventKind::Alloc { pfn, gfp, .. } = first.kind else { panic!("{first:?}") };
    assert_eq!(pfn, Some(Pfn(0x11_5608)));
    assert_eq!(gfp, GfpFlags::KERNEL_ACCOUNT | GfpFlags::ZERO | GfpFlags::COMP);
    let free = Event {
        time_ns: 941_013_550_000,
        cpu: 1,
        pid: 13,
        kind: EventKind::Free { pfn: Pfn(0x15_22c6), order: Order::new(3).unwrap() },
    };
    assert_eq!(events[1], free);
    assert_eq!((events[2].cpu, events[2].kind), (1, EventKind::Lost { count: 123 }));
    assert!(matches!(events[3].kind, EventKind::Alloc { pfn: None, .. }));
    assert!(matches!(events[4].kind, EventKind::ExtFrag { change_ownership: true, .. }));
    assert!(matches!(events[5].kind, EventKind::ZoneLocked { percpu_refill: true, .. }));
    assert!(matches!(events[6].kind, EventKind::PcpuDrain { migratetype: Migratetype::Cma, .. }));
}

#[test]
fn migratetypes_follow_the_machines_own_numbers() {
    let options = TextOptions {
        types: Migratetype::ALL.into_iter().filter(|&kind| kind != Migratetype::Cma).collect(),
        ..TextOptions::default()
    };
    let (events, _) = read_with(FTRACE, &options).unwrap();
    assert!(matches!(events[6].kind, EventKind::PcpuDrain { migratetype: Migratetype::Isolate, .. }));
}

#[test]
fn perf_text_is_read() {
    let (events, _) = read(PERF).unwrap();
    assert_eq!((events[0].time_ns, events[0].cpu, events[0].pid), (939_840_360_123, 1, 7317));
    let EventKind::Alloc { gfp, .. } = events[0].kind else { panic!() };
    assert_eq!(gfp, GfpFlags::NOFS | GfpFlags::MOVABLE | GfpFlags::UNKNOWN);
    assert_eq!((events[1].pid, events[2].pid), (7318, 0));
    assert_eq!(events[1].kind, EventKind::Free { pfn: Pfn(1_464_692), order: Order::ZERO });
}

#[test]
fn bpftrace_text_is_read() {
    let (events, counts) = read(BPFTRACE).unwrap();
    assert_eq!((counts.events, counts.lost, counts.other_lines), (4, 130, 4));
    let kinds: Vec<_> =
        events.iter().map(|event| (event.time_ns, event.cpu, event.pid, event.kind)).collect();
    let (movable, huge) = (Migratetype::Movable, Order::new(9).unwrap());
    let alloc = |pfn, order, gfp| EventKind::Alloc { pfn, order, migratetype: movable, gfp };
    let first = alloc(Some(Pfn(0x2e_37a0)), Order::new(1).unwrap(), GfpFlags::MOVABLE | GfpFlags::COMP);
    let expected = [
        (55_475_338_950_386, 0, 7, EventKind::Free { pfn: Pfn(0x2e_37a0), order: Order::ZERO }),
        (55_475_638_950_386, 1, 11959, first),
        (55_475_638_950_386, 0, 0, EventKind::Lost { count: 130 }),
        (55_475_738_950_386, 0, 7, alloc(None, huge, GfpFlags::MOVABLE)),
        (55_475_738_950_387, 0, 7, EventKind::CompactionBegin),
    ];
    assert_eq!(kinds, expected);
    for damaged in [BPFTRACE.replace(" : \"none\"", ""), BPFTRACE.replace("print fmt", "print")] {
        let error = read(&damaged).unwrap_err().to_string();
        assert!(error.contains("text:5:") && error.contains("BPFTRACE_MAX_CAT_BYTES"), "{error}");
    }
    assert!(read(&BPFTRACE.replace("0x40008", "GFP_KERNEL")).is_err());
}

#[test]
fn failed_allocations_have_no_frame() {
    for page in ["page=(nil) pfn=0", "page=0x0 pfn=0x0", "page=(null) pfn=0", "pfn=0"] {
        let line = format!("a-1 [000] 1.5: mm_page_alloc: {page} order=0 migratetype=0 gfp_flags=none\n");
        let (events, _) = read(&line).unwrap();
        assert!(matches!(events[0].kind, EventKind::Alloc { pfn: None, .. }), "{page}");
    }
}

#[test]
fn bare_hexadecimal_frames_are_recognised() {
    let line = |pfn: &str| format!("a-1 [000] 1.5: mm_page_free: page=1 pfn={pfn} order=0\n");
    let frames = |text: &str, radix| {
        let options = TextOptions { pfn_radix: radix, ..TextOptions::default() };
        let (events, _) = read_with(text, &options)?;
        let frame = |e: &Event| if let EventKind::Free { pfn, .. } = e.kind { pfn.0 } else { 0 };
        Ok::<_, Error>(events.iter().map(frame).collect::<Vec<_>>())
    };
    assert_eq!(frames(&(line("1f") + &line("10")), PfnRadix::Auto).unwrap(), [0x1f, 0x10]);
    assert_eq!(frames(&(line("10") + &line("0x1f")), PfnRadix::Auto).unwrap(), [10, 0x1f]);
    assert_eq!(frames(&(line("10") + &line("1f")), PfnRadix::Hex).unwrap(), [0x10, 0x1f]);
    let error = frames(&(line("10") + &line("1f")), PfnRadix::Auto).unwrap_err().to_string();
    assert!(error.contains("text:2:") && error.contains("--pfn-radix hex"), "{error}");
}

#[test]
fn damaged_lines_are_named() {
    for (from, to, expected) in [
        ("order=3", "order=x", "`order=` with a number"),
        ("order=3", "order=11", "`order=` of at most 10 (the orders"),
        ("pfn=0x1522c6", "pfn=0xzz", "`pfn=`"),
        ("pfn=0x1522c6 ", "", "a field `pfn=`"),
        ("[001] d..2.   941.013550", "[001] d..2.   941", "`task-pid [cpu]"),
        ("gfp_flags=GFP_K", "flags=GFP_K", "a field `gfp_flags=`"),
        ("migratetype=4", "migratetype=6", "`migratetype=` below 6"),
    ] {
        let error = read(&FTRACE.replacen(from, to, 1)).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
        let error = error.to_string();
        assert!(error.starts_with("text:") && error.contains(expected), "{error}");
    }
    let (_, counts) = read(&FTRACE[..FTRACE.len() - 15]).unwrap();
    assert!(counts.cut_off && counts.events == 5, "a cut last line is left out");
}

#[test]
fn time_may_go_back_a_little_only() {
    let line = |time: &str| format!("a-1 [000] {time}: mm_page_free: page=1 pfn=0x1 order=0\n");
    let (events, _) = read(&(line("1.000500") + &line("1.000100") + &line("2.0"))).unwrap();
    assert_eq!(events[0].time_ns, 1_000_100_000);
    let error = read(&(line("1.0") + &line("2.0") + &line("3.0") + &line("1.5"))).unwrap_err();
    assert!(matches!(error, Error::TimeBackwards { line: 4, back_ns: 1_500_000_000, .. }), "{error}");
}

#[test]
fn overlong_lines_are_an_error() {
    let error = read(&"x".repeat(MAX_LINE_BYTES + 1)).unwrap_err();
    assert!(error.to_string().contains("a line of at most 65536 bytes"), "{error}");
}

#[test]
fn no_text_makes_the_parser_panic() {
    let seed = 0x5eed_0002_u64;
    println!("seed {seed:#x}");
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let original: Vec<u8> = [FTRACE, PERF, BPFTRACE].concat().into_bytes();
    let pieces: [&[u8]; 10] =
        [b"[", b"]", b":", b"99999999999999999999", b"=", b"\n", b"CPU:", b"0x", b"-", b"\xff"];
    for _ in 0..5_000 {
        let mut text = original.clone();
        for _ in 0..=next() % 6 {
            let at = next() % text.len();
            match next() % 4 {
                0 => text[at] = next() as u8,
                1 => drop(text.drain(at..(at + next() % 40).min(text.len()))),
                2 => drop(text.splice(at..at, pieces[next() % pieces.len()].iter().copied())),
                _ => text.truncate(at.max(1)),
            }
            if text.is_empty() {
                text.push(b'\n');
            }
        }
        let _ = read_text_events(Path::new("text"), &mut &text[..], &TextOptions::default(), &mut |_| Ok(()));
    }
}

#[test]
fn compressed_texts_are_unpacked_and_bad_ones_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    let read_file = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let mut text = unpack(&path, open_packed(&path)?)?;
        read_text_events(&path, &mut *text, &TextOptions::default(), &mut |_| Ok(()))
    };
    let xz = |bytes: &[u8]| {
        let mut packed = liblzma::read::XzEncoder::new(bytes, 6);
        let mut all = Vec::new();
        std::io::Read::read_to_end(&mut packed, &mut all).unwrap();
        all
    };
    let zstd = |bytes: &[u8]| {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    };
    for packed in [FTRACE.as_bytes().to_vec(), xz(FTRACE.as_bytes()), zstd(FTRACE.as_bytes())] {
        assert_eq!(read_file(&packed).unwrap().events, 6);
    }
    for packed in [xz(FTRACE.as_bytes()), zstd(FTRACE.as_bytes())] {
        let cut = read_file(&packed[..packed.len() - 20]).unwrap_err();
        assert!(matches!(cut, Error::Archive { .. }), "{cut}");
        let mut damaged = packed;
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        damaged[middle + 1] ^= 0xff;
        assert!(read_file(&damaged).is_err());
    }
    let bomb = zstd(&[[b' '; 1023].as_slice(), b"\n"].concat().repeat(70 << 10));
    let error = read_file(&bomb).unwrap_err();
    assert!(error.to_string().contains("unpacks to more than 500 times"), "{error}");
}
