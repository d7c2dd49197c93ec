//! Tests that the kept list of live tests is complete, judged and not outdated.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

#[test]
fn every_live_test_has_passed_lately() {
    let findings = xtask::live::findings(xtask::root()).expect("the list can be read");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// The guard ends the tests when its input closes, which also happens if the run is killed.
#[test]
fn guard_ends_the_tests_of_a_killed_run() {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["live", "--guard"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the guard starts");
    let mut out = guard.stdout.take().expect("a pipe");
    out.read_exact(&mut [0]).expect("the guard has noted the settings");
    let mut tests = Command::new("sleep").arg("600").process_group(0).spawn().expect("sleep starts");
    let mut input = guard.stdin.take().expect("a pipe");
    writeln!(input, "{}", tests.id()).expect("the guard listens");
    assert!(tests.try_wait().expect("a child").is_none(), "nothing is ended while the run lives");
    drop(input);
    assert!(!tests.wait().expect("a child").success(), "sleep was killed");
    let mut said = String::new();
    out.read_to_string(&mut said).expect("text");
    assert!(guard.wait().expect("a child").success());
    assert_eq!(said.trim(), "", "this machine's settings were not changed");
}
