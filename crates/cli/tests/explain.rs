//! `freehold explain`: files, standard input, and texts without a report.

use std::io::Write as _;
use std::process::Stdio;

use crate::common::{folder, freehold, run};

const CASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../explain/tests/cases/splat-frag-order4/splat.txt");

#[test]
fn a_report_is_explained_from_a_file_and_from_standard_input() {
    let text = run(["explain", CASE]).ok().stdout;
    assert!(text.starts_with("Fragmentation: Normal has no free block of 64 kB or more"), "{text}");
    let json = run(["explain", "--json", CASE]).ok().json();
    assert_eq!((&json["class"], &json["certainty"]), (&"fragmentation".into(), &"certain".into()));

    let mut child =
        freehold(["explain"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("freehold starts");
    let mut input = child.stdin.take().unwrap();
    input.write_all(&std::fs::read(CASE).unwrap()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), text);
}

#[test]
fn texts_without_a_report_say_what_was_looked_for() {
    let folder = folder();
    let path = folder.path().join("log");
    for (content, words) in [
        (b"[ 1.0] usb 1-1: new device\n".as_slice(), "the 1 lines contain none"),
        (b"", "empty"),
        (&[0; 4096], "binary"),
        (b"FreeBSD 14.0-RELEASE\n", "FreeBSD"),
    ] {
        std::fs::write(&path, content).unwrap();
        run(["explain", path.to_str().unwrap()]).fails(65, &["no report", words, "Mem-Info"]);
    }
    run(["explain", "/nowhere/log"]).fails(66, &["cannot read /nowhere/log"]);
    run(["explain", folder.path().to_str().unwrap()]).fails(66, &["cannot read"]);
}
