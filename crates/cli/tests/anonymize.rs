//! `freehold trace anonymize`: a trace to share, and what is refused.

use std::fs;
use std::path::Path;

use crate::common::compared::{PIPES, PIPES_TRACE};
use crate::common::{events, folder, made_up_trace, names, run, run_words, sample};

#[test]
fn anonymized_trace_compares_like_the_original() {
    let folder = folder();
    let own = sample(PIPES_TRACE);
    let shared = folder.path().join("shared.arrows").display().to_string();
    let ran = run(["trace", "anonymize", &own, "-o", &shared]).ok();
    assert_eq!(ran.stdout, "");
    for word in ["measures of compare, in short, are the same", "kept their time"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
    // Every table of the comparison in full, without what is timed while replaying.
    let untimed = |text: &str| {
        let is_timed = |line: &&str| line.contains(",ns,") || line.contains(",million events/s,");
        text.lines().filter(|line| !is_timed(line)).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = untimed(&PIPES.printed);
    let after =
        untimed(&run(["compare", &shared, "--replicates", "2", "--timing-rounds", "1", "--csv"]).ok().stdout);
    assert!(before.len() > 250, "{} lines", before.len());
    assert_eq!(before, after);
    assert_eq!(names(folder.path()).len(), 1);
    assert_eq!(events(own.as_ref()), events(shared.as_ref()));

    let info = run(["trace", "info", &own, "--json"]).ok().json();
    let text = run(["trace", "info", &shared, "--json"]).ok().stdout;
    let origin = &info["origin"];
    let command = origin["command"].as_array().unwrap().iter().filter_map(|word| word.as_str());
    let release = origin["kernel_release"].as_str().unwrap();
    let secrets: Vec<_> = command.chain([release]).filter(|word| word.len() > 3).collect();
    assert_eq!(secrets, ["unmovable", "6.18.15+deb13-cloud-amd64"]);
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[test]
fn same_seed_writes_the_same_file() {
    let (folder, trace) = made_up_trace();
    let trace = trace.display();
    let made = |name: &str, seed: &str| {
        let path = folder.path().join(name);
        run_words(&format!("trace anonymize {trace} -o {} --blur 500us{seed}", path.display())).ok();
        fs::read(path).unwrap()
    };
    assert!(made("a", " --seed 3") == made("b", " --seed 3"));
    assert!(made("c", "") != made("d", ""), "a seed of its own each time");
}

#[test]
fn what_is_refused() {
    let (folder, trace) = made_up_trace();
    let (own, path) = (trace.display().to_string(), folder.path());
    let out = path.join("shared.arrows").display().to_string();
    let refused = |input: &str, output: &str, more: &str, code, words: &[&str]| {
        let ran = run_words(&format!("trace anonymize {input} -o {output} {more}")).fails(code, words);
        assert_eq!(ran.stderr.trim_end().lines().count(), 1, "{}", ran.stderr);
    };
    let before = fs::read(&trace).unwrap();
    for force in ["", "--force"] {
        refused(&own, &own, force, 64, &["is read for this", "name another file"]);
    }
    assert!(fs::read(&trace).unwrap() == before);

    fs::write(&out, "mine").unwrap();
    refused(&own, &out, "", 64, &["shared.arrows exists", "--force"]);
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    run_words(&format!("trace anonymize {own} -o {out} --force")).ok();
    assert_eq!(events(Path::new(&out)), events(&trace));
    fs::remove_file(&out).unwrap();

    let cut = path.join("cut.arrows");
    fs::write(&cut, &before[..before.len() - 20]).unwrap();
    let cut = cut.display().to_string();
    refused(&cut, &out, "", 65, &["cut.arrows", "--partial"]);
    assert!(!Path::new(&out).exists());
    run_words(&format!("trace anonymize {cut} -o {out} --partial")).ok();
    let info = run(["trace", "info", &out]).ok();
    assert!(info.stderr.contains("cut short"), "{}", info.stderr);
    fs::remove_file(&out).unwrap();

    let junk = path.join("junk").display().to_string();
    fs::write(&junk, "junk").unwrap();
    refused(&junk, &out, "", 65, &["junk", "not a Freehold trace"]);
    for blur in ["1", "-1ms", "2h", "soon"] {
        let ran = run_words(&format!("trace anonymize {own} -o {out} --blur={blur}"));
        ran.fails(64, &["--blur", "with its unit"]);
    }
    assert!(!Path::new(&out).exists());
    assert!(names(path).iter().all(|name| !name.contains("partial")));
}
