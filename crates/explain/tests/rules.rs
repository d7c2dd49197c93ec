//! Reports that strangers' logs have, each with the answer that a maintainer would give.

use freehold_explain::{Answer, Class, Kind, Log, Sure};

pub(crate) fn explained(log: &str) -> ((Kind, Option<Class>, Sure), String) {
    let log = Log::read(log.as_bytes()).unwrap();
    let answer = Answer::new(&log).expect("a report");
    let text = answer.text();
    assert!(text.split("\n\n").all(|part| part.lines().count() <= 20), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    ((answer.kind(), answer.class(), answer.sure()), flat)
}

/// A request in a machine with one zone. `zone` is the line of sizes behind `free:`, `blocks` the counts from 4 kB up.
pub(crate) fn report(header: &str, zone: &str, blocks: &str) -> String {
    let sizes: Vec<String> = blocks
        .split(' ')
        .enumerate()
        .map(|(order, row)| match row.split_once('(') {
            Some((count, letters)) => format!("{count}*{}kB ({letters}", 4 << order),
            None => format!("{row}*{}kB", 4 << order),
        })
        .collect();
    let counts = blocks.split(' ').map(|row| row.split('(').next().unwrap().parse::<u64>().unwrap());
    let sum: u64 = counts.enumerate().map(|(order, count)| count * (4 << order)).sum();
    format!(
        "task: {header}\nCPU: 0 PID: 1 Comm: task Not tainted 5.15.0 #1\nCall Trace:\n dump_stack+0x1/0x2\n \
         warn_alloc+0x1/0x2\n __alloc_pages+0x1/0x2\n rx_refill+0x1/0x2 [driver]\n open_port+0x1/0x2\nMem-Info:\nNode 0 Normal free:{sum}kB {zone}\n\
         lowmem_reserve[]: 0 0 0\nNode 0 Normal: {} = {sum}kB\n262144 pages RAM\n1000 pages reserved\n",
        sizes.join(" ")
    )
}

pub(crate) const ORDER_3: &str = "page allocation failure: order:3, mode:0xcc0(GFP_KERNEL), nodemask=(null)";
pub(crate) const ORDER_0: &str = "page allocation failure: order:0, mode:0xcc0(GFP_KERNEL), nodemask=(null)";
pub(crate) const SIZES: &str = "boost:0kB min:2048kB low:2560kB high:3072kB reserved_highatomic:2048KB present:1048576kB managed:1000000kB free_cma:0kB";

#[test]
fn the_caller_is_named() {
    let (_, text) = explained(&report(ORDER_3, SIZES, "5000(UME) 0 0 0 0 0 0 0 0 0 0"));
    assert!(text.contains("by task; called from rx_refill; Linux 5.15.0"), "{text}");
}

#[test]
fn a_small_reserve_does_not_hide_fragmentation() {
    let (found, text) = explained(&report(ORDER_3, SIZES, "50000(UME) 3000(UM) 0 1(H) 0 0 0 0 0 0 0"));
    assert_eq!(found, (Kind::PageAllocation, Some(Class::Fragmentation), Sure::Certain));
    assert!(text.contains("32 kB or more outside of the HighAtomic reserve; the largest is 8 kB"), "{text}");
    let (found, _) = explained(&report(ORDER_3, SIZES, "1500(UME) 0 0 60(H) 0 0 0 0 0 0 0"));
    assert_eq!(found.1, Some(Class::Reserve));
}

#[test]
fn a_reserve_without_a_block_is_no_reason() {
    let (found, _) = explained(&report(ORDER_3, SIZES, "600(UMEH) 0 0 0 0 0 0 0 0 0 0"));
    assert_eq!(found.1, Some(Class::Shortage));
}

#[test]
fn a_boost_that_alone_is_in_the_way_is_named() {
    let sizes = SIZES.replace(
        "boost:0kB min:2048kB low:2560kB high:3072kB",
        "boost:8192kB min:10240kB low:10752kB high:11264kB",
    );
    let (found, text) =
        explained(&report(ORDER_0, &sizes.replace("2048KB", "0KB"), "1500(UME) 0 0 0 0 0 0 0 0 0 0"));
    assert_eq!(found.1, Some(Class::Shortage));
    assert!(
        text.contains("(min, boost 8192 in it)") && text.contains("vm.watermark_boost_factor to 0"),
        "{text}"
    );
}

#[test]
fn an_urgent_page_does_not_count_the_boost() {
    // 1500 free pages: min is 2560, of it 2048 are a boost. Without it 512 pages are left, of them half and a quarter are open.
    let sizes = SIZES.replace(
        "boost:0kB min:2048kB low:2560kB high:3072kB",
        "boost:8192kB min:10240kB low:10752kB high:11264kB",
    );
    let urgent = ORDER_0.replace("0xcc0(GFP_KERNEL)", "0xa20(GFP_ATOMIC)");
    let (found, text) =
        explained(&report(&urgent, &sizes.replace("2048KB", "0KB"), "150(UME) 0 0 0 0 0 0 0 0 0 0"));
    assert_eq!(found.1, Some(Class::Shortage));
    assert!(text.contains("watermark 768 kB (min 10240 lowered, boost 8192 not counted)"), "{text}");
}

#[test]
fn a_cut_list_with_a_block_fits() {
    let whole = report(ORDER_3, &SIZES.replace("2048KB", "0KB"), "5000(UME) 0 0 9(M) 0 0 0 0 0 0 0");
    let cut = &whole[..whole.find(" 0*1024kB").unwrap()];
    let (found, text) = explained(cut);
    assert_eq!((found.1, found.2), (None, Sure::Undecided));
    assert!(text.contains("the request fits"), "{text}");
}

#[test]
fn a_zone_without_memory_is_lowmem() {
    let dma = "Node 0 DMA free:0kB min:0kB low:0kB high:0kB present:620kB managed:0kB\nlowmem_reserve[]: 0 250 6063\n";
    let header = ORDER_3.replace("0xcc0(GFP_KERNEL)", "0xcc1(GFP_KERNEL|GFP_DMA)");
    let text = report(&header, SIZES, "5000(UME) 0 0 900(M) 0 0 0 0 0 0 0")
        .replace("Mem-Info:\n", &format!("Mem-Info:\n{dma}"));
    let (found, text) = explained(&text);
    assert_eq!(found.1, Some(Class::Lowmem));
    assert!(text.contains("no zone above DMA, and there is no memory"), "{text}");
    assert_eq!(found.2, Sure::Certain);
    let without =
        report(&header, SIZES, "5000(UME) 0 0 900(M) 0 0 0 0 0 0 0").replace("[]: 0 0 0", "[]: 0 0 0 0 0");
    let (found, _) = explained(&without);
    assert_eq!((found.1, found.2), (Some(Class::Lowmem), Sure::Likely));
}

#[test]
fn a_node_with_movable_memory_alone_is_node_policy() {
    let text = "a invoked oom-killer: gfp_mask=0x500cc2(GFP_HIGHUSER|__GFP_ACCOUNT), order=0, oom_score_adj=0
Mem-Info:
Node 4 Movable free:9000000kB min:9140kB low:18000kB high:27000kB present:9100000kB managed:9100000kB free_cma:0kB
lowmem_reserve[]: 0 0 0 0 0
oom-kill:constraint=CONSTRAINT_CPUSET,nodemask=(null),cpuset=x,mems_allowed=4,global_oom,task_memcg=/,task=a,pid=1,uid=0
";
    let (found, text) = explained(text);
    assert_eq!((found.0, found.1), (Kind::OomNodes, Some(Class::NodePolicy)));
    assert!(
        text.contains("node 4 Movable has 9000000 kB free, but the flags allow no zone above Normal"),
        "{text}"
    );
}

#[test]
fn free_pages_tell_the_size_of_a_page() {
    let text = "a invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
Mem-Info:
 free:10000 free_pcp:1 free_cma:0
Node 0 DMA free:640000kB min:205120kB low:256384kB high:307648kB present:1000000kB managed:1000000kB free_cma:0kB
lowmem_reserve[]: 0 7908 7908
Node 0 Normal free:0kB min:104880kB low:131072kB high:157312kB present:32390144kB managed:32389120kB free_cma:0kB
lowmem_reserve[]: 0 0 0
";
    let (found, text) = explained(text);
    assert_eq!(found.1, Some(Class::Shortage));
    assert!(
        text.contains("order 0 (64 kB)") && text.contains("min 205120 + lowmem_reserve 506112"),
        "{text}"
    );
}

#[test]
fn a_page_fault_names_no_request() {
    let header = "invoked oom-killer: gfp_mask=0x0(), order=0, oom_score_adj=0";
    let (found, text) =
        explained(&report(header, SIZES, "5000(UME) 0 0 900(M) 0 0 0 0 0 0 0").replace("task: task", "task"));
    assert_eq!(found, (Kind::Oom, None, Sure::Undecided));
    assert!(text.contains("a page fault") && text.contains("mode 0x0;"), "{text}");
}

#[test]
fn a_stack_names_the_cgroup() {
    let text = "a invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\nCall Trace:\n dump_header+0x1/0x2\n mem_cgroup_out_of_memory+0x1/0x2\n";
    assert_eq!(explained(text).0.1, Some(Class::CgroupLimit));
}

#[test]
fn old_oom_killers_are_read() {
    let text = "oom-killer: gfp_mask=0xd0, order=1\nMem-info:\nNormal free:900kB min:1024kB low:2048kB high:3072kB active:0kB inactive:0kB present:901120kB pages_scanned:0 all_unreclaimable? yes\nlowmem_reserve[]: 0 0 0\nOut of Memory: Killed process 77 (httpd).\n";
    let (found, text) = explained(text);
    assert_eq!((found.0, found.1), (Kind::Oom, Some(Class::Shortage)));
    assert!(text.contains("killed httpd"), "{text}");
}

#[test]
fn memory_is_shared_out() {
    let sums = "active_anon:100000 inactive_anon:50000 isolated_anon:0\n active_file:10 inactive_file:10\n slab_reclaimable:10 slab_unreclaimable:60000\n free:600\n";
    let text = report(ORDER_0, SIZES, "400(UME) 0 0 0 0 0 0 0 0 0 0")
        .replace("Mem-Info:\n", &format!("Mem-Info:\n{sums}"));
    let text = text.replace(
        "262144 pages RAM",
        "Node 0 hugepages_total=10 hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB\n262144 pages RAM",
    );
    let (_, text) = explained(&text);
    let expected = "Memory: 1020.1 MiB, of it 57 % anonymous, 22 % slab that cannot be reclaimed, 17 % in no counter (drivers, balloons, leaks)";
    assert!(text.contains(expected), "{text}");
}

const SLUB: &str = "SLUB: Unable to allocate memory on CPU 1 (of node 0) on node -1, gfp=0x820(GFP_ATOMIC)\n  cache: skbuff_head_cache, object size: 232, buffer size: 256, default order: 1, min order: 0\n  node 0: slabs: 236, objs: 13216, free: 0\n";

#[test]
fn slab_caches_are_explained() {
    let (found, text) = explained(SLUB);
    assert_eq!(found, (Kind::Slab, Some(Class::Shortage), Sure::Likely));
    assert!(
        text.contains(
            "the slab cache skbuff_head_cache got no page (order 0, 4 kB), and the request cannot wait"
        ),
        "{text}"
    );
    let (found, text) = explained(&SLUB.replace("skbuff_head_cache", "kmalloc-64(12:ea4c61d0)"));
    assert_eq!(found, (Kind::Slab, Some(Class::CgroupLimit), Sure::Likely));
    assert!(text.contains("cache kmalloc-64 belongs to a cgroup"), "{text}");
    let (found, _) = explained(&SLUB.replace("min order: 0", "min order: 1"));
    assert_eq!(found, (Kind::Slab, None, Sure::Undecided));
    let (found, text) = explained(
        "SLAB: Unable to allocate memory on node 0 (gfp=0x20)\n  cache: size-512, object size: 512, order: 0\n",
    );
    assert_eq!((found.0, found.1), (Kind::Slab, Some(Class::Shortage)));
    assert!(text.contains("size-512"), "{text}");
}

#[test]
fn slab_refusals_inside_of_a_report_take_nothing_from_it() {
    let whole = report(ORDER_3, SIZES, "50000(UME) 3000(UM) 0 0 0 0 0 0 0 0 0");
    let mixed = whole.replace("Mem-Info:\n", &(SLUB.repeat(12) + "Mem-Info:\n"));
    let (found, text) = explained(&mixed);
    assert_eq!(found, (Kind::PageAllocation, Some(Class::Fragmentation), Sure::Certain));
    assert!(text.contains("12 slab allocation failure"), "{text}");
    assert_eq!(explained(&(whole + SLUB)).0.0, Kind::PageAllocation);
}

#[test]
fn pools_stalls_and_lists_are_explained() {
    let (found, text) = explained(
        "HugeTLB: allocating 64 of page size 1.00 GiB failed node1.  Only allocated 3 hugepages.\n",
    );
    assert_eq!(found, (Kind::HugePool, Some(Class::Shortage), Sure::Likely));
    assert!(text.contains("3 of 64 requested huge pages of 1.00 GiB on node 1"), "{text}");
    let stall =
        "a: page allocation stalls for 10020ms, order:0, mode:0x14000c0(GFP_KERNEL), nodemask=(null)\n";
    let (found, text) = explained(stall);
    assert_eq!(found, (Kind::Stall, Some(Class::Shortage), Sure::Likely));
    assert!(text.contains("waited 10020 ms"), "{text}");
    let list = "Memory allocations:\n    12.3 MiB     3280 mm/execmem.c:44 func:execmem_vmalloc\n 3176243200   247900 mm/slub.c:2264 func:alloc_slab_page\n";
    let (found, text) = explained(list);
    assert_eq!(found.0, Kind::TopAllocators);
    assert!(text.contains("12.3 MiB in 3280 pieces") && text.contains("3.0 GiB in 247900 pieces"), "{text}");
}

#[test]
fn per_cpu_memory_is_explained() {
    let text = "percpu: allocation failed, size=16 align=8 atomic=1, atomic alloc failed, no space left\nCPU: 1 PID: 7 Comm: nft Not tainted 6.1.38 #7\n";
    let (found, text) = explained(text);
    assert_eq!((found.0, found.1), (Kind::PerCpu, None));
    assert!(text.contains("16 bytes, and a request that cannot wait") && text.contains("by nft"), "{text}");
}

#[test]
fn warnings_name_the_function_and_the_task() {
    for (text, class) in [
        ("WARNING: CPU: 1 PID: 5 at mm/page_alloc.c:5402\n__alloc_pages+0x1b2/0x330\n", Some(Class::Size)),
        (
            "WARNING: mm/page_alloc.c:5124 at __alloc_frozen_pages_noprof+0x2c8/0x370, CPU#0: dhcpcd/5530\n",
            Some(Class::Size),
        ),
        ("WARNING: CPU: 0 PID: 5 at mm/util.c:597 kvmalloc_node+0x11f/0x130\n", Some(Class::Size)),
        ("WARNING: CPU: 0 PID: 5 at mm/slab_common.c:998 kmalloc_slab+0x5/0x70\n", Some(Class::Size)),
        (
            "WARNING: CPU: 0 PID: 5 at mm/page_alloc.c:669 expand (mm/page_alloc.c:669 mm/page_alloc.c:1572)\n",
            None,
        ),
    ] {
        let (found, answer) = explained(text);
        assert_eq!((found.0, found.1), (Kind::OrderWarning, class), "{text}");
        assert!(!text.contains("dhcpcd") || answer.contains("by dhcpcd"), "{answer}");
    }
    assert!(
        Answer::new(&Log::read(&b"WARNING: CPU: 0 PID: 5 at mm/util.c:9 memdup+0x1/0x2\n"[..]).unwrap())
            .is_none()
    );
}

/// An OOM kill of a machine whose page cache and swap are used up.
fn exhausted(zone: &str) -> String {
    let tasks = "Tasks state (memory values in pages):\n[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n\
                 [    312]     0   312   300000   100000   200000        0             0 web worker\n\
                 [    313]     0   313   300000    50000   200000        0             0 web worker\n";
    let swap = "active_anon:100000 inactive_anon:50000\n active_file:10 inactive_file:10\nFree swap  = 84kB\nTotal swap = 2097148kB\n";
    let text = report(ORDER_0, zone, "500(UMEH) 0 0 0 0 0 0 0 0 0 0")
        .replace("page allocation failure:", "invoked oom-killer:");
    let text = text.replace(
        "task: invoked oom-killer: order:0, mode:0xcc0(GFP_KERNEL), nodemask=(null)",
        "task invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
    );
    text.replace("Mem-Info:\n", &format!("Mem-Info:\n{swap}")) + tasks
}

#[test]
fn used_up_memory_is_a_shortage_whatever_reserves_keep() {
    let (found, text) =
        explained(&exhausted(&SIZES.replace("2048KB", "128KB").replace("min:2048kB", "min:1900kB")));
    assert_eq!(found.1, Some(Class::Shortage));
    assert!(text.contains("memory is used up: 80 KiB of page cache are left, and swap is full"), "{text}");
    assert!(
        text.contains("Tasks: 585.9 MiB in 2 tasks web worker") && text.contains("add memory or swap"),
        "{text}"
    );
    let boosted = SIZES.replace("boost:0kB min:2048kB", "boost:1024kB min:2048kB").replace("2048KB", "0KB");
    assert!(explained(&exhausted(&boosted)).1.contains("add memory or swap"));
    let large = SIZES.replace("2048KB", "800KB").replace("min:2048kB", "min:1900kB");
    assert_eq!(explained(&exhausted(&large)).0.1, Some(Class::Shortage));
}

#[test]
fn a_kill_by_hand_needs_no_action() {
    let text = "kworker/0:2 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=-1, oom_score_adj=0\n";
    let (_, text) = explained(text);
    assert!(text.contains("/proc/sysrq-trigger") && !text.contains("names the request"), "{text}");
}

#[test]
fn action_and_certainty_are_never_cut_off() {
    let zone = |node: u32| {
        format!(
            "Node {node} Normal free:9000kB boost:8192kB min:10240kB low:10752kB high:11264kB present:1048576kB managed:1000000kB free_cma:0kB\nlowmem_reserve[]: 0 0 0\n"
        )
    };
    let zones: String = (0..40).map(zone).collect();
    let text = exhausted(SIZES).replace("Free swap", &format!("{zones}Free swap"));
    let (_, text) = explained(&text);
    for label in ["Action:", "Certainty:", "more zones", "Tasks:"] {
        assert!(text.contains(label), "no {label} in {text}");
    }
}
