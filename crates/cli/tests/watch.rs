//! `freehold watch`, on files that change while it watches.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::common::{self, Ran, finish, freehold};

/// A machine of one zone, whose free blocks a test sets.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(order_0: u64, order_9: u64) -> Self {
        let machine = Self(common::folder());
        fs::create_dir_all(machine.proc().join("pressure")).unwrap();
        machine.set(order_0, order_9);
        machine
    }

    fn proc(&self) -> PathBuf {
        self.0.path().join("proc")
    }

    /// Replaces buddyinfo in one step, as a reader of `/proc` sees it.
    fn set(&self, order_0: u64, order_9: u64) {
        let row = format!("Node 0, zone   Normal {order_0} 0 0 0 0 0 0 0 0 {order_9} 0 \n");
        fs::write(self.proc().join("new"), row).unwrap();
        fs::rename(self.proc().join("new"), self.proc().join("buddyinfo")).unwrap();
    }

    fn watch(&self, words: &str, command: &[&str]) -> Ran {
        finish(self.command(words, command))
    }

    fn command(&self, words: &str, command: &[&str]) -> std::process::Command {
        let root = self.0.path().to_str().unwrap();
        let mut args = vec!["watch", "--sensor", "procfs", "--interval", "0.02", "--root", root];
        args.extend(words.split_ascii_whitespace());
        if !command.is_empty() {
            args.push("--");
            args.extend(command);
        }
        freehold(args)
    }
}

#[test]
fn the_command_runs_when_the_threshold_is_passed() {
    let machine = Machine::new(0, 10);
    let mut command = machine.command(
        "--above unusable_index:9=0.5 --timeout 20",
        &["sh", "-c", "echo because $FREEHOLD_REASON; exit 7"],
    );
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    machine.set(512 * 30, 10);
    let ran = Ran::new(&child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(7), "because unusable_index:9 = 0.75 > 0.5\n"));
}

#[test]
fn all_thresholds_must_hold_at_once() {
    let machine = Machine::new(512, 10);
    let ran = machine.watch("--below blocks:9=20 --above free_pages=100000 --timeout 0.2", &["true"]);
    assert_eq!(ran.code, Some(124), "{}", ran.stderr);
    let ran = machine.watch("--below blocks:9=20 --above free_pages=5000", &[]).ok();
    assert_eq!(ran.stdout, "free_pages = 5632 > 5000, blocks:9 = 10 < 20\n");
}

#[test]
fn a_threshold_may_have_to_hold_for_a_while() {
    let machine = Machine::new(0, 1);
    let started = Instant::now();
    machine.watch("--below blocks:9=5 --duration 0.3", &["true"]).ok();
    assert!(started.elapsed() >= Duration::from_millis(300));
}

#[test]
fn killed_and_missing_commands_have_different_exit_codes() {
    let machine = Machine::new(0, 1);
    let mut killed = machine.command("--below blocks:9=5", &["sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status().unwrap().signal(), Some(9));
    let ran = machine.watch("--below blocks:9=5", &["/no/such/program"]);
    assert_eq!(ran.code, Some(126));
    assert!(ran.stderr.contains("/no/such/program"), "{}", ran.stderr);
}

#[test]
fn the_command_gets_the_signals_that_are_meant_for_it() {
    let machine = Machine::new(0, 1);
    let mut watch =
        machine.command("--below blocks:9=5", &["sh", "-c", "trap 'exit 9' TERM; echo up; sleep 20 & wait"]);
    let mut child = watch.stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 3]).unwrap();
    rustix::process::kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn impossible_thresholds_are_refused() {
    let machine = Machine::new(0, 1);
    machine.watch("--above blocks:9=1 --zone Movable", &["true"]).fails(64, &["no such zone", "zone Normal"]);
    machine.watch("--above pressure_some=1", &["true"]).fails(69, &["/proc/pressure/memory"]);
    machine.watch("--above unusable_index=1", &["true"]).fails(64, &["unusable_index:9"]);
    machine.watch("--above luck=1", &["true"]).fails(64, &["free_pages"]);
    machine.watch("", &["true"]).fails(64, &["give a condition: --need 2M=500, --above METRIC=VALUE or"]);
    machine
        .watch("--need 1 --zone Normal", &["true"])
        .fails(64, &["--zone and --node are for other metrics"]);
}
