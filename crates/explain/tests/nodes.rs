//! Nodes and zones that a request may not use, or that the kernel does not list.

use freehold_explain::{Class, Kind, Sure};

use crate::rules::explained;

/// A zone of 8 GiB. `free` is in kB and in blocks of one page.
fn zone(node: u32, kind: &str, free: u64, reserve: &str) -> String {
    format!(
        "Node {node} {kind} free:{free}kB boost:0kB min:20000kB low:40000kB high:60000kB reserved_highatomic:0KB \
         present:8388608kB managed:8000000kB free_cma:0kB\nlowmem_reserve[]: {reserve}\n"
    )
}

fn blocks(node: u32, kind: &str, free: u64) -> String {
    format!(
        "Node {node} {kind}: {}*4kB (UM) 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = {free}kB\n",
        free / 4
    )
}

/// A failure of `request` in zones of a node, a name and free kB each. `free` is the sum that the kernel printed.
fn failure(request: &str, release: &str, free: u64, zones: &[(u32, &str, u64)]) -> String {
    let reserve = |kind| if kind == "DMA32" { "0 0 7000 7000 7000" } else { "0 0 0 0 0" };
    let sizes: String =
        zones.iter().map(|&(node, kind, free)| zone(node, kind, free, reserve(kind))).collect();
    let lists: String = zones.iter().map(|&(node, kind, free)| blocks(node, kind, free)).collect();
    format!(
        "{request}\nCPU: 0 PID: 1 Comm: task Not tainted {release} #1\nMem-Info:\n free:{} free_pcp:0\n{sizes}{lists}",
        free / 4
    )
}

fn request(gfp: &str, mems_allowed: &str) -> String {
    format!(
        "task: page allocation failure: order:0, mode:{gfp}, nodemask=(null),cpuset=a,mems_allowed={mems_allowed}"
    )
}

const ON_TWO_NODES: [(u32, &str, u64); 2] = [(0, "Normal", 800), (1, "Normal", 400_000)];
const USER: &str = "0x100cca(GFP_HIGHUSER_MOVABLE)";

/// The answer where node 0 is full, node 1 is not, and the cpuset allows node 0.
fn on_two_nodes(gfp: &str) -> ((Kind, Option<Class>, Sure), String) {
    explained(&failure(&request(gfp, "0"), "6.12.9", 400_800, &ON_TWO_NODES))
}

#[test]
fn a_cpuset_binds_requests_with_hardwall() {
    let (found, text) = on_two_nodes(USER);
    assert_eq!((found.1, found.2), (Some(Class::NodePolicy), Sure::Certain));
    assert!(
        text.contains("allows node 0 alone") && text.contains("node 1 Normal has 400000 kB free"),
        "{text}"
    );
    assert!(text.contains("not checked by the engine: it has no nodes"), "{text}");
}

#[test]
fn an_enclosing_cpuset_may_bind_the_kernels_own_requests() {
    let (found, text) = on_two_nodes("0xcc0(GFP_KERNEL)");
    assert_eq!((found.1, found.2), (Some(Class::NodePolicy), Sure::Likely));
    assert!(text.contains("node 1 Normal: outside of the cpuset; one that encloses it decides"), "{text}");
}

#[test]
fn a_cpuset_binds_neither_interrupts_nor_requests_that_cannot_wait() {
    let (found, text) = on_two_nodes("0x820(GFP_ATOMIC)");
    assert_eq!((found.1, found.2), (None, Sure::Undecided));
    assert!(text.contains("node 1 Normal: fits"), "{text}");
    let user = failure(&request(USER, "0"), "6.12.9", 400_800, &ON_TWO_NODES);
    let idle = user.replacen("task:", "swapper/7:", 1);
    let in_interrupt =
        user.replace("Mem-Info:", "Call Trace:\n <IRQ>\n warn_alloc+0x1/0x2\n </IRQ>\nMem-Info:");
    for log in [idle, in_interrupt] {
        assert_eq!(explained(&log).0.1, None, "{log}");
    }
}

#[test]
fn an_oom_kill_of_a_cpuset_lists_its_nodes_alone() {
    let header = "task invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0";
    let kill = "oom-kill:constraint=CONSTRAINT_CPUSET,nodemask=(null),cpuset=a,mems_allowed=0,global_oom,task_memcg=/,task=task,pid=1,uid=0\n";
    let log = |free| failure(header, "6.8.0", free, &[(0, "Normal", 8000)]) + kill;
    let (found, text) = explained(&log(4_008_000));
    assert_eq!(found, (Kind::OomNodes, Some(Class::NodePolicy), Sure::Certain));
    assert!(text.contains("4000000 kB are free on nodes that the kernel does not list"), "{text}");
    assert!(!text.contains("Doubt"), "{text}");
    // If the other nodes are full, too, a wider cpuset would not have helped.
    assert_eq!(explained(&log(8000)).0.2, Sure::Likely);
}

#[test]
fn nodes_that_are_not_listed_are_no_missing_lines() {
    let (found, text) = explained(&failure(&request(USER, "0"), "6.12.9", 4_000_800, &[(0, "Normal", 800)]));
    assert_eq!((found.1, found.2), (Some(Class::NodePolicy), Sure::Likely));
    assert!(text.contains("other nodes: not listed (4000000 kB free)") && !text.contains("Doubt"), "{text}");
}

#[test]
fn zones_above_those_of_the_flags_are_lowmem_listed_or_not() {
    let dma32 = request("0xcc4(GFP_KERNEL|GFP_DMA32)", "0");
    // The low mark of Normal is 40000 kB: a machine with page cache has little more.
    let listed = failure(&dma32, "5.15.160", 62_000, &[(0, "DMA32", 2000), (0, "Normal", 60_000)]);
    let unlisted = failure(&dma32, "6.6.30", 62_000, &[(0, "DMA32", 2000)]);
    for log in [listed, unlisted] {
        let (found, text) = explained(&log);
        assert_eq!((found.1, found.2), (Some(Class::Lowmem), Sure::Certain), "{text}");
        assert!(text.contains("60000 kB elsewhere are of no use") && !text.contains("Doubt"), "{text}");
    }
    let (_, old) = explained(&failure(&dma32, "5.15.160", 62_000, &[(0, "DMA32", 2000)]));
    assert!(old.contains("zones are missing"), "{old}");
}

#[test]
fn a_request_for_one_node_fails_where_others_have_memory() {
    let one = request("0x240cc0(GFP_KERNEL|__GFP_THISNODE)", "0-1");
    let (found, text) = explained(&failure(&one, "6.1.76", 400_800, &ON_TWO_NODES));
    assert_eq!((found.1, found.2), (Some(Class::NodePolicy), Sure::Likely));
    assert!(text.contains("It would fit on node 1, and not on node 0"), "{text}");
    let both = failure(&one, "6.1.76", 800_000, &[(0, "Normal", 400_000), (1, "Normal", 400_000)]);
    assert_eq!(explained(&both).0.1, None);
}

#[test]
fn a_zone_that_lower_ones_count_on_is_missing() {
    let log = failure(&request("0xcc0(GFP_KERNEL)", "0"), "5.15.0", 2000, &[(0, "DMA32", 2000)]);
    let (found, text) = explained(&log);
    assert_eq!((found.1, found.2), (None, Sure::Undecided));
    assert!(text.contains("Doubt: node 0 Normal: its lines are missing"), "{text}");
    assert!(!text.contains("two CPUs"), "{text}");
}
