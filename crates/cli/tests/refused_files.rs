//! A machine that has none of single files, as some kernels do.

use std::fs;
use std::path::Path;

use crate::common::copied_machine::{copy_machine, each_command_copes, files, run_on};
use crate::common::{folder, freehold};

#[test]
fn each_file_may_be_missing() {
    let folder = folder();
    let machine = folder.path();
    copy_machine(machine);
    let start = || freehold([""; 0]);
    for file in files(machine, Path::new("")) {
        let path = machine.join(&file);
        let text = fs::read(&path).expect("the file");
        fs::remove_file(&path).expect("it goes");
        each_command_copes(start, machine, &file, "missing");
        fs::write(&path, text).expect("it is back");
    }
}

#[test]
fn without_pagetypeinfo_and_page_flags_totals_are_left() {
    let folder = folder();
    let machine = folder.path();
    copy_machine(machine);
    for file in ["proc/pagetypeinfo", "proc/kpageflags", "proc/slabinfo", "proc/vmallocinfo"] {
        let _ = fs::remove_file(machine.join(file));
    }
    let ran = run_on(freehold([""; 0]), machine, "snapshot --format buddyinfo").ok();
    let kept = fs::read_to_string(machine.join("proc/buddyinfo")).expect("buddyinfo");
    assert_eq!(ran.stdout.trim_end(), kept.trim_end());
    let ran = run_on(freehold([""; 0]), machine, "check --order 0");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}
