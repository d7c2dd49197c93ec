//! The version, the shell completions and the manual pages.

use std::fs;

use crate::common::{freehold, run};

#[test]
fn the_version_says_commit_sensor_and_libc() {
    let said = run(["--version"]).ok().stdout;
    assert!(said.starts_with(concat!("freehold ", env!("CARGO_PKG_VERSION"), " (commit ")), "{said}");
    let sensor =
        if cfg!(feature = "bpf") { "; sensor: BPF and /proc; " } else { "; sensor: /proc, without BPF; " };
    let libc = if cfg!(target_env = "musl") { "libc: musl, " } else { "libc: gnu, " };
    assert!(said.contains(sensor) && said.contains(libc), "{said}");
}

#[test]
fn each_shell_completes_each_command() {
    for shell in ["bash", "zsh", "fish"] {
        let said = run(["dev", "completions", shell]).ok().stdout;
        for command in ["check", "repair", "snapshot", "record", "completions"] {
            assert!(said.contains(command), "{shell} does not complete {command}");
        }
    }
}

#[test]
fn each_command_has_a_page_of_the_manual() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    run(["dev", "man", pages.to_str().expect("UTF-8")]).ok();
    for page in ["freehold.1", "freehold-check.1", "freehold-repair.1", "freehold-trace-info.1"] {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    let refused = freehold(["dev", "man"]).arg(pages.join("freehold.1/below")).output().unwrap();
    assert_eq!(refused.status.code(), Some(74), "{refused:?}");
}
