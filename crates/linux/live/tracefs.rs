//! Recording where tracefs is mounted nowhere.

use std::env;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use freehold_linux::procfs::Occupancy;
use freehold_linux::{Error, MemorySink, RecordOptions, record};
use freehold_needs::{has_program, is_root, skip};

/// Set for the process in whose mount namespace tracefs is not mounted.
const WITHOUT: &str = "FREEHOLD_WITHOUT_TRACEFS";

/// What that process prints where the kernel has no tracefs at all.
const LACKS: &str = "this kernel cannot be recorded: ";

fn is_mounted() -> bool {
    fs::read_to_string("/proc/self/mountinfo").unwrap().contains(" - tracefs ")
}

#[test]
fn tracefs_is_mounted_for_the_recorder_alone() {
    let test = "tracefs::tracefs_is_mounted_for_the_recorder_alone";
    if env::var_os(WITHOUT).is_some() {
        return record_without_a_mount();
    }
    if !is_root(test) || !has_program("unshare", test) {
        return;
    }
    let without = "umount --all --types tracefs; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", without, "sh"]);
    command.arg(env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]).env(WITHOUT, "1");
    let ran = command.output().unwrap();
    let [out, err] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(ran.status.success(), "{out}{err}");
    if let Some((_, why)) = out.split_once(LACKS) {
        return skip(test, why.lines().next().unwrap_or_default());
    }
    assert!(out.contains("1 passed"), "{out}{err}");
}

fn record_without_a_mount() {
    assert!(!is_mounted());
    let options = RecordOptions {
        command: ["sh", "-c", "for i in 1 2 3; do ls / >/dev/null; done"].map(str::to_owned).to_vec(),
        occupancy: Occupancy::Skip,
        ..RecordOptions::default()
    };
    let mut sink = MemorySink::default();
    match record(&options, &mut sink, &mut |_| ControlFlow::Continue(())) {
        Ok(_) => assert!(sink.events.len() > 100, "{} events", sink.events.len()),
        Err(error @ (Error::NoTracefs { .. } | Error::NoKmemEvents { .. } | Error::NotRoot { .. })) => {
            println!("{LACKS}{error}");
        }
        Err(error) => panic!("{error}"),
    }
    assert!(!is_mounted() && !Path::new("/sys/kernel/tracing/instances").exists());
}
