//! Outputs that cannot be written, and readers that stop reading.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::common::{self, finish, freehold, made_up_trace, names, run, small_trace};

#[test]
fn folders_that_take_no_file() {
    let (folder, trace) = small_trace();
    let text = folder.path().join("small.txt").display().to_string();
    let trace = trace.display().to_string();
    let missing = folder.path().join("missing/out.arrows").display().to_string();
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    let sub = sub.display().to_string();
    let before = names(folder.path());
    for (output, code, remedy) in [
        (missing.as_str(), 74, "make its folder first"),
        ("/proc/out.arrows", 74, "cannot be created"),
        (&sub, 64, "exists"),
    ] {
        run(["trace", "repack", &trace, "-o", output]).fails(code, &[output, remedy]);
        let args = common::import_args(Path::new(&text), Path::new(output));
        run(args).fails(code, &[output, remedy]);
        run(["record", "-o", output, "--duration", "1"]).fails(code, &[output, remedy]);
    }
    run(["compare", &trace, "--svg", &missing]).fails(74, &[&missing, "make its folder first"]);
    run(["trace", "repack", &trace, "-o", &sub, "--force"]).fails(74, &[&sub, "it is a folder"]);
    run(["record", "-o", &sub, "--force"]).fails(74, &[&sub, "it is a folder"]);
    assert_eq!(names(folder.path()), before);
}

#[test]
fn standard_output_that_takes_nothing() {
    let full = File::options().write(true).open("/dev/full").expect("a device of every Linux");
    let (_folder, trace) = small_trace();
    let mut command = freehold(["trace", "head", trace.to_str().unwrap()]);
    command.stdout(full.try_clone().unwrap());
    let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(74), "{message}");
    assert!(message.contains("standard output cannot be written"), "{message}");

    let mut command = freehold(["trace", "info", "missing"]);
    command.stderr(full);
    assert_eq!(command.status().unwrap().code(), Some(66), "messages that nobody can hear");
}

#[test]
fn a_reader_that_stops_reading() {
    let (_folder, trace) = made_up_trace();
    let trace = trace.to_str().unwrap();
    let many = ["trace", "head", trace, "-n", "100000"];
    for args in [&many[..], &["trace", "info", trace, "--json"], &["compare", trace, "--timing-rounds", "1"]]
    {
        let mut command = freehold(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
        if args == many {
            reader.read_line(&mut String::new()).unwrap();
        }
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
    let help = finish(freehold(["--help"])).ok().stdout;
    assert!(help.contains("Exit codes") && help.contains("compare"), "{help}");
}
