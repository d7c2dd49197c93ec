//! `freehold dev new-rule`: Cargo takes the crate that it makes.

use std::process::Command;

use crate::common::{folder, run};

#[test]
fn cargo_can_build_the_crate_with_the_versions_of_the_source() {
    let place = folder();
    let folder = place.path().join("fullest-first");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    run(["dev", "new-rule", "fullest-first", "--source", source, "-o", folder.to_str().unwrap()]).ok();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--prefix", "none", "--depth", "1"]).current_dir(&folder);
    let tree = cargo.output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    for name in ["fullest-first v0.1.0", "freehold v", "freehold-lab v", "freehold-trace v"] {
        assert!(tree.contains(name), "{tree}");
    }
}
