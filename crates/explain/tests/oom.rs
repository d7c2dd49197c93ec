//! OOM kills of the whole machine.

use freehold_explain::{Answer, Class, Kind, Log, Sure};

use crate::rules::explained;

/// What a machine of 16 GB uses, in pages. Its swap is of 8 GB, in kB free.
struct Machine {
    anon: u64,
    shmem: u64,
    cache: u64,
    dirty: u64,
    slab: u64,
    huge: u64,
    swap_free: u64,
    free_kib: u64,
}

const USED_UP: Machine = Machine {
    anon: 3_700_000,
    shmem: 0,
    cache: 78_000,
    dirty: 0,
    slab: 60_000,
    huge: 0,
    swap_free: 0,
    free_kib: 56_800,
};

const HEADER: &str = "journal invoked oom-killer: gfp_mask=0x1100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=-250\n\
                      CPU: 2 PID: 411 Comm: journal Not tainted 5.10.0-32-amd64 #1\n";
const KILL: &str = "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/db,task=db,pid=912,uid=113\n\
                    Out of memory: Killed process 912 (db) total-vm:1400000kB, anon-rss:240000kB\n";
const TASKS: &str = "Tasks state (memory values in pages):\n\
                     [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n";

impl Machine {
    /// Returns the listing, from `Mem-Info:` to the last sum.
    fn listing(&self) -> String {
        let Self { anon, shmem, cache, dirty, slab, huge, swap_free, free_kib } = *self;
        format!(
            "Mem-Info:\nactive_anon:0 inactive_anon:{anon} isolated_anon:0\n active_file:0 inactive_file:{cache} isolated_file:0\n \
             unevictable:0 dirty:{dirty} writeback:0\n slab_reclaimable:20000 slab_unreclaimable:{slab}\n mapped:1000 shmem:{shmem} pagetables:2000\n \
             free:{} free_pcp:0 free_cma:0\n\
             Node 0 Normal free:{free_kib}kB boost:0kB min:59000kB low:74000kB high:89000kB reserved_highatomic:0KB present:16640000kB managed:16200000kB free_cma:0kB\n\
             lowmem_reserve[]: 0 0 0\n\
             Node 0 Normal: {}*4kB (UM) 0*8kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB 0*2048kB 0*4096kB = {free_kib}kB\n\
             Node 0 hugepages_total={huge} hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB\n\
             Free swap  = {swap_free}kB\nTotal swap = 8388604kB\n4160000 pages RAM\n110000 pages reserved\n",
            free_kib / 4,
            free_kib / 4
        )
    }

    fn kill(&self) -> String {
        HEADER.to_owned() + &self.listing() + TASKS + KILL
    }
}

#[test]
fn page_cache_that_is_read_back_at_once_does_not_hide_used_up_memory() {
    let (found, text) = explained(&USED_UP.kill());
    assert_eq!(found, (Kind::Oom, Some(Class::Shortage), Sure::Certain));
    assert!(text.contains("memory is used up: 304.7 MiB of page cache are left, and swap is full"), "{text}");
    assert!(text.contains("add memory or swap") && !text.contains("min_free_kbytes"), "{text}");
}

#[test]
fn an_oom_kill_is_never_told_to_keep_more_memory_free() {
    let with_cache = Machine { cache: 1_500_000, anon: 2_000_000, ..USED_UP };
    let (found, text) = explained(&with_cache.kill());
    assert_eq!(found.1, Some(Class::Shortage));
    assert!(text.contains("limit the largest users") && !text.contains("min_free_kbytes"), "{text}");
    assert!(!text.contains("writeback"), "{text}");
    let dirty = Machine { dirty: 900_000, ..with_cache };
    assert!(explained(&dirty.kill()).1.contains("look for slow writeback"));
}

#[test]
fn a_kill_ends_behind_the_failures_that_come_before_it() {
    let failure = |task: &str| {
        let request =
            "page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)";
        let listing = Machine { free_kib: 70_000, ..USED_UP }.listing();
        format!("{task}: {request}\nCPU: 0 PID: 9 Comm: {task} Not tainted 5.10.0-32-amd64 #1\n{listing}")
    };
    let start = HEADER.to_owned() + &USED_UP.listing() + TASKS;
    let by = |task: u32, text: &str| -> String {
        let head = format!("[    9.000000][ T{task}] ");
        text.lines().flat_map(|line| [head.as_str(), line, "\n"]).collect()
    };
    let many: String = (1..20).map(|task| by(task, &failure(&format!("task{task}")))).collect();
    for text in [
        start.clone() + &failure("one") + KILL,
        start.clone() + &failure("one") + &failure("two") + KILL,
        by(99, &start) + &many + &by(99, KILL),
    ] {
        let log = Log::read(text.as_bytes()).unwrap();
        let answer = Answer::new(&log).unwrap();
        let json = answer.json();
        let kinds: Vec<_> = json["reports"].as_array().unwrap().iter().map(|row| &row["kind"]).collect();
        assert_eq!(kinds, ["page_allocation", "oom"], "{json:#}");
        assert!(answer.text().contains("by journal; killed db"), "{}", answer.text());
    }
}

#[test]
fn a_task_that_ended_meanwhile_does_not_hide_used_up_memory() {
    let (found, text) = explained(&Machine { free_kib: 124_800, ..USED_UP }.kill());
    assert_eq!((found.1, found.2), (Some(Class::Shortage), Sure::Likely));
    assert!(text.contains("memory is used up"), "{text}");
}

#[test]
fn the_largest_use_decides_what_to_do() {
    let slab = Machine { anon: 70_000, slab: 3_700_000, cache: 3000, swap_free: 8_000_000, ..USED_UP };
    let slabs = "Unreclaimable slab info:\nName                      Used          Total\n\
                 task_struct             3950KB       4312KB\nkmalloc-64          12480512KB   12480640KB\n";
    let (_, text) = explained(&slab.kill().replace(TASKS, &(slabs.to_owned() + TASKS)));
    assert!(text.contains("91 % of it by slab that cannot be reclaimed"), "{text}");
    assert!(text.contains("8000000 kB of swap are free"), "{text}");
    assert!(text.contains("a leak of the kernel in kmalloc-64 (slabtop, slub_debug=U)"), "{text}");
    let huge = Machine { anon: 300_000, cache: 800, huge: 6656, ..USED_UP };
    assert!(explained(&huge.kill()).1.contains("lower vm.nr_hugepages"));
    let shared = Machine { shmem: 3_000_000, ..USED_UP };
    assert!(explained(&shared.kill()).1.contains("delete files in tmpfs"));
    let unknown = Machine { anon: 300_000, cache: 800, ..USED_UP };
    assert!(explained(&unknown.kill()).1.contains("look for drivers, balloons"));
}

#[test]
fn a_kill_whose_start_left_the_log_is_one() {
    let whole = USED_UP.kill();
    let cut = &whole[whole.find("Mem-Info:").unwrap()..];
    let (found, text) = explained(cut);
    assert_eq!(found, (Kind::Oom, Some(Class::Shortage), Sure::Likely));
    assert!(text.contains("memory is used up") && text.contains("killed db"), "{text}");
    assert!(!text.contains("min_free_kbytes"), "{text}");
}

#[test]
fn a_kill_without_zones_says_what_ran_out() {
    for log in [HEADER.to_owned() + KILL, KILL.lines().last().unwrap().to_owned() + "\n"] {
        let (found, text) = explained(&log);
        assert_eq!(found, (Kind::Oom, Some(Class::Shortage), Sure::Likely), "{log}");
        assert!(text.contains("the whole machine ran out of memory"), "{text}");
    }
}

#[test]
fn shared_memory_does_not_count_for_each_task() {
    let row =
        |pid| format!("[{pid:7}]   113 {pid:5}  2300000  2050000  17000000        0             0 db\n");
    let rows: String = (2000..2200).map(row).collect();
    let log = USED_UP.kill().replace(TASKS, &(TASKS.to_owned() + &rows));
    let (_, text) = explained(&log);
    assert!(text.contains("200 tasks db, the largest 7.8 GiB (shared memory counts in each)"), "{text}");
}

#[test]
fn every_key_of_json_is_documented() {
    let page = include_str!("../../../docs/reference/explain-json.md");
    let log = Log::read(USED_UP.kill().as_bytes()).unwrap();
    let json = Answer::new(&log).unwrap().json();
    let objects = [&json, &json["request"], &json["memory"], &json["zones"][0]];
    for key in objects.into_iter().flat_map(|object| object.as_object().unwrap().keys()) {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn json_has_what_the_text_has() {
    let log = Log::read(USED_UP.kill().as_bytes()).unwrap();
    let json = Answer::new(&log).unwrap().json();
    assert_eq!((&json["killed"], &json["memory"]["pages"]), (&"db".into(), &4_050_000.into()));
    let first = &json["memory"]["uses"][0];
    assert_eq!((&first["use"], &first["percent"]), (&"anonymous".into(), &91.into()));
    let log = Log::read(include_bytes!("cases/cgroup-limit/splat.txt").as_slice()).unwrap();
    let cgroup = &Answer::new(&log).unwrap().json()["cgroup"];
    assert_eq!((&cgroup["at_limit"], &cgroup["limits"][0]["usage_kib"]), (&"memory".into(), &524_288.into()));
    assert_eq!(
        (&cgroup["uses"][0]["use"], &cgroup["uses"][0]["kib"]),
        (&"anonymous".into(), &503_808.into())
    );
}
