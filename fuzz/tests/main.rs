//! Tests that every kept input, and thousands of variations, keep the properties that the fuzzer checks.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fastrand::Rng;
use freehold_fuzz::{TARGETS, Target};

/// The number of variations of each kept input.
const NEAR: u64 = 200;

#[test]
fn kept_inputs_and_variations_keep_every_property() {
    for target in TARGETS {
        let kept = kept(target.0);
        assert!(!kept.is_empty(), "fuzz/corpus/{} has no inputs", target.0);
        for (number, (name, bytes)) in kept.iter().enumerate() {
            hold(target, name, "as it is", bytes);
            for seed in 0..NEAR {
                let other = &kept[(number + seed as usize) % kept.len()].1;
                hold(target, name, &format!("seed {seed}"), &near(bytes, other, seed));
            }
        }
    }
}

#[test]
fn violated_property_is_detected() {
    let broken: Target = ("broken", |bytes| assert!(bytes.len() < 3, "three bytes"));
    assert!(holds(broken, b"ab") && !holds(broken, b"abc"));
}

/// The kept inputs of a target, in the order of their names.
fn kept(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut kept: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let path = entry.expect("an entry of the corpus").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read(&path).expect("an input of the corpus"))
        })
        .collect();
    kept.sort();
    kept
}

fn hold(target: Target, name: &str, how: &str, bytes: &[u8]) {
    assert!(holds(target, bytes), "{}: fuzz/corpus/{}/{name}, {how}", target.0, target.0);
}

fn holds((_, body): Target, bytes: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| body(bytes))).is_ok()
}

/// Returns an input with a fuzzer's changes: flipped bits, cuts, repeats, and parts of another input.
fn near(bytes: &[u8], other: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    let mut near = bytes.to_vec();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(0..near.len().max(1)).min(near.len());
        match random.u8(0..5) {
            0 => near.truncate(at),
            1 if at < near.len() => near[at] ^= 1 << random.u8(0..8),
            2 if at < near.len() => near[at] = random.u8(..),
            3 => {
                let end = (at + random.usize(0..32)).min(near.len());
                let part = near[at..end].to_vec();
                near.splice(at..at, part);
            }
            _ => {
                let from = random.usize(0..other.len().max(1)).min(other.len());
                let end = (from + random.usize(0..64)).min(other.len());
                let behind = (at + random.usize(0..64)).min(near.len());
                near.splice(at..behind, other[from..end].iter().copied());
            }
        }
    }
    near
}
