//! The test that needs a compiler for C++: `cargo xtask live` runs it.

use std::path::Path;
use std::process::Command;

#[test]
fn the_header_is_good_for_cpp_too() {
    if !freehold_needs::has_program("c++", "the_header_is_good_for_cpp_too") {
        return;
    }
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"]);
    compiler.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/freehold.h"));
    let compiled = compiler.output().expect("the compiler runs");
    assert!(compiled.status.success(), "{compiler:?}: {}", String::from_utf8_lossy(&compiled.stderr));
}
