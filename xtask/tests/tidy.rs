//! The repository keeps its own rules, and the checks can fail.

use std::fs;
use std::path::Path;

#[test]
fn the_repository_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let findings = xtask::tidy::findings(&root).expect("the repository can be read");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn each_rule_finds_what_breaks_it() {
    let root = std::env::temp_dir().join(format!("freehold-tidy-{}", std::process::id()));
    fs::create_dir_all(root.join("traces")).expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("a temporary file");
    write("ARCHITECTURE.md", "see `docs/absent.md` and [that](gone.md)");
    let long_function = format!("fn long() {{\n{}}}\n", "    step();\n".repeat(80));
    write("long.rs", &format!("{long_function}{}", "// line\n".repeat(400)));
    write("open.rs", "fn open() {\n    todo!()\n}\n");
    write("island.rs", "#![expect(unsafe_code)]\n");
    write("traces/bare.arrows", "x");
    let findings = xtask::tidy::findings(&root).expect("the folder can be read").join("\n");
    fs::remove_dir_all(&root).expect("the temporary folder goes");
    for expected in [
        "`docs/absent.md`, which does not exist",
        "links to gone.md",
        "more than one noun's",
        "`long` has 82 lines",
        "`todo!(` is left open",
        "ARCHITECTURE.md does not name",
        "has no provenance",
    ] {
        assert!(findings.contains(expected), "not found: {expected}\nin:\n{findings}");
    }
}
