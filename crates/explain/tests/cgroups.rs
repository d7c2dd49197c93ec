//! Control groups at their limits.

use freehold_explain::{Answer, Class, Kind, Log, Sure};

use crate::rules::explained;

/// A kill in a cgroup of version 2 with a limit of 512 MiB. `stats` are lines of bytes.
fn version_2(counters: &str, stats: &str) -> String {
    format!(
        "app invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=986\n\
         CPU: 3 PID: 30211 Comm: app Not tainted 6.8.0-31-generic #31\n{counters}Memory cgroup stats for /pod7/app:\n{stats}\
         oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,oom_memcg=/pod7/app,task_memcg=/pod7/app,task=app,pid=30211,uid=0\n\
         Memory cgroup out of memory: Killed process 30211 (app) total-vm:720000kB\n"
    )
}

const FULL: &str =
    "memory: usage 524288kB, limit 524288kB, failcnt 1523\nswap: usage 0kB, limit 0kB, failcnt 0\n";

#[test]
fn tmpfs_is_no_page_cache() {
    let (found, text) =
        explained(&version_2(FULL, "anon 8601600\nfile 515899392\nkernel 3945728\nshmem 515885056\n"));
    assert_eq!(found, (Kind::OomCgroup, Some(Class::CgroupLimit), Sure::Certain));
    assert!(
        text.contains(
            "8400 kB anonymous, 14 kB page cache, 503794 kB shared memory and tmpfs, 8227 kB not named"
        ),
        "{text}"
    );
    assert!(text.contains("delete files in its tmpfs"), "{text}");
}

#[test]
fn kernel_memory_is_named() {
    let (_, text) =
        explained(&version_2(FULL, "anon 8601600\nfile 1048576\nkernel 512505088\nslab 511705088\n"));
    assert!(text.contains("1024 kB page cache, 500493 kB kernel memory"), "{text}");
    assert!(text.contains("a leak of kernel memory in it"), "{text}");
    // Before 5.18 the parts are not summed.
    let (_, text) =
        explained(&version_2(FULL, "anon 8601600\nfile 1048576\nkernel_stack 409600\nslab 511705088\n"));
    assert!(text.contains("500112 kB kernel memory"), "{text}");
}

#[test]
fn the_memory_limit_of_version_2_kills_whatever_swap_has() {
    let full = "memory: usage 524280kB, limit 524288kB, failcnt 1523\nswap: usage 262144kB, limit 262144kB, failcnt 99\n";
    let (_, text) = explained(&version_2(full, ""));
    assert!(text.contains("at its memory limit") && text.contains("Its swap is full, too."), "{text}");
    assert!(text.contains("raise memory.max"), "{text}");
}

#[test]
fn groups_of_version_1_add_up() {
    let log = "java invoked oom-killer: gfp_mask=0x14000c0(GFP_KERNEL), nodemask=(null),  order=0, oom_score_adj=936
CPU: 9 PID: 22210 Comm: java Not tainted 4.14.322 #1
Call Trace:
 dump_stack+0x66/0x82
 mem_cgroup_oom_synchronize+0x2ed/0x330
 pagefault_out_of_memory+0x32/0x77
 page_fault+0x45/0x50
Task in /pod9/77ab killed as a result of limit of /pod9
memory: usage 2097152kB, limit 2097152kB, failcnt 71
memory+swap: usage 2097152kB, limit 9007199254740988kB, failcnt 0
kmem: usage 21340kB, limit 9007199254740988kB, failcnt 0
Memory cgroup stats for /pod9: cache:0KB rss:0KB rss_huge:0KB shmem:0KB
Memory cgroup stats for /pod9/01fe: cache:0KB rss:40KB rss_huge:0KB shmem:0KB
Memory cgroup stats for /pod9/77ab: cache:1012KB rss:2074760KB rss_huge:0KB shmem:0KB
Memory cgroup out of memory: Kill process 22210 (java) score 1930 or sacrifice child
";
    let (found, text) = explained(log);
    assert_eq!(found.0, Kind::OomCgroup);
    assert!(
        text.contains("2074800 kB anonymous, 1012 kB page cache, 21340 kB kernel memory")
            && text.contains("by java; killed"),
        "{text}"
    );
}

/// The report behind the example of the guide.
#[test]
fn the_example_of_the_guide_is_explained() {
    let guide = include_str!("../../../docs/guide/explain.md");
    let log = include_str!("cases/cgroup-limit/splat.txt");
    let text = Answer::new(&Log::read(log.as_bytes()).unwrap()).unwrap().text();
    assert!(guide.contains(&text), "{text}");
}
