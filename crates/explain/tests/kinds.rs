//! Kinds of reports and wrappings that the shared cases lack.

use freehold_explain::{Answer, Class, Kind, Log, Sure};

use crate::shared_cases::{NAMES, bytes};

fn verdict(text: &[u8]) -> Option<(Kind, Option<Class>, Sure)> {
    let log = Log::read(text).unwrap();
    Answer::new(&log).map(|answer| (answer.kind(), answer.class(), answer.sure()))
}

fn text(log: &str) -> String {
    let log = Log::read(log.as_bytes()).unwrap();
    Answer::new(&log).unwrap().text()
}

const CGROUP: &str = "\
[  100.1] stress invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[  100.2] CPU: 1 PID: 77 Comm: stress Not tainted 6.1.0-18-amd64 #1
[  100.3] memory: usage 102400kB, limit 102400kB, failcnt 25
[  100.4] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/small,task_memcg=/small,task=stress,pid=77,uid=0
[  100.5] Memory cgroup out of memory: Killed process 77 (stress) total-vm:1kB
";

#[test]
fn a_cgroup_at_its_limit() {
    let found = verdict(CGROUP.as_bytes()).unwrap();
    assert_eq!(found, (Kind::OomCgroup, Some(Class::CgroupLimit), Sure::Certain));
    let text = text(CGROUP).replace("\n  ", " ");
    let dirty = CGROUP.replace(
        "[  100.4]",
        "[  100.35] anon 1048576\n[  100.36] file 99614720\n[  100.37] file_dirty 73400320\n[  100.4]",
    );
    let dirty = self::text(&dirty).replace("\n  ", " ");
    assert!(
        dirty.contains("1024 kB anonymous, 97280 kB page cache, 71680 kB of it dirty")
            && dirty.contains("write less at once"),
        "{dirty}"
    );
    let swap = CGROUP
        .replace("limit 102400kB", "limit 202400kB")
        .replace("[  100.4]", "[  100.31] memory+swap: usage 300000kB, limit 300000kB, failcnt 1\n[  100.4]");
    assert!(
        self::text(&swap).contains("at its memory and swap limit")
            && self::text(&swap).contains("memsw.limit_in_bytes"),
        "{swap}"
    );
    for words in ["/small", "102400 kB", "memory.max", "killed stress", "6.1.0-18-amd64"] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
}

#[test]
fn vmalloc_lacks_addresses_or_pages() {
    let addresses = "[ 5.0] vmap allocation for size 4198400 failed: use vmalloc=<size> to increase size\n";
    assert_eq!(
        verdict(addresses.as_bytes()).unwrap(),
        (Kind::Vmalloc, Some(Class::AddressSpace), Sure::Certain)
    );
    assert!(text(addresses).contains("4198400 bytes"));
    let exceeds = "a: vmalloc error: size 99999999999999, exceeds total pages, mode:0xcc0(GFP_KERNEL), nodemask=(null)\n";
    assert_eq!(verdict(exceeds.as_bytes()).unwrap().1, Some(Class::Size));
}

#[test]
fn cma_is_busy_or_full() {
    let busy = "cma: cma_alloc: reserved: alloc failed, req-size: 256 pages, ret: -16\n";
    assert_eq!(verdict(busy.as_bytes()).unwrap(), (Kind::Cma, Some(Class::Fragmentation), Sure::Likely));
    assert!(text(busy).contains("256 pages"));
    let full = busy.replace("-16", "-12");
    assert_eq!(verdict(full.as_bytes()).unwrap().1, Some(Class::Shortage));
    let pfns = "alloc_contig_range: [8c000, 8c400) PFNs busy\n";
    assert_eq!(verdict(pfns.as_bytes()).unwrap().1, Some(Class::Fragmentation));
}

#[test]
fn other_kinds_are_named() {
    let slab = "SLUB: Unable to allocate memory on node -1, gfp=0x920(GFP_ATOMIC|__GFP_ZERO)\n  cache: kmalloc-64, object size: 64, buffer size: 64, default order: 0, min order: 0\n";
    assert_eq!(verdict(slab.as_bytes()).unwrap(), (Kind::Slab, Some(Class::Shortage), Sure::Likely));
    assert!(text(slab).contains("cache kmalloc-64"), "{}", text(slab));
    let pool = "HugeTLB: allocating 64 of page size 1.00 GiB failed.  Only allocated 3 hugepages.\n";
    assert_eq!(verdict(pool.as_bytes()).unwrap().0, Kind::HugePool);
    assert!(text(pool).contains("3 of 64"));
    let stall =
        "a: page allocation stalls for 10020ms, order:0, mode:0x14000c0(GFP_KERNEL), nodemask=(null)\n";
    assert_eq!(verdict(stall.as_bytes()).unwrap().0, Kind::Stall);
    let warning = "WARNING: CPU: 1 PID: 5 at mm/page_alloc.c:5531 __alloc_pages+0x1b2/0x330\n";
    assert_eq!(verdict(warning.as_bytes()).unwrap(), (Kind::OrderWarning, Some(Class::Size), Sure::Likely));
    let by_hand = "kworker invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=-1, oom_score_adj=0\n";
    assert_eq!(verdict(by_hand.as_bytes()).unwrap(), (Kind::Oom, None, Sure::Undecided));
}

#[test]
fn nodes_that_a_cpuset_leaves_out_decide() {
    let text = String::from_utf8(bytes("splat-frag-order4")).unwrap();
    let text = text.replace("mems_allowed=0", "mems_allowed=1").replace("order:4", "order:0");
    // Only `__GFP_HARDWALL` binds a request to its own cpuset.
    let user = text.replace("0x40c40(GFP_NOFS|__GFP_COMP)", "0x100cca(GFP_HIGHUSER_MOVABLE)");
    assert_eq!(verdict(user.as_bytes()).unwrap().1, Some(Class::NodePolicy));
    let large = String::from_utf8(bytes("splat-frag-order4")).unwrap().replace("order:4,", "order:11,");
    assert_eq!(verdict(large.as_bytes()).unwrap(), (Kind::PageAllocation, Some(Class::Size), Sure::Certain));
}

#[test]
fn several_reports_have_a_table_first() {
    let fragmented = String::from_utf8(bytes("splat-frag-order4")).unwrap();
    let text =
        text(&(CGROUP.to_owned() + &fragmented + "[ 1190.0] systemd[1]: something else\n" + &fragmented));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("newest") && lines[1].contains("2  page allocation failure"), "{text}");
    assert!(lines[2].contains("1  OOM kill in a cgroup") && lines[3].starts_with("Fragmentation"), "{text}");
    let (_, other) = text.split_once("\n\n").expect("the newest of the other kind");
    assert!(other.starts_with("Cgroup limit"), "{text}");
}

#[test]
fn failures_of_several_orders_are_explained_apart() {
    let order_4 = String::from_utf8(bytes("splat-frag-order4")).unwrap();
    let of = |order: u8| order_4.replace("order:4,", &format!("order:{order},"));
    let text = text(&(of(4) + &of(0) + &of(4)));
    assert!(
        text.contains("2  page allocation failure, order 4")
            && text.contains("1  page allocation failure, order 0"),
        "{text}"
    );
    assert_eq!(text.matches("Request: ").count(), 2, "{text}");
    let many: String = (0..9).map(of).collect();
    let many = self::text(&many);
    assert!(many.ends_with("3 more in the table above; paste one alone to have it explained.\n"), "{many}");
}

#[test]
fn no_cut_panics_or_is_certain_of_something_else() {
    for name in NAMES {
        let whole = bytes(name);
        let expected = verdict(&whole).unwrap().1;
        for end in 0..whole.len() {
            let log = Log::read(&whole[..end]).unwrap();
            let Some(answer) = Answer::new(&log) else { continue };
            let (text, _) = (answer.text(), answer.json());
            let longest = text.split("\n\n").map(|answer| answer.lines().count()).max();
            assert!(longest <= Some(24) && text.lines().all(|line| line.chars().count() <= 100), "{text}");
            let is_wrong = answer.class().is_some() && answer.class() != expected;
            assert!(!is_wrong || answer.sure() != Sure::Certain, "{name} cut at {end}: {text}");
        }
    }
}

#[test]
fn damaged_bytes_do_not_panic() {
    let mut random = fastrand::Rng::with_seed(53);
    for round in 0..3000 {
        let mut log = bytes(NAMES[round % NAMES.len()]);
        for _ in 0..random.usize(1..12) {
            let at = random.usize(..log.len());
            log[at] = *random.choice(b"0123456789=:*,-( \n\xffkB").unwrap();
        }
        if let Some(answer) = Answer::new(&Log::read(&log[..]).unwrap()) {
            let text = answer.text();
            let longest = text.split("\n\n").map(|answer| answer.lines().count()).max();
            assert!(longest <= Some(24) && answer.json().is_object(), "round {round}: {text}");
        }
    }
}

#[test]
fn the_engine_replays_kernels_since_6_1() {
    let old = String::from_utf8(bytes("splat-frag-order4")).unwrap();
    assert!(flat(&old).contains("not checked by the engine: rule of that kernel not replayed"));
    let new = old.replace("5.19.0", "6.12.9");
    assert!(
        new != old && flat(&new).contains("checked: the engine (linux-6.12) answers as these lines say"),
        "{new}"
    );
}

/// Returns the answer in one line.
fn flat(log: &str) -> String {
    text(log).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Linux 6.1 opens a quarter of the mark to `__GFP_ATOMIC`; the engine, as Linux since 6.3, to urgent callers that do not wait.
#[test]
fn no_answer_is_certain_that_the_engine_contradicts() {
    let urgent = "a: page allocation failure: order:0, mode:0x820(__GFP_HIGH|__GFP_KSWAPD_RECLAIM), nodemask=(null)
CPU: 0 PID: 1 Comm: a Not tainted RELEASE #1
Mem-Info:
Node 0 Normal free:900kB boost:0kB min:2048kB low:2560kB high:3072kB reserved_highatomic:0KB present:65536kB managed:65536kB free_cma:0kB
lowmem_reserve[]: 0 0 0
Node 0 Normal: 225*4kB (U) 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = 900kB
";
    let contradicted = flat(&urgent.replace("RELEASE", "6.1.3"));
    assert!(contradicted.contains("disagrees on node 0 Normal"), "{contradicted}");
    assert!(
        contradicted.starts_with("Shortage") && contradicted.contains("Certainty: likely"),
        "{contradicted}"
    );
}

#[test]
fn what_to_do_about_the_atomic_reserve_follows_the_release() {
    let text = String::from_utf8(bytes("splat-highatomic-order2")).unwrap();
    assert!(flat(&text).contains("if it is older than 4.10"));
    let known = |release: &str| flat(&format!("CPU: 0 PID: 1 Comm: a Not tainted {release} #1\n{text}"));
    assert!(!known("4.19.3").contains("older than 4.10"), "{}", known("4.19.3"));
}
