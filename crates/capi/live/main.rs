//! The test that needs a C++ compiler: `cargo xtask live` runs it.

use std::path::Path;
use std::process::Command;

#[test]
fn header_compiles_as_cpp() {
    if !freehold_needs::has_program("c++", "header_compiles_as_cpp") {
        return;
    }
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"]);
    compiler.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/freehold.h"));
    let compiled = compiler.output().expect("the compiler runs");
    assert!(compiled.status.success(), "{compiler:?}: {}", String::from_utf8_lossy(&compiled.stderr));
}
