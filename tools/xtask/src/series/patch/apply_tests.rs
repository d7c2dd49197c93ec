//! Tests with small made-up kernels, and patches that fit or do not.

use std::fs;

use super::*;
use crate::series::patch::patches::Series;

const MAKEFILE: (&str, &str) = ("kernel/Makefile", "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n");

const SHELF: (&str, &str) = (
    "kernel/mm/shelf.c",
    "struct shelf {\n\tint books;\n};\n\n\
     void put(struct shelf *s)\n{\n\ts->books++;\n}\n\n\
     void take(struct shelf *s)\n{\n\ts->books--;\n}\n\n\
     void move(struct shelf *a, struct shelf *b)\n{\n\tb->books++;\n\ta->books--;\n}\n",
);

const MESSAGE: (&str, &str) = ("series/0001-note/message", "shelf: note what is put\n\nSo that one knows.\n");

/// Returns a semantic patch that adds a line behind each `s->books++`. Its head names `places`.
fn rules(places: &str) -> String {
    format!(
        "// Notes what is put.\n// places 6.12: {places}\n\n\
         @@\nexpression s;\n@@\n s->books++;\n+note(s);\n"
    )
}

/// Applies a series to a kernel in which a test changed some files.
fn applied(name: &str, files: &[(&str, &str)]) -> Option<std::result::Result<Vec<Applied>, String>> {
    if !freehold_needs::has_program("spatch", name) {
        return None;
    }
    let scratch = Scratch::new().unwrap();
    for (name, text) in [MAKEFILE, SHELF, MESSAGE].iter().chain(files) {
        scratch.write(name, text).unwrap();
    }
    let tree = scratch.path().join("kernel");
    let before = listed(&tree);
    let series = Series::open(&scratch.path().join("series")).unwrap();
    let here = format!("{}/", scratch.path().display());
    let applied = apply(&series.patches, &tree, KernelVersion::V6_12)
        .map_err(|error| error.to_string().replace(&here, ""));
    assert_eq!(listed(&tree), before, "the tree is only read");
    Some(applied)
}

/// Returns every file of a small tree with its text.
fn listed(folder: &Path) -> Vec<(std::path::PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(listed(&path));
        } else {
            found.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn fitting_series_changes_the_named_places() {
    let first = rules("mm/shelf.c put, mm/shelf.c move");
    let files = [
        ("series/0001-note/10-put.cocci", first.as_str()),
        ("series/0001-note/lines", "Makefile: end: # noted\n"),
        ("series/0001-note/new/mm/note.h", "/* ours */\n"),
        ("series/0002-more/message", "shelf: more\n\nMore.\n"),
        (
            "series/0002-more/10-twice.cocci",
            "// Twice.\n// places 6.12: mm/shelf.c put\n// places 6.12: mm/shelf.c move\n\n\
             @@\nexpression s;\n@@\n-note(s);\n+note_twice(s);\n",
        ),
    ];
    let Some(applied) = applied("fitting_series_changes_the_named_places", &files) else { return };
    let applied = applied.unwrap();
    let outcome = outcome(&applied);
    assert_eq!(outcome.keys().collect::<Vec<_>>(), ["Makefile", "mm/note.h", "mm/shelf.c"]);
    let wanted = SHELF.1.replace("s->books++;\n", "s->books++;\n\tnote_twice(s);\n");
    let wanted = wanted.replace("b->books++;\n", "b->books++;\n\tnote_twice(b);\n");
    assert_eq!(outcome["mm/shelf.c"], wanted);
    assert!(outcome["Makefile"].ends_with("SUBLEVEL = 1\n# noted\n"));
    assert_eq!(applied[0].files["mm/note.h"].before, None);
    assert_eq!(applied[0].files["mm/shelf.c"].before.as_deref(), Some(SHELF.1));
    let noted = &applied[0].files["mm/shelf.c"].after;
    assert_eq!(applied[1].files["mm/shelf.c"].before.as_ref(), Some(noted));
    assert_eq!(applied[1].files.len(), 1);
}

#[test]
fn hunk_that_changes_another_place_is_named() {
    let rules = rules("mm/shelf.c put, mm/shelf.c take");
    let files = [("series/0001-note/10-put.cocci", rules.as_str())];
    let Some(applied) = applied("hunk_that_changes_another_place_is_named", &files) else { return };
    assert_eq!(
        applied.unwrap_err(),
        "0001-note/10-put.cocci does not fit Linux 6.12: it should change mm/shelf.c take, and does not; \
         it changes mm/shelf.c move, which it does not name; nothing was changed"
    );
}

#[test]
fn invalid_coccinelle_rules_are_named() {
    let files =
        [("series/0001-note/10-put.cocci", "// X.\n// places 6.12: mm/shelf.c put\n\n@@\n@@\n-note(\n")];
    let Some(applied) = applied("invalid_coccinelle_rules_are_named", &files) else { return };
    let error = applied.unwrap_err();
    let start = "0001-note/10-put.cocci does not fit Linux 6.12: spatch cannot apply it to mm/shelf.c:";
    assert!(error.starts_with(start) && error.contains("parse error"), "{error}");
}

#[test]
fn files_and_lines_that_are_not_there_are_named() {
    let rules = rules("mm/desk.c put");
    let files = [("series/0001-note/10-put.cocci", rules.as_str())];
    let Some(no_file) = applied("files_and_lines_that_are_not_there_are_named", &files) else { return };
    assert_eq!(
        no_file.unwrap_err(),
        "0001-note/10-put.cocci does not fit Linux 6.12: the kernel has no file mm/desk.c; nothing was changed"
    );
    let files = [("series/0001-note/lines", "Makefile: before-last endmenu: x\n")];
    let no_line = applied("files_and_lines_that_are_not_there_are_named", &files).unwrap().unwrap_err();
    assert_eq!(
        no_line,
        "0001-note/lines does not fit Linux 6.12: Makefile has no line `endmenu`; nothing was changed"
    );
}

#[test]
fn a_patched_tree_and_another_kernel_are_refused() {
    let new = ("series/0001-note/new/mm/note.h", "/* ours */\n");
    let name = "a_patched_tree_and_another_kernel_are_refused";
    let Some(patched) = applied(name, &[new, ("kernel/mm/note.h", "/* ours */\n")]) else { return };
    assert_eq!(
        patched.unwrap_err(),
        "kernel has the series already: mm/note.h of 0001-note exists; nothing was changed"
    );
    let other = applied(name, &[new, ("kernel/Makefile", "VERSION = 7\nPATCHLEVEL = 3\n")]).unwrap();
    assert_eq!(other.unwrap_err(), "kernel is not an unpacked source of Linux 6.12: it is Linux 7.3");
}
