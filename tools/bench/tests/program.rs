//! Tests of the command line that do not measure.

use std::process::{Command, Output, Stdio};

/// Runs the program with words separated by blanks.
fn run_words(words: &str) -> Output {
    program(words).output().expect("the program can be started")
}

fn program(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold-bench"));
    command.args(words.split_ascii_whitespace()).stdin(Stdio::null());
    command
}

/// Expects a failure whose message has all of `parts`.
#[track_caller]
fn fails(words: &str, parts: &[&str]) {
    let ran = run_words(words);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    assert!(parts.iter().all(|part| said.contains(part)), "no {parts:?} in: {said}");
}

/// Returns the output of a run that succeeds.
#[track_caller]
fn said(words: &str) -> String {
    let ran = run_words(words);
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn invalid_arguments_are_refused() {
    fails("nothing", &["nothing", "pagealloc", "drain", "all"]);
    fails("pagealloc --order 11", &["0 to 10"]);
    fails("counts --work split", &["route:side:times"]);
}

#[test]
fn unwritable_output_file_fails_before_measuring() {
    fails("all --json missing/figures.json", &["missing/figures.json cannot be created"]);
}

#[test]
fn option_work_prints_the_digest() {
    let first = said("counts --work list:beside:5");
    assert_eq!(first.trim_end().len(), 16, "{first}");
    for side in ["without", "derived"] {
        let work = format!("counts --work list:{side}:5");
        assert_eq!(said(&work), first, "the same frames");
    }
}

#[test]
fn options_for_other_processes_need_the_table_peers() {
    fails("counts --outside /bin/true", &["--outside", "peers"]);
    fails("drain --linux /bin/true", &["--linux", "peers"]);
}

#[cfg(feature = "peers")]
mod outside {
    use std::io::Write;
    use std::process::Stdio;

    use super::{fails, program};

    #[test]
    fn unusable_other_process_is_named_with_a_remedy() {
        fails(
            "peers --linux /missing/linux",
            &["--linux /missing/linux: cannot be started", "cargo xtask oracle"],
        );
        fails(
            "all --outside /missing/side",
            &["--outside /missing/side: cannot be started", "docs/evidence/benchmarks.md"],
        );
        fails("peers --linux Cargo.toml", &["Cargo.toml: cannot be started"]);
        fails(
            "peers --linux /bin/true",
            &["--linux /bin/true: ended without an answer, exit status: 0", "cargo xtask oracle"],
        );
        // The error quotes the program's own output.
        fails("peers --linux /bin/ls", &["--linux /bin/ls: ended without", "cannot access"]);
    }

    #[test]
    fn option_serve_answers_another_run() {
        let mut command = program("peers --serve");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"prepare batch-4 8192 64 1000000\nrun\nagain\n").expect("it listens");
        drop(input);
        let ended = child.wait_with_output().expect("it ends");
        assert!(ended.status.success(), "{ended:?}");
        let said = String::from_utf8(ended.stdout).expect("text");
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines[..2], ["= side 1", "= name freehold, locked, outside"]);
        assert!(lines[2].starts_with("= metadata 12"), "{said}");
        assert_eq!(lines[3..5], ["= ready", "= prepared"]);
        assert!(lines[5].starts_with("= figures ") && lines[6].starts_with("= wrong "), "{said}");
    }
}

#[test]
fn a_folder_gets_a_picture_of_each_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    said(&format!("drain --quick --svg {}", folder.path().display()));
    let mut names =
        folder.path().read_dir().expect("a folder").map(|entry| entry.expect("an entry").file_name());
    assert!(names.next().is_some_and(|name| name == "bench-drain.svg") && names.next().is_none());
}
