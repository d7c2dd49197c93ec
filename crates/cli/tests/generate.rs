//! `freehold generate`: traces by seed, and what is refused.

use std::fs;

use crate::common::{events, finish, folder, freehold, names, run, sample, small_trace};

#[test]
fn the_same_command_writes_the_same_trace() {
    let folder = folder();
    let generate = |name: &str, seed: &str| {
        let path = folder.path().join(name);
        let path = path.to_str().expect("UTF-8");
        let words =
            ["generate", "pagealloc", "--memory", "256MiB", "--events", "60000", "--seed", seed, "-o", path];
        let ran = run(words).ok();
        assert!(ran.stdout.is_empty() && ran.stderr.contains("events in"), "{}", ran.stderr);
        fs::read(path).expect("a trace")
    };
    let first = generate("a.arrows", "7");
    assert!(first == generate("b.arrows", "7"));
    assert!(first != generate("c.arrows", "8"));
    assert!(events(&folder.path().join("a.arrows")) >= 60_000);
    let info = run(["trace", "info", folder.path().join("a.arrows").to_str().expect("UTF-8")]).ok();
    assert!(info.stdout.contains("freehold generate pagealloc --seed 7"), "{}", info.stdout);
    assert!(info.stdout.contains("generate, freehold"), "{}", info.stdout);
}

#[test]
fn a_trace_that_is_there_is_not_replaced() {
    let folder = folder();
    let path = folder.path().join("there.arrows");
    fs::write(&path, "mine").expect("a file");
    let path = path.to_str().expect("UTF-8");
    let words = ["generate", "pagealloc", "--memory", "256MiB", "--events", "1000", "-o", path];
    run(words).fails(2, &["exists", "--force"]);
    assert_eq!(fs::read(path).expect("the file"), b"mine");
    run(words.into_iter().chain(["--force"])).ok();
    assert_ne!(fs::read(path).expect("the file"), b"mine");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = folder();
    let out = folder.path().join("x.arrows");
    let out = out.to_str().expect("UTF-8");
    for (words, said) in [
        ("kbuild", &["memcache-kbuild-thp", "mmap-read"][..]),
        ("pagealloc --memory 4", &["512MiB"]),
        ("pagealloc --memory 1MiB", &["64 to"]),
        ("pagealloc --cpus 0", &["CPUs"]),
        ("pagealloc --events 0", &["0"]),
        ("pagealloc --era linux-2.4", &["linux-6.1"]),
        ("pagealloc --builds 3", &["--builds is for memcache-kbuild-thp"]),
        ("pagealloc --like x", &["--like is for mix"]),
        ("pagealloc --json", &["--table"]),
        ("mix", &["--like TRACE"]),
        ("mix --like /does/not/exist", &["/does/not/exist", "check the path"]),
    ] {
        let words = format!("generate {words} -o {out}");
        run(words.split(' ')).fails(2, said);
    }
    run(["generate", "mmap-read"]).fails(2, &["--output"]);
    run(["generate", "mmap-read", "--table"]).fails(2, &["--table is for memcache-kbuild-thp"]);
    assert_eq!(names(folder.path()), [""; 0], "nothing is left behind");
    let nowhere = folder.path().join("no/folder/x.arrows");
    run(["generate", "pagealloc", "-o", nowhere.to_str().expect("UTF-8")]).fails(4, &["folder"]);
}

#[test]
fn a_full_device_is_told_and_leaves_nothing() {
    let ran = finish(freehold(["generate", "pagealloc", "--memory", "256MiB", "--force", "-o", "/dev/full"]));
    ran.fails(4, &["/dev/full"]);
}

#[test]
fn a_mix_is_drawn_from_a_recorded_trace() {
    let (folder, trace) = small_trace();
    let out = folder.path().join("mix.arrows");
    let [like, out_text] = [&trace, &out].map(|path| path.to_str().expect("UTF-8"));
    run(["generate", "mix", "--like", like, "--memory", "1GiB", "-o", out_text]).ok();
    assert!(events(&out) > 1000, "{} events", events(&out));
    let json = run(["replay", out_text, "--era", "linux-6.12", "--json"]).ok().json();
    assert_eq!(json["replay"]["measures"]["followed"]["refused"], 0);
    let damaged = folder.path().join("damaged.arrows");
    fs::write(&damaged, &fs::read(sample("thp-churn.arrows")).expect("a trace")[..10_000]).expect("a file");
    let damaged = damaged.to_str().expect("UTF-8");
    run(["generate", "mix", "--like", damaged, "-o", "y.arrows"]).fails(2, &["damaged.arrows"]);
}

#[test]
fn the_hygiene_table_is_printed_in_three_forms() {
    let words = "generate memcache-kbuild-thp --table --memory 256MiB --cpus 2 --builds 1";
    let text = run(words.split(' ')).ok().stdout;
    assert!(
        text.contains("Direct compact success rate %") && text.contains("linux-6.1 with hygiene"),
        "{text}"
    );
    let csv = run(words.split(' ').chain(["--csv"])).ok().stdout;
    assert!(csv.contains("File refaults") && csv.contains("17701.64"), "{csv}");
    let json = run(words.split(' ').chain(["--json"])).ok().json();
    assert_eq!(json["table"]["rows"].as_array().map(Vec::len), Some(32));
    assert_eq!(json["sides"][0]["builds"].as_array().map(Vec::len), Some(1));
}
