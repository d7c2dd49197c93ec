//! `freehold dev generate`: traces by seed, and what is refused.

use std::fs;

use crate::common::{events, finish, folder, freehold, names, run};

#[test]
fn the_same_command_writes_the_same_trace() {
    let folder = folder();
    let generate = |name: &str, seed: &str| {
        let path = folder.path().join(name);
        let path = path.to_str().expect("UTF-8");
        let words = [
            "dev",
            "generate",
            "mmap-read",
            "--memory",
            "256MiB",
            "--events",
            "60000",
            "--seed",
            seed,
            "-o",
            path,
        ];
        let ran = run(words).ok();
        assert!(ran.stdout.is_empty() && ran.stderr.contains("events in"), "{}", ran.stderr);
        fs::read(path).expect("a trace")
    };
    let first = generate("a.arrows", "7");
    assert!(first == generate("b.arrows", "7"));
    assert!(first != generate("c.arrows", "8"));
    assert!(events(&folder.path().join("a.arrows")) >= 60_000);
    let info = run(["trace", "info", folder.path().join("a.arrows").to_str().expect("UTF-8")]).ok();
    assert!(info.stdout.contains("freehold dev generate mmap-read --seed 7"), "{}", info.stdout);
    assert!(info.stdout.contains("generate, freehold"), "{}", info.stdout);
}

#[test]
fn a_trace_that_is_there_is_not_replaced() {
    let folder = folder();
    let path = folder.path().join("there.arrows");
    fs::write(&path, "mine").expect("a file");
    let path = path.to_str().expect("UTF-8");
    let words = ["dev", "generate", "mmap-read", "--memory", "256MiB", "--events", "1000", "-o", path];
    run(words).fails(64, &["exists", "--force"]);
    assert_eq!(fs::read(path).expect("the file"), b"mine");
    run(words.into_iter().chain(["--force"])).ok();
    assert_ne!(fs::read(path).expect("the file"), b"mine");
}

#[test]
fn contradictory_options_are_refused() {
    let folder = folder();
    let out = folder.path().join("x.arrows");
    let out = out.to_str().expect("UTF-8");
    for (words, said) in [
        ("kbuild", &["mmap-read"][..]),
        ("mmap-read --memory 4", &["512MiB"]),
        ("mmap-read --memory 1MiB", &["64 to"]),
        ("mmap-read --cpus 0", &["CPUs"]),
        ("mmap-read --events 0", &["0"]),
        ("mmap-read --era linux-2.4", &["linux-6.1"]),
    ] {
        let words = format!("dev generate {words} -o {out}");
        run(words.split(' ')).fails(64, said);
    }
    run(["dev", "generate", "mmap-read"]).fails(64, &["--output"]);
    assert_eq!(names(folder.path()), [""; 0], "nothing is left behind");
    let nowhere = folder.path().join("no/folder/x.arrows");
    run(["dev", "generate", "mmap-read", "-o", nowhere.to_str().expect("UTF-8")]).fails(74, &["folder"]);
}

#[test]
fn full_device_is_reported_and_leaves_nothing() {
    let ran = finish(freehold([
        "dev",
        "generate",
        "mmap-read",
        "--memory",
        "256MiB",
        "--force",
        "-o",
        "/dev/full",
    ]));
    ran.fails(74, &["/dev/full"]);
}
