//! Tests that a guest in QEMU records a trace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use freehold_needs::{can, has_program};
use xtask::root;
use xtask::traces::row::Row;

/// A trace that takes half a minute.
const SHORT: &str = "x86-6.1-512m-idle";

/// Records the short trace with that program.
fn recorded(program: &Path, folder: &Path) -> Output {
    let mut traces = Command::new(env!("CARGO_BIN_EXE_xtask"));
    traces.current_dir(root()).args(["traces", SHORT, "--program"]).arg(program).arg("--out").arg(folder);
    traces.output().expect("the command can be started")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Returns true if x86-64 guests can be made and booted; otherwise skips `test`.
fn has_guests(test: &str) -> bool {
    ["qemu-system-x86_64", "apt-get", "dpkg-deb", "x86_64-linux-gnu-gcc"]
        .iter()
        .all(|name| has_program(name, test))
}

/// Returns the newest static program; without one, skips `test`.
fn program(test: &str) -> Option<PathBuf> {
    let handed_out = format!("target/handed-out/freehold-{}-x86-64", env!("CARGO_PKG_VERSION"));
    let places = [handed_out.as_str(), "target/x86_64-unknown-linux-musl/dist/freehold"];
    let found = places.iter().map(|place| root().join(place)).find(|place| place.is_file());
    let is_there = || found.as_ref().map(drop).ok_or_else(|| "no static program has been built".to_owned());
    can(test, is_there).then_some(found).flatten()
}

#[test]
fn a_guest_is_recorded_once() {
    let test = "a_guest_is_recorded_once";
    if !has_guests(test) {
        return;
    }
    let Some(program) = program(test) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let first = recorded(&program, folder.path());
    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    let file = folder.path().join(format!("{SHORT}.arrows"));
    let row = Row::read(SHORT, &file, String::new()).expect("the trace");
    assert!(row.kernel.starts_with("6.1.") && row.architecture == "x86_64", "{row:?}");
    assert!(row.memory_bytes > 350 << 20 && row.memory_bytes < 512 << 20, "{row:?}");
    assert_eq!((row.page_bytes, row.nodes, row.lost), (4096, 1, 0), "{row:?}");
    assert!(row.events > 500 && row.seconds > 15.0 && row.workload == "idle.sh 20", "{row:?}");
    let page = fs::read_to_string(file.with_extension("md")).expect("its provenance");
    assert!(page.contains("linux-image-6.1.") && page.contains(&row.kernel), "{page}");
    let written = fs::metadata(&file).and_then(|file| file.modified()).expect("the file's time");
    let second = recorded(&program, folder.path());
    assert!(second.status.success() && said(&second).contains("0 recorded"), "{}", said(&second));
    assert_eq!(fs::metadata(&file).and_then(|file| file.modified()).expect("the file's time"), written);
}

#[test]
fn failed_guest_leaves_no_trace_and_is_explained() {
    let test = "failed_guest_leaves_no_trace_and_is_explained";
    if !has_guests(test) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // The guest gets a script that fails with a message in place of the program.
    let program = folder.path().join("program");
    fs::write(&program, "#!/bin/sh\necho this is no recorder\nexit 9\n").expect("the file");
    let failed = recorded(&program, folder.path());
    assert_eq!(failed.status.code(), Some(1), "{}", said(&failed));
    for word in ["this is no recorder", "a command in the guest failed", &format!("failed: {SHORT}")] {
        assert!(said(&failed).contains(word), "no {word:?} in: {}", said(&failed));
    }
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("the folder").flatten().map(|file| file.file_name()).collect();
    assert_eq!(left.len(), 2, "the console and the program: {left:?}");
}
