//! README and the pages about comparisons show what `freehold compare` prints.

use std::path::Path;

use crate::common::compared::C_BUILD;

/// Reads a document of the repository.
fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    plain(&std::fs::read_to_string(path).expect(name))
}

/// Numbers with plain spaces between their digits.
fn plain(text: &str) -> String {
    text.replace('\u{202f}', " ")
}

/// Returns the first block of text in a document.
fn pasted(document: &str) -> &str {
    let (_, rest) = document.split_once("```text\n").expect("a block of text");
    rest.split_once("```").expect("its end").0
}

#[test]
fn readme_samples_match_the_output() {
    let printed = plain(&C_BUILD.printed);
    for name in ["README.md", "docs/guide/compare.md"] {
        let text = document(name);
        assert!(printed.contains(pasted(&text).trim_end()), "{name} has another screen than:\n{printed}");
    }
    let readme = document("README.md");
    for command in ["cargo run -- compare traces/c-build.arrows", "cargo test --workspace"] {
        assert!(readme.contains(command), "no {command}");
    }
}

#[test]
fn page_of_eras_matches_the_attribution() {
    let page = document("docs/design/eras.md");
    let findings = C_BUILD.trace["findings"].as_array().expect("findings");
    let findings: Vec<_> =
        findings.iter().map(|finding| plain(finding.as_str().expect("a sentence"))).collect();
    let numbers_of = |start: &str, what: &str| {
        let line = findings.iter().find(|line| line.starts_with(start) && line.contains(what));
        let line = line.unwrap_or_else(|| panic!("no {start:?} with {what:?} in: {findings:#?}"));
        let numbers = line.rsplit_once('(').expect("numbers").1.trim_end_matches(')').to_owned();
        numbers.split_once(" → ").map(|(less, with)| (less.to_owned(), with.to_owned())).expect("two numbers")
    };
    let within = |part: &str, era: &str| format!("{part}, in {era} without it and with it: ");
    for (start, what) in [
        ("hygiene, alone on linux-6.1: ".to_owned(), "steals"),
        (within("remembered mode", "linux-6.12"), "steals"),
        (within("batched draining", "freehold"), "pages in the largest drain"),
    ] {
        let (less, with) = numbers_of(&start, what);
        assert!(page.contains(&format!("{less} → {with}")), "{start}{less} → {with}");
    }
    let (less, with) = numbers_of(&within("hygiene", "linux-6.12"), "free blocks on another type's list");
    assert!(page.contains(&format!("another type's list {with}, then {less}")), "{less} → {with}");
}
