//! Tests that the sandbox of CI refuses the actions that a hermetic test must not do.

use std::env;
use std::fs;
use std::process::{Command, Output};

use freehold_needs::has_program;

/// The variable with the planted error that this program makes when it is started again in the sandbox.
const PLANTED: &str = "FREEHOLD_PLANTED_ERROR";

/// Starts this program again in the sandbox, to make one planted error. Returns `None` without bubblewrap.
fn plant(error: &str) -> Option<Output> {
    if !has_program("bwrap", error) {
        return None;
    }
    let mut sandbox = Command::new(xtask::root().join(".ci/sandbox"));
    sandbox.arg(env::current_exe().expect("this program")).args([
        "--exact",
        "sandbox::the_planted_error",
        "--nocapture",
    ]);
    Some(sandbox.env(PLANTED, error).output().expect("the sandbox starts"))
}

/// Makes the planted error that the environment names, and fails if the sandbox refuses it.
#[test]
fn the_planted_error() {
    let Ok(planted) = env::var(PLANTED) else { return };
    match planted.as_str() {
        "nothing" => {}
        "sysctl" => fs::write("/proc/sys/vm/compact_memory", "1").expect("compaction"),
        "pool" => {
            fs::write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1").expect("a huge page");
        }
        "reading" => _ = fs::read("/proc/buddyinfo").expect("this machine's free blocks"),
        "tracing" => _ = fs::read_dir("/sys/kernel/tracing").expect("tracefs"),
        "writing" => fs::write("/var/tmp/freehold-planted", "x").expect("a file elsewhere"),
        "mount" => {
            let mount = Command::new("mount").args(["-t", "tmpfs", "none", "/tmp"]).status();
            assert!(mount.expect("mount starts").success(), "a file system");
        }
        "compiler" => _ = Command::new("make").arg("--version").output().expect("a kernel's make"),
        "memory" => assert_eq!(vec![1_u8; 2 << 30].iter().map(|byte| u64::from(*byte)).sum::<u64>(), 2 << 30),
        other => panic!("no planted error {other}"),
    }
}

#[test]
fn hermetic_test_is_allowed() {
    let Some(ran) = plant("nothing") else { return };
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn each_planted_error_is_refused() {
    for error in ["sysctl", "pool", "reading", "tracing", "writing", "mount", "compiler", "memory"] {
        let Some(ran) = plant(error) else { return };
        assert!(!ran.status.success(), "{error} was allowed: {ran:?}");
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        assert!(!said.contains("no planted error"), "{said}");
    }
}
