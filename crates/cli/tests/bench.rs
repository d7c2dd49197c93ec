//! The command `bench` as far as it takes no time.

mod common;

use common::{folder, names, run, run_words};

#[test]
fn what_cannot_be_measured_is_refused() {
    run_words("bench nothing").fails(2, &["nothing", "pagealloc", "drain", "all"]);
    run_words("bench pagealloc --order 11").fails(2, &["0 to 10"]);
    run_words("bench counts --work split").fails(2, &["route:side:times"]);
}

#[test]
fn a_file_that_cannot_be_written_is_noticed_first() {
    let folder = folder();
    let file = folder.path().join("missing/figures.json");
    run(["bench", "all", "--json", file.to_str().unwrap()]).fails(4, &["cannot be created", "folder"]);
}

#[test]
fn work_to_count_instructions_of_says_its_digest() {
    let first = run_words("bench counts --work list:beside:5").ok().stdout;
    assert_eq!(first.trim_end().len(), 16, "{first}");
    for side in ["without", "derived"] {
        let work = format!("bench counts --work list:{side}:5");
        assert_eq!(run_words(&work).ok().stdout, first, "the same frames");
    }
}

#[test]
fn sides_outside_are_for_the_table_that_has_them() {
    run_words("bench counts --outside /bin/true").fails(2, &["--outside", "peers"]);
    run_words("bench drain --linux /bin/true").fails(2, &["--linux", "peers"]);
}

#[cfg(feature = "peers")]
mod outside {
    use std::io::Write;
    use std::process::Stdio;

    use super::common::{Ran, fixture, freehold, run, run_words};

    #[test]
    fn a_side_that_cannot_be_asked_is_named_with_a_remedy() {
        run_words("bench peers --linux /missing/linux")
            .fails(2, &["--linux /missing/linux: cannot be started", "cargo xtask oracle"]);
        run_words("bench all --outside /missing/side")
            .fails(2, &["--outside /missing/side: cannot be started", "docs/benchmarks.md"]);
        run(["bench", "peers", "--linux", &fixture("zoneinfo")]).fails(2, &["zoneinfo: cannot be started"]);
        run_words("bench peers --linux /bin/true")
            .fails(2, &["--linux /bin/true: ended without an answer, exit status: 0", "cargo xtask oracle"]);
        // It says what it does not understand.
        run_words("bench peers --linux /bin/ls")
            .fails(2, &["--linux /bin/ls: ended without", "cannot access"]);
    }

    #[test]
    fn the_engine_is_a_side_of_another_run() {
        let mut command = freehold(["bench", "peers", "--serve"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"prepare batch-4 8192 64 1000000\nrun\nagain\n").expect("it listens");
        drop(input);
        let said = Ran::new(&child.wait_with_output().expect("it ends")).ok().stdout;
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines[..2], ["= side 1", "= name freehold, locked, outside"]);
        assert!(lines[2].starts_with("= metadata 12"), "{said}");
        assert_eq!(lines[3..5], ["= ready", "= prepared"]);
        assert!(lines[5].starts_with("= figures ") && lines[6].starts_with("= wrong "), "{said}");
    }
}

#[test]
fn a_folder_gets_a_picture_of_each_table() {
    let folder = folder();
    let svg = folder.path().to_str().expect("a path in UTF-8");
    run(["bench", "drain", "--quick", "--svg", svg]).ok();
    assert_eq!(names(folder.path()), ["bench-drain.svg"]);
}
