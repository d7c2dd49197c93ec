//! `freehold dev new-rule`: a crate for a rule of placement.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{freehold, names, run};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn a_crate_is_made_with_the_versions_of_the_source() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("fullest-first");
    let words = ["dev", "new-rule", "fullest-first", "--source", SOURCE, "-o", folder.to_str().unwrap()];
    let said = run(words).ok().stdout;
    assert!(said.contains("fullest-first/Cargo.toml -- TRACE.arrows"), "{said}");
    assert_eq!(names(place.path()), ["fullest-first"]);
    assert_eq!(names(&folder), ["Cargo.lock", "Cargo.toml", "src"]);
    let rule = fs::read_to_string(folder.join("src/main.rs")).unwrap();
    assert!(rule.contains(r#"const NAME: &str = "fullest-first";"#) && !rule.contains("my-rule"), "{rule}");
    // `live/new_rule.rs` has Cargo read both.
    let lock = |folder: &Path| fs::read(folder.join("Cargo.lock")).unwrap();
    assert!(lock(&folder) == lock(Path::new(SOURCE)), "other versions");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for name in ["freehold", "freehold-lab", "freehold-trace"] {
        assert!(manifest.contains(&format!("\n{name} = {{ path = ")), "{name}: {manifest}");
    }
}

#[test]
fn the_source_is_found_from_below_it() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("mine");
    let mut command = freehold(["dev", "new-rule", "mine", "-o", folder.to_str().unwrap()]);
    let ran = command.current_dir(Path::new(SOURCE).join("crates/lab/src")).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let source = Path::new(SOURCE).canonicalize().unwrap();
    assert!(manifest.contains(source.join("crates/lab").to_str().unwrap()), "{manifest}");
}

#[test]
fn bad_arguments_are_named_and_leave_nothing() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("there")).unwrap();
    symlink("/nowhere", at("link")).unwrap();
    fs::write(at("file"), "").unwrap();
    let refused = |words: &[&str], code, part: &str| {
        let ran = freehold(words.iter().copied()).current_dir(place.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(code) && stderr.contains(part), "{words:?}: {ran:?}");
    };
    for name in ["", "9", "-x", "a b", "a/b", "../a", "é", "std", "build", "freehold"] {
        refused(&["dev", "new-rule", "--source", SOURCE, "--", name], 64, "name");
    }
    refused(&["dev", "new-rule", "mine"], 64, "name a checkout with --source");
    refused(&["dev", "new-rule", "mine", "--source", &at("there")], 64, "is not Freehold's source");
    for there in ["there", "link", "file"] {
        refused(&["dev", "new-rule", "mine", "--source", SOURCE, "-o", &at(there)], 74, "exists");
    }
    refused(
        &["dev", "new-rule", "mine", "--source", SOURCE, "-o", &at("file/below")],
        74,
        "cannot be written",
    );
    refused(
        &["dev", "new-rule", "mine", "--source", SOURCE, "-o", &at("nowhere/below")],
        74,
        "cannot be written",
    );
    assert_eq!(names(place.path()), ["file", "link", "there"]);
    assert_eq!(names(&place.path().join("there")), [""; 0]);
}
