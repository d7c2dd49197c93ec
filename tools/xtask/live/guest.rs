//! Tests that the programs of `cargo xtask dist` below `target/handed-out` run on a Debian kernel for each processor.

use std::process::Command;

use freehold_needs::{can, has_program};

/// Boots the newest kernel of that package, and runs every command there. Skips `test` if a program is missing.
fn boots(arch: &str, package: &str, emulator: &str, test: &str) {
    let root = xtask::root();
    let program =
        root.join("target/handed-out").join(format!("freehold-{}-{arch}", env!("CARGO_PKG_VERSION")));
    let is_there =
        || program.is_file().then_some(()).ok_or_else(|| "`cargo xtask dist` has not been run".to_owned());
    if !can(test, is_there) || !has_program(emulator, test) || !has_program("apt-get", test) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut guest = Command::new(env!("CARGO_BIN_EXE_xtask"));
    guest.current_dir(root).args(["guest", "--arch", arch, "--kernel", package, "--program"]).arg(&program);
    let ran = guest.arg("--folder").arg(folder.path()).output().expect("the command can be started");
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    for word in ["guest: done", "BPF equals pagetypeinfo: yes", "scraped from outside: ", "trace.arrows: "] {
        assert!(said.contains(word), "no {word:?} in: {said}");
    }
}

#[test]
fn every_command_runs_on_x86_64() {
    boots("x86-64", "linux-image-amd64", "qemu-system-x86_64", "every_command_runs_on_x86_64");
}

#[test]
fn every_command_runs_on_arm64() {
    boots("arm64", "linux-image-arm64", "qemu-system-aarch64", "every_command_runs_on_arm64");
}
