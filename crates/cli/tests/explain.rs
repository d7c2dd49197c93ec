//! `freehold explain`: files, standard input, and texts without a report.

use std::io::Write as _;
use std::process::Stdio;

use crate::common::{folder, freehold, gzip, run};

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
fn texts_without_a_report_name_the_expected_reports() {
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

/// An entry of a tar archive.
fn archived(path: &str, text: &[u8]) -> Vec<u8> {
    let mut entry = vec![0; 512];
    entry[..path.len()].copy_from_slice(path.as_bytes());
    entry[124..135].copy_from_slice(format!("{:011o}", text.len()).as_bytes());
    entry[257..262].copy_from_slice(b"ustar");
    entry.extend_from_slice(text);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

#[test]
fn logs_are_found_in_folders_and_archives() {
    let whole = run(["explain", CASE]).ok().stdout;
    let report = std::fs::read(CASE).unwrap();
    let made = folder();
    let logs = made.path().join("sosreport-x/sos_commands/kernel");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join("dmesg_-T"), &report).unwrap();
    std::fs::write(made.path().join("sosreport-x/version.txt"), "4.5").unwrap();
    assert_eq!(run(["explain", made.path().to_str().unwrap()]).ok().stdout, whole);
    let archive = made.path().join("sosreport-x.tar");
    let entries =
        [archived("x/proc/meminfo", b"MemTotal: 1 kB\n"), archived("x/var/log/messages", &report)].concat();
    std::fs::write(&archive, &entries).unwrap();
    assert_eq!(run(["explain", archive.to_str().unwrap()]).ok().stdout, whole);
    std::fs::write(&archive, gzip(&entries)).unwrap();
    assert_eq!(run(["explain", archive.to_str().unwrap()]).ok().stdout, whole);
}

#[test]
fn compressed_logs_of_a_folder_are_read() {
    let whole = run(["explain", CASE]).ok().stdout;
    let packed = gzip(&std::fs::read(CASE).unwrap());
    let logs = folder();
    std::fs::write(logs.path().join("kern.log"), "nothing here\n").unwrap();
    std::fs::write(logs.path().join("kern.log.2.gz"), &packed).unwrap();
    assert_eq!(run(["explain", logs.path().to_str().unwrap()]).ok().stdout, whole);
    std::fs::write(logs.path().join("kern.log.2.gz"), &packed[..packed.len() / 9]).unwrap();
    // A damaged log takes nothing from the others.
    std::fs::write(logs.path().join("kern.log.1"), std::fs::read(CASE).unwrap()).unwrap();
    let ran = run(["explain", logs.path().to_str().unwrap()]).ok();
    assert_eq!(ran.stdout, whole);
    assert!(ran.stderr.contains("kern.log.2.gz") && ran.stderr.contains("gzip --test"), "{}", ran.stderr);
}

#[test]
fn a_file_with_free_blocks_alone_names_the_command_for_it() {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/roots/excerpt-one-file/bugreport.txt");
    run(["explain", text]).fails(65, &["no report of a failed allocation", "freehold snapshot --root"]);
}
