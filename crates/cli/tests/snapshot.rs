//! `freehold snapshot`, on the files of other kernels.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, run};

fn fixture(kernel: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures").join(kernel)
}

fn snapshot(root: &Path, more: &[&str]) -> common::Ran {
    let root = root.to_str().unwrap();
    run(["snapshot", "--sensor", "procfs", "--root", root].iter().chain(more))
}

#[test]
fn kernel_texts_are_printed_unchanged() {
    let wide = [
        "linux-6.12-arm64-16k",
        "linux-6.12-arm64-64k",
        "linux-6.12-arm64-numa",
        "linux-6.12-arm64-order13",
        "linux-6.18-arm64-16k",
    ];
    for kernel in ["linux-5.15", "linux-6.12-cma", "linux-6.18"].into_iter().chain(wide) {
        let text = fs::read_to_string(fixture(kernel).join("proc/pagetypeinfo")).unwrap();
        assert_eq!(snapshot(&fixture(kernel), &[]).ok().stdout, text, "{kernel}");
    }
    for kernel in ["linux-6.18"].into_iter().chain(wide) {
        let text = fs::read_to_string(fixture(kernel).join("proc/buddyinfo")).unwrap();
        assert_eq!(snapshot(&fixture(kernel), &["--format", "buddyinfo"]).ok().stdout, text, "{kernel}");
    }
}

#[test]
fn types_that_a_vendor_added_keep_their_names() {
    let folder = common::folder();
    let proc = folder.path().join("proc");
    fs::create_dir(&proc).unwrap();
    for name in ["buddyinfo", "zoneinfo", "vmstat", "meminfo"] {
        fs::copy(fixture("linux-6.12-arm64").join("proc").join(name), proc.join(name)).unwrap();
    }
    let text = fs::read_to_string(fixture("linux-6.12-arm64").join("proc/pagetypeinfo")).unwrap();
    let text = text.replace("     CMA ", "  RSVCMA ");
    assert_eq!(text.matches("RSVCMA").count(), 2, "a row and a column");
    fs::write(proc.join("pagetypeinfo"), &text).unwrap();
    assert_eq!(snapshot(folder.path(), &[]).ok().stdout, text);
    let json = snapshot(folder.path(), &["--format", "json"]).ok().json();
    assert_eq!(json["types"][4], "RSVCMA");
    assert_eq!(json["zones"][0]["by_type"].as_array().unwrap().len(), 6, "as many as types");
}

#[test]
fn json_has_the_indices() {
    let json = snapshot(&fixture("linux-6.12-cma"), &["--format", "json"]).ok().json();
    assert_eq!(json["sensor"]["source"], "pagetypeinfo");
    assert_eq!(json["types"][4], "CMA");
    let zone = &json["zones"][2];
    assert_eq!(zone["name"], "Normal");
    assert_eq!(zone["free"][0]["capped"], true);
    assert!(zone["unusable_index"][9].as_f64().unwrap() > 0.0);
}

#[test]
fn unavailable_values_are_named() {
    let folder = common::folder();
    fs::create_dir(folder.path().join("proc")).unwrap();
    let copy = |name: &str| {
        fs::copy(fixture("linux-6.18").join("proc").join(name), folder.path().join("proc").join(name))
            .unwrap()
    };
    snapshot(folder.path(), &[]).fails(66, &["buddyinfo", "No such file"]);
    copy("buddyinfo");
    snapshot(folder.path(), &[]).fails(69, &["free blocks by migratetype", "--format buddyinfo"]);
    let ran = snapshot(folder.path(), &["--format", "buddyinfo"]).ok();
    assert!(!ran.stderr.contains("zoneinfo"), "no other file is read: {}", ran.stderr);
    fs::write(folder.path().join("proc/buddyinfo"), "Node 0, zone DMA 1 2 three\n").unwrap();
    snapshot(folder.path(), &[]).fails(65, &["buddyinfo:1", "free blocks", "three"]);
}

#[test]
fn follow_prints_until_the_reader_ends() {
    let root = fixture("linux-6.18");
    let text = fs::read_to_string(root.join("proc/pagetypeinfo")).unwrap();
    let follow = |format: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_freehold"));
        command
            .args(["snapshot", "--sensor", "procfs", "--follow", "0.05", "--format", format, "--root"])
            .arg(&root);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        command.spawn().expect("the binary starts")
    };
    let mut child = follow("pagetypeinfo");
    let mut twice = vec![0; text.len() * 2];
    let mut output = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut output, &mut twice).unwrap();
    assert_eq!(String::from_utf8(twice).unwrap(), [text.as_str(); 2].concat());
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(0), "a closed pipe is no error");
    let mut child = follow("json");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let read: Vec<serde_json::Value> =
        lines.take(3).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(read.iter().all(|json| json["zones"][2]["name"] == "Normal"));
    assert!(read[0]["unix_ms"].as_u64() < read[2]["unix_ms"].as_u64());
    child.wait().unwrap();
}

#[test]
fn follow_rewrites_the_file_after_its_folder_returns() {
    let folder = common::folder();
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    let file = below.join("text");
    let root = fixture("linux-6.18");
    let text = fs::read_to_string(root.join("proc/buddyinfo")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_freehold"));
    command
        .args(["snapshot", "--sensor", "procfs", "--follow", "0.02", "--format", "buddyinfo", "--root"])
        .arg(&root);
    let mut child = command.arg("-o").arg(&file).spawn().expect("the binary starts");
    let number = || fs::metadata(&file).ok().map(|found| std::os::unix::fs::MetadataExt::ino(&found));
    let began = std::time::Instant::now();
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 3 {
        assert!(began.elapsed().as_secs() < 60, "the file is not written anew: {seen:?}");
        seen.extend(number());
        if let Ok(now) = fs::read_to_string(&file) {
            assert_eq!(now, text);
        }
    }
    fs::rename(&below, folder.path().join("away")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    fs::create_dir(&below).unwrap();
    while !file.exists() {
        assert!(began.elapsed().as_secs() < 60, "the file is not written again");
        assert_eq!(child.try_wait().unwrap(), None, "it goes on");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    snapshot(&root, &["--format", "metrics", "--follow", "1"]).fails(64, &["-o FILE.prom"]);
}
