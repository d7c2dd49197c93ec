//! Tests that the repository follows its rules, and that each check can fail.

use std::fs;

#[test]
fn the_repository_is_tidy() {
    let findings = xtask::tidy::findings(xtask::root()).expect("the repository can be read");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn each_rule_finds_a_violation() {
    let root = std::env::temp_dir().join(format!("freehold-tidy-{}", std::process::id()));
    for folder in ["traces", "docs"] {
        fs::create_dir_all(root.join(folder)).expect("a temporary folder");
    }
    let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("a temporary file");
    write(
        "ARCHITECTURE.md",
        "see `docs/absent.md`, `absent.rs`, `long.rs` `long`, `short` and [that](gone.md)",
    );
    write("docs/SUMMARY.md", "- [Architecture](../ARCHITECTURE.md)\n");
    write("docs/unlisted.md", "");
    let long_function = format!("fn long() {{\n{}}}\n", "    step();\n".repeat(80));
    write("long.rs", &format!("{long_function}{}", "// line\n".repeat(400)));
    write("open.rs", "fn open() {\n    todo!()\n}\n");
    write("island.rs", "#![expect(unsafe_code)]\n");
    write("traces/bare.arrows", "x");
    write("module.c", "// SPDX-License-Identifier: MIT\n");
    let findings = xtask::tidy::findings(&root).expect("the folder can be read").join("\n");
    fs::remove_dir_all(&root).expect("the temporary folder goes");
    for expected in [
        "`docs/absent.md`, which does not exist",
        "`absent.rs`, which does not exist",
        "names `short` of `long.rs`",
        "docs/SUMMARY.md: does not list docs/unlisted.md",
        "links to gone.md",
        "more than one noun's",
        "`long` has 82 lines",
        "`todo!(` is left open",
        "island.rs: an island of unsafe code that docs/design/unsafe-code.md does not name",
        "has no provenance",
        "module.c: goes into Linux",
    ] {
        assert!(findings.contains(expected), "not found: {expected}\nin:\n{findings}");
    }
    for sound in ["names `long.rs`,", "names `long` of", "does not list ARCHITECTURE.md"] {
        assert!(!findings.contains(sound), "found: {sound}\nin:\n{findings}");
    }
}

#[test]
fn test_file_without_a_program_is_found() {
    let root = std::env::temp_dir().join(format!("freehold-left-out-{}", std::process::id()));
    for folder in ["tests/common", "live"] {
        fs::create_dir_all(root.join(folder)).expect("a temporary folder");
    }
    let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("a temporary file");
    write("ARCHITECTURE.md", "");
    let programs = "[[test]]\nname = \"main\"\n[[test]]\nname = \"program\"\n";
    write("Cargo.toml", &format!("[package]\nname = \"forgotten\"\nautotests = false\n{programs}"));
    write("tests/main.rs", "mod module;\n");
    for test in ["forgotten", "module", "program", "common/mod"] {
        write(&format!("tests/{test}.rs"), "");
    }
    write("live/main.rs", "mod module;\n");
    for test in ["forgotten", "module"] {
        write(&format!("live/{test}.rs"), "");
    }
    let by_hand = xtask::tidy::findings(&root).expect("the folder can be read").join("\n");
    write("Cargo.toml", &format!("[package]\n{programs}"));
    let by_cargo = xtask::tidy::findings(&root).expect("the folder can be read").join("\n");
    fs::remove_dir_all(&root).expect("the temporary folder goes");
    assert!(by_hand.contains("tests/forgotten.rs: no test program has it"), "{by_hand}");
    assert!(
        by_hand.contains("live/forgotten.rs: no test program has it; name it in live/main.rs"),
        "{by_hand}"
    );
    assert_eq!(by_hand.matches("no test program").count(), 2, "{by_hand}");
    assert!(!by_cargo.contains("no test program"), "{by_cargo}");
}

#[test]
fn imports_against_the_order_and_circles_are_found() {
    let root = std::env::temp_dir().join(format!("freehold-rooms-{}", std::process::id()));
    let source = root.join("crates/house/src");
    fs::create_dir_all(source.join("low")).expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(source.join(name), text).expect("a temporary file");
    let order = "### The order of the rooms\n\n| `crates/house` | `low`, `high`, `gone` |\n";
    fs::write(root.join("ARCHITECTURE.md"), order).expect("a temporary file");
    write("lib.rs", "mod low;\nmod high;\nmod loose;\npub use low::a::A;\npub use high::High;\n");
    write("low/mod.rs", "mod a;\nmod b;\npub(crate) use a::A;\npub(crate) use b::B;\n");
    // Through `mod.rs`, which only re-exports.
    write("low/a.rs", "use super::B;\npub struct A(Option<Box<B>>);\n");
    write("low/b.rs", "pub struct B(Box<crate::low::A>);\nfn up() -> Option<crate::high::High> { None }\n");
    write(
        "high.rs",
        "use crate::A;\npub struct High(A);\n#[cfg(test)]\nmod tests { use crate::loose::L; }\n",
    );
    write("loose.rs", "// Circle: each names the other.\nuse crate::high::High;\npub struct L(High);\n");
    let findings = xtask::tidy::findings(&root).expect("the folder can be read").join("\n");
    fs::remove_dir_all(&root).expect("the temporary folder goes");
    for expected in [
        "house` has no room `gone`",
        "does not say where `loose` of `crates/house` stands",
        "low/b.rs:2: `low` stands before `high` and may not import from it",
        "high.rs:1: `crate::A` goes by the crate's root",
        "a circle of files: crates/house/src/low/a.rs → crates/house/src/low/b.rs → crates/house/src/low/a.rs",
    ] {
        assert!(findings.contains(expected), "not found: {expected}\nin:\n{findings}");
    }
    assert_eq!(
        findings.matches("circle").count(),
        2,
        "two circles, of which one is through low:\n{findings}"
    );
    assert!(!findings.contains("loose.rs → "), "an import with a defence closes no circle:\n{findings}");
}

#[test]
fn a_crate_without_an_order_of_its_rooms_is_found() {
    let root = std::env::temp_dir().join(format!("freehold-orders-{}", std::process::id()));
    for name in ["crates/house", "fuzz", "tools/xtask"] {
        let source = root.join(name).join("src");
        fs::create_dir_all(&source).expect("a temporary folder");
        fs::write(source.join("lib.rs"), "mod low;\n").expect("a temporary file");
        fs::write(source.join("low.rs"), "").expect("a temporary file");
    }
    let order = "### The order of the rooms\n\n| `tools/xtask` | `low` |\n";
    fs::write(root.join("ARCHITECTURE.md"), order).expect("a temporary file");
    let findings = xtask::tidy::findings(&root).expect("the folder can be read");
    fs::remove_dir_all(&root).expect("the temporary folder goes");
    assert_eq!(
        findings,
        ["crates/house", "fuzz"]
            .map(|name| format!("ARCHITECTURE.md: does not say the order of the rooms of `{name}`"))
    );
}

#[test]
fn two_public_types_of_one_name_are_found() {
    let root = std::env::temp_dir().join(format!("freehold-names-{}", std::process::id()));
    for name in ["crates/house", "crates/shed"] {
        let source = root.join(name).join("src");
        fs::create_dir_all(&source).expect("a temporary folder");
        let write = |name: &str, text: &str| fs::write(source.join(name), text).expect("a temporary file");
        write("lib.rs", "mod one;\nmod other;\n#[cfg(test)]\nmod planted;\n");
        write("one.rs", "pub struct Key;\npub enum Door {}\npub(crate) struct Room;\n");
        write("other.rs", "struct Key;\npub type Room = u8;\n");
        write("planted.rs", "pub struct Key;\n");
    }
    let order = "### The order of the rooms\n\n| `crates/house` | `one`, `other`, `planted` |\n| `crates/shed` | `one`, `other`, `planted` |\n";
    fs::write(root.join("ARCHITECTURE.md"), order).expect("a temporary file");
    let source = root.join("crates/house/src");
    let apart = xtask::tidy::findings(&root).expect("the folder can be read");
    fs::write(source.join("other.rs"), "mod inner {\n    pub trait Door {}\n}\n").expect("a temporary file");
    let together = xtask::tidy::findings(&root).expect("the folder can be read");
    fs::remove_dir_all(&root).expect("the temporary folder goes");
    assert!(apart.is_empty(), "{}", apart.join("\n"));
    let place =
        "crates/house/src/other.rs:2: `Door` is also the name of a public type in crates/house/src/one.rs:2";
    assert_eq!(together, [place]);
}
