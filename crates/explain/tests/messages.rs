//! Messages that name their own reason, and listings.

use freehold_explain::{Class, Kind, Sure};

use crate::rules::{ORDER_0, ORDER_3, SIZES, explained, report};

#[test]
fn requests_that_ignore_the_marks_are_short_only_of_all_pages() {
    let urgent = ORDER_0.replace("0xcc0(GFP_KERNEL)", "0x42a20(GFP_ATOMIC|__GFP_MEMALLOC|__GFP_COMP)");
    let sizes = SIZES.replace("2048KB", "0KB");
    let (found, text) = explained(&report(&urgent, &sizes, "0 0 0 0 0 0 0 0 0 0 0"));
    assert_eq!((found.1, found.2), (Some(Class::Shortage), Sure::Certain));
    assert!(text.contains("which `__GFP_MEMALLOC` opens, is empty: Normal has 0 kB free"), "{text}");
    assert!(text.contains("short by 4 kB: 0 kB available, watermark 0 kB (no mark counts"), "{text}");
    let (_, text) = explained(&report(&urgent, &sizes, "9 0 0 0 0 0 0 0 0 0 0"));
    assert!(text.contains("Normal: fits"), "{text}");
}

#[test]
fn a_small_fragmented_zone_does_not_hide_a_short_one() {
    let zone = |name, free, min, managed| {
        format!(
            "Node 0 {name} free:{free}kB boost:0kB min:{min}kB low:{min}kB high:{min}kB reserved_highatomic:0KB present:{managed}kB managed:{managed}kB free_cma:0kB\nlowmem_reserve[]: 0 0 0\n"
        )
    };
    let blocks = |name: &str, pages| {
        format!(
            "Node 0 {name}: {pages}*4kB (UM) 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = {}kB\n",
            pages * 4
        )
    };
    let log = |dma32: u64| {
        format!(
            "task: {ORDER_3}\nCPU: 0 PID: 1 Comm: task Not tainted 5.15.0 #1\nMem-Info:\n{}{}{}{}",
            zone("DMA32", 280_000, 2000, dma32),
            zone("Normal", 8000, 65_000, 63_900_000),
            blocks("DMA32", 70_000),
            blocks("Normal", 2000)
        )
    };
    let (found, text) = explained(&log(1_860_000));
    assert_eq!(found.1, Some(Class::Shortage));
    assert!(text.starts_with("Shortage: too few pages are free. Normal"), "{text}");
    assert_eq!(explained(&log(18_600_000)).0.1, Some(Class::Fragmentation));
}

#[test]
fn a_report_that_is_cut_before_the_blocks_is_undecided() {
    let whole = report(ORDER_3, SIZES, "50000(UME) 0 0 0 0 0 0 0 0 0 0");
    let dma = "Node 0 DMA free:100kB min:40kB low:50kB high:60kB reserved_highatomic:0KB present:15992kB managed:15360kB free_cma:0kB\nlowmem_reserve[]: 0 9000 9000\n";
    let whole = whole.replace("Mem-Info:\n", &format!("Mem-Info:\n{dma}"));
    let cut = &whole[..whole.find("Node 0 Normal: ").unwrap()];
    let (found, text) = explained(cut);
    assert_eq!((found.1, found.2), (None, Sure::Undecided));
    assert!(
        text.starts_with("Undecided: the report is cut off before the free blocks of Normal. It is not short of pages (200000 kB free, watermark 2048 kB)"),
        "{text}"
    );
    assert!(text.contains("paste the rest of the report"), "{text}");
}

#[test]
fn a_listing_by_sysrq_is_of_no_failure() {
    let whole = report(ORDER_0, SIZES, "50000(UME) 0 0 0 0 0 0 0 0 0 0");
    let listing = &whole[whole.find("Mem-Info:").unwrap()..];
    for (head, words) in
        [("sysrq: Show Memory\n", "SysRq m"), ("SysRq : Show Memory\n", "SysRq m"), ("", "alone")]
    {
        let (found, text) = explained(&(head.to_owned() + listing));
        assert_eq!(found, (Kind::MemInfo, None, Sure::Undecided));
        assert!(text.contains("no request failed in this text") && text.contains(words), "{text}");
        assert!(text.contains("Normal: fits") && text.contains("Action: none"), "{text}");
    }
}

#[test]
fn per_cpu_messages_name_their_reason() {
    let message = |end: &str| {
        format!(
            "percpu: allocation failed, size=3456 align=8 atomic=0, {end}\nCPU: 4 PID: 6 Comm: modprobe Not tainted 5.15.0 #1\nCall Trace:\n pcpu_alloc.cold+0x1f/0x60\n __alloc_reserved_percpu+0x18/0x20\n load_module+0x79e/0xb80\n"
        )
    };
    for (end, what, action) in [
        ("alloc from reserved chunk failed", "static per-CPU variables of modules", "load fewer modules"),
        ("failed to populate", "no pages were free", "free memory"),
        ("failed to allocate new chunk", "no pages were free", "free memory"),
        ("no space left", "Free pages may not be what it lacked", "fewer per-CPU counters"),
    ] {
        let (_, text) = explained(&message(end));
        assert!(text.contains(what) && text.contains(action), "{end}: {text}");
        assert!(text.contains("called from load_module"), "{text}");
    }
}

#[test]
fn the_area_for_modules_has_its_own_action() {
    let vmalloc = |stack: &str, range: &str| {
        format!(
            "{range}modprobe: vmalloc error: size 20480, vm_struct allocation failed, mode:0xcc0(GFP_KERNEL), nodemask=(null)\nCPU: 0 PID: 3 Comm: modprobe Not tainted 6.1.0 #1\nCall Trace:\n{stack}"
        )
    };
    let full = "vmap allocation for size 24576 failed: use vmalloc=<size> to increase size\n";
    let (found, text) = explained(&vmalloc(" module_alloc+0x9a/0xb0\n load_module+0x6d9/0xb80\n", full));
    assert_eq!((found.1, found.2), (Some(Class::AddressSpace), Sure::Certain));
    assert!(text.contains("in the area for modules") && !text.contains("vmalloc="), "{text}");
    // A fatal signal ends the search with the same words.
    let (found, text) = explained(&vmalloc(" bpf_map_alloc+0x1/0x2\n", ""));
    assert_eq!((found.1, found.2), (Some(Class::AddressSpace), Sure::Likely));
    assert!(text.contains("raise vmalloc="), "{text}");
    for (range, is_of_modules) in [
        ("0xffffffffc0000000 - 0xffffffffff000000", true),
        ("0xffffc90000000000 - 0xffffe8ffffffffff", false),
        ("0xf0800000 - 0xff800000", false),
    ] {
        let log = format!("vmalloc_node_range for size 8192 failed: Address range restricted to {range}\n");
        assert_eq!(explained(&log).1.contains("area for modules"), is_of_modules, "{range}");
    }
}

#[test]
fn actions_name_settings_that_the_kernel_has() {
    let fragmented = report(ORDER_3, SIZES, "50000(UME) 0 0 0 0 0 0 0 0 0 0");
    assert!(explained(&fragmented).1.contains("vm.watermark_boost_factor"));
    let old = fragmented.replace("5.15.0", "4.14.322");
    assert!(!explained(&old).1.contains("vm.watermark_boost_factor"));
    let stall = old.replace("failure: order:3", "stalls for 10660ms, order:3");
    let (found, text) = explained(&stall);
    assert_eq!((found.0, found.1), (Kind::Stall, Some(Class::Fragmentation)));
    assert!(!text.contains("harmless"), "{text}");
}

#[test]
fn a_warning_of_a_request_that_must_not_fail_is_of_its_order() {
    let (found, text) =
        explained("WARNING: CPU: 1 PID: 5 at mm/page_alloc.c:3027 get_page_from_freelist+0xb4f/0x2d90\n");
    assert_eq!((found.0, found.1), (Kind::OrderWarning, None));
    assert!(text.contains("more than two pages with `__GFP_NOFAIL`"), "{text}");
    let (_, text) = explained("WARNING: CPU: 0 PID: 5 at mm/page_alloc.c:669 expand+0x1/0x2\n");
    assert!(!text.contains("order is not the reason"), "{text}");
}

#[test]
fn ranges_of_others_than_cma_are_told_apart() {
    let (found, text) = explained("alloc_contig_range: [1040000, 1080000) PFNs busy\n");
    assert_eq!((found.0, found.1), (Kind::Cma, Some(Class::Fragmentation)));
    assert!(text.contains("a range has pages in use") && text.contains("virtio-mem"), "{text}");
    let (_, text) = explained("cma: cma_alloc: linux,cma: alloc failed, req-size: 2048 pages, ret: -4\n");
    assert!(text.contains("a fatal signal ended the wait") && text.contains("Action: none"), "{text}");
}

#[test]
fn a_report_of_two_that_are_mixed_is_of_the_kernel_of_the_other() {
    let one = report(ORDER_3, SIZES, "50000(UME) 0 0 0 0 0 0 0 0 0 0");
    let other = one.replace("order:3", "order:0");
    let mixed: String =
        one.lines().zip(other.lines()).flat_map(|(one, other)| [one, "\n", other, "\n"]).collect();
    let (_, text) = explained(&mixed);
    assert_eq!(text.matches("Linux 5.15.0").count(), 2, "{text}");
    let early = format!("task: {ORDER_0}\nMem-Info:\n");
    let two = "[ 9.0] usb 1-1: new device\n".repeat(5000);
    assert!(explained(&(early.clone() + &two + &one)).1.matches("Linux 5.15.0").count() == 2);
    let several = early + &two + &one + "Linux version 6.1.0 (gcc)\n";
    assert_eq!(explained(&several).1.matches("Linux 5.15.0").count(), 1);
}

#[test]
fn a_prefix_that_is_not_known_is_no_task() {
    let log = report(ORDER_0, SIZES, "400(UME) 0 0 0 0 0 0 0 0 0 0").replacen(
        "task:",
        "the shipper of machine 7: task:",
        1,
    );
    let (_, text) = explained(&log);
    assert!(text.contains("by task;") && !text.contains("shipper"), "{text}");
}

#[test]
fn numbers_of_flags_are_decoded_or_said_not_to_be() {
    let log =
        report(&ORDER_3.replace("0xcc0(GFP_KERNEL)", "0x40dc0"), SIZES, "50000(UME) 0 0 0 0 0 0 0 0 0 0");
    let (found, text) = explained(&log);
    assert_eq!(found.2, Sure::Certain);
    assert!(text.contains("mode 0x40dc0, zones up to Normal;"), "{text}");
    let (found, text) = explained(&log.replace("5.15.0", "4.14.0"));
    assert_eq!(found.2, Sure::Likely);
    assert!(text.contains("mode 0x40dc0, flags not decoded;"), "{text}");
}
