//! The command `bench` as far as it takes no time.

mod common;

use common::{folder, run, run_words};

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
