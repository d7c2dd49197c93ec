//! The example program in C builds against the header and the static library, and runs correctly.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The system libraries that the standard library of Rust needs.
const SYSTEM: [&str; 5] = ["-lpthread", "-ldl", "-lm", "-lrt", "-lgcc_s"];

fn crate_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Builds the static library in a separate folder, so that it does not wait for the cargo process that runs this test.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--package", "freehold-capi", "--lib", "--target-dir"]).arg(&folder);
    // Instrumentation, such as coverage counters, would need further libraries.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder.join("debug/libfreehold_capi.a")
}

fn compile(compiler: &mut Command) {
    let compiled = compiler.output().expect("the compiler runs");
    assert!(compiled.status.success(), "{compiler:?}: {}", String::from_utf8_lossy(&compiled.stderr));
}

#[test]
fn c_program_runs_with_spin_locks_and_with_its_own_locks() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embed");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-I"]);
    compiler.arg(crate_file("include")).arg(crate_file("examples/embed.c"));
    compiler.arg(library()).args(SYSTEM).arg("-o").arg(&program);
    compile(&mut compiler);
    for locks in ["spin", "own"] {
        let ran = Command::new(&program).arg(locks).output().expect("the program runs");
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{locks}: {:?}: {text}", ran.status);
        for expected in [
            "orders: 11 taken and freed",
            "by address: one page taken and freed",
            "offline: pageblock 0x",
            "contiguous: 768 pages taken and freed",
            "kswapd: ",
            "Node 0, zone    DMA32 ",
            "Node 0, zone   Normal ",
            "every check ",
        ] {
            assert!(text.lines().any(|line| line.starts_with(expected)), "{locks}: no {expected}: {text}");
        }
    }
}
