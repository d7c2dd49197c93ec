//! `include/freehold.h` is up to date with the crate.

use std::env;
use std::fs;
use std::path::Path;

/// The environment variable that makes the test rewrite the header.
const REWRITE: &str = "FREEHOLD_REWRITE";

#[test]
fn header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut made = Vec::new();
    cbindgen::generate(folder).expect("the crate parses").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let path = folder.join("include/freehold.h");
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if kept == made {
        return;
    }
    if env::var_os(REWRITE).is_some() {
        fs::write(&path, made).expect("the header can be written");
        return;
    }
    panic!(
        "include/freehold.h is out of date. Rewrite it with `{REWRITE}=1 cargo test -p freehold-capi --test main \
         header`"
    );
}
