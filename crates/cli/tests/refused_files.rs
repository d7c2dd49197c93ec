//! A machine that refuses single files, as Android's rules do, or has none of them, as some of its kernels do.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::{Ran, finish};

/// An arm64 machine with a CMA area.
const MACHINE: &str = "../linux/tests/fixtures/linux-6.12-arm64";

/// Files without which a command has nothing to say.
const NEEDED: [&str; 2] = ["proc/zoneinfo", "proc/buddyinfo"];

/// The paths of all files below a folder.
fn files(folder: &Path, below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join(below)).expect("a folder").flatten() {
        let path = below.join(entry.file_name());
        if entry.path().is_dir() { found.extend(files(folder, &path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Copies the machine's files, readable by everyone.
fn machine(place: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(MACHINE);
    for file in files(&from, Path::new("")) {
        let to = place.join(&file);
        fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
        fs::copy(from.join(&file), &to).expect("a file");
        fs::set_permissions(&to, fs::Permissions::from_mode(0o644)).expect("its mode");
    }
}

/// Runs a command of the copied binary as a user without rights, on the copied machine.
fn run(folder: &Path, words: &str) -> Ran {
    let binary = folder.join("freehold");
    let command = freehold_needs::unprivileged_command(&binary, &["--version"], "run");
    let mut command = command.expect("a process of another user, as before");
    command.args(words.split(' ')).arg("--root").arg(folder.join("machine"));
    finish(command)
}

/// A folder with the binary and the machine; otherwise `test` is skipped.
fn place(test: &str) -> Option<tempfile::TempDir> {
    let folder = common::folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("its mode");
    let binary = folder.path().join("freehold");
    fs::copy(env!("CARGO_BIN_EXE_freehold"), &binary).expect("the binary");
    freehold_needs::unprivileged_command(&binary, &["--version"], test)?;
    machine(&folder.path().join("machine"));
    Some(folder)
}

/// Holds what each command says of a machine on which `file` is out of reach.
fn each_command_copes(folder: &Path, file: &Path, how: &str) {
    let is_needed = NEEDED.iter().any(|needed| file == Path::new(needed));
    for words in [
        "check --order 3",
        "snapshot --format json",
        "snapshot --format buddyinfo",
        "watch --above free_pages=1",
    ] {
        let ran = run(folder, words);
        let told = format!("{words}, {} {how}: {:?}\n{}{}", file.display(), ran.code, ran.stdout, ran.stderr);
        let code = ran.code.expect("an exit code");
        if is_needed && code != 0 {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(
                matches!(code, 2 | 3) && format!("{}{}", ran.stdout, ran.stderr).contains(&name),
                "{told}"
            );
        } else {
            assert!(if words.starts_with("check") { code <= 3 } else { code == 0 }, "{told}");
        }
    }
}

#[test]
fn each_file_may_be_missing_or_refused() {
    let Some(folder) = place("each_file_may_be_missing_or_refused") else { return };
    let folder = folder.path();
    let machine = folder.join("machine");
    for file in files(&machine, Path::new("")) {
        let path = machine.join(&file);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("its mode");
        each_command_copes(folder, &file, "refused");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("its mode");
        let text = fs::read(&path).expect("the file");
        fs::remove_file(&path).expect("it goes");
        each_command_copes(folder, &file, "missing");
        fs::write(&path, text).expect("it is back");
    }
}

#[test]
fn without_pagetypeinfo_and_page_flags_totals_are_left() {
    let Some(folder) = place("without_pagetypeinfo_and_page_flags_totals_are_left") else { return };
    let machine = folder.path().join("machine");
    for file in ["proc/pagetypeinfo", "proc/kpageflags", "proc/slabinfo", "proc/vmallocinfo"] {
        let _ = fs::remove_file(machine.join(file));
    }
    let ran = run(folder.path(), "snapshot --format buddyinfo").ok();
    let kept = fs::read_to_string(machine.join("proc/buddyinfo")).expect("buddyinfo");
    assert_eq!(ran.stdout.trim_end(), kept.trim_end());
    let ran = run(folder.path(), "check --order 0");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}
