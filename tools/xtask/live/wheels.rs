//! Tests of the wheels of `cargo xtask dist` below `target/handed-out`.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use freehold_needs::{can, has_program};

/// Returns the wheels; if one is missing, skips `test`.
fn wheels(test: &str) -> Option<Vec<PathBuf>> {
    let folder = xtask::root().join("target/handed-out");
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let wheels: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "whl")).collect();
    let is_there = || {
        let all = wheels.len() == 4;
        all.then_some(())
            .ok_or_else(|| format!("{} of 4 wheels; `cargo xtask dist` makes them", wheels.len()))
    };
    (can(test, is_there) && has_program("python3", test)).then_some(wheels)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn each_wheel_matches_its_platform_and_lists_its_contents() {
    let test = "each_wheel_matches_its_platform_and_lists_its_contents";
    let Some(wheels) = wheels(test) else { return };
    for (platform, machine) in [
        ("manylinux_2_17_x86_64", 62),
        ("manylinux_2_17_aarch64", 183),
        ("musllinux_1_2_x86_64", 62),
        ("musllinux_1_2_aarch64", 183),
    ] {
        let is_it = |file: &&PathBuf| file.to_string_lossy().ends_with(&format!("{platform}.whl"));
        let wheel = wheels.iter().find(is_it).unwrap_or_else(|| panic!("no wheel for {platform}"));
        let tree = tempfile::tempdir().expect("a folder");
        let mut unpack = Command::new("python3");
        unpack.args(["-m", "zipfile", "-e"]).arg(wheel).arg(tree.path());
        assert!(unpack.status().expect("Python").success(), "{platform}");
        let library = fs::read(tree.path().join("freehold/_freehold.abi3.so")).expect("the library");
        assert_eq!(library[18..20], u16::to_le_bytes(machine), "{platform}");
        let libc = if platform.starts_with("musl") { "libc.so\0" } else { "libc.so.6\0" };
        assert!(contains(&library, libc), "{platform}: the C library of another");
        let root = xtask::root();
        let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME")).expect("a folder of crates");
        for path in [&root.display().to_string(), &format!("{home}/")] {
            assert!(!contains(&library, path), "{platform}: a path of this machine, {path}");
        }
        let licences = fs::read_to_string(tree.path().join("freehold/licences.txt")).expect("licences");
        assert!(licences.contains("arrow-ipc") && licences.contains("Apache License"), "{platform}");
        let list = fs::read(format!("{}.spdx.json", wheel.display())).expect("a list");
        let list: serde_json::Value = serde_json::from_slice(&list).expect("JSON");
        let parts = list["packages"].as_array().expect("parts");
        for name in ["freehold", "arrow-ipc", "pyo3", "std"] {
            assert!(parts.iter().any(|part| part["name"] == name), "{platform}: {name} is not on the list");
        }
        assert!(!parts.iter().any(|part| part["name"] == "libbpf"), "{platform}: the program's list");
    }
}
