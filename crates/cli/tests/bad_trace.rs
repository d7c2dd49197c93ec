//! Traces that are none, or no longer: a message that names file and remedy, exit code 2.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt8Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

use crate::common::{self, Ran, folder, made_up_trace, names, run, run_words, small_trace};

/// Runs every command that reads a trace.
#[track_caller]
fn all_fail(trace: &Path, code: i32, words: &[&str]) {
    let file = trace.file_name().unwrap().to_str().unwrap();
    let words: Vec<_> = words.iter().copied().chain([file]).collect();
    let trace = trace.display();
    let output = format!("{trace}.out");
    for command in [
        format!("compare {trace}"),
        format!("compare {trace} --svg {output}"),
        format!("replay {trace} --era freehold"),
        format!("trace info {trace} --json"),
        format!("trace head {trace}"),
        format!("trace repack {trace} -o {output}"),
        format!("trace anonymize {trace} -o {output}"),
    ] {
        run_words(&command).fails(code, &words);
        assert!(!Path::new(&output).exists(), "{command}");
    }
}

fn info(trace: &Path, partial: bool) -> Ran {
    let mut args = vec!["trace", "info", trace.to_str().unwrap(), "--json"];
    args.extend(partial.then_some("--partial"));
    run(args)
}

#[test]
fn files_that_are_no_trace() {
    let folder = folder();
    let plain = {
        let column = Arc::new(UInt8Array::from(vec![1])) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    };
    let cases: [(&str, &[u8], &[&str]); 6] = [
        ("empty.arrows", b"", &["is empty", "record again"]),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &["not a Freehold trace"]),
        ("packed.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", &["gzip"]),
        ("trace.txt", b"# tracer: nop\n", &["import"]),
        ("short", b"x", &["not a Freehold trace"]),
        ("other.arrows", &plain, &["Arrow stream of something else"]),
    ];
    for (name, bytes, words) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        all_fail(&path, 65, words);
    }
    all_fail(&folder.path().join("missing.arrows"), 66, &["cannot be opened", "check the path"]);
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    all_fail(&sub, 66, &["name a file in it"]);
    assert!(names(folder.path()).iter().all(|name| !name.contains("partial")));
}

#[test]
fn a_newer_version() {
    let (folder, trace) = small_trace();
    let bytes = fs::read(trace).unwrap();
    let schema = StreamReader::try_new(&bytes[..], None).unwrap().schema();
    let mut schema = schema.as_ref().clone();
    schema.metadata.insert("freehold.version".to_owned(), "4".to_owned());
    let newer = StreamWriter::try_new(Vec::new(), &schema).unwrap().into_inner().unwrap();
    let path = folder.path().join("newer.arrows");
    fs::write(&path, newer).unwrap();
    all_fail(&path, 65, &["version 4", "up to 3", "newer"]);
}

#[test]
fn truncated_traces_are_rejected() {
    let (folder, trace) = made_up_trace();
    let bytes = fs::read(&trace).unwrap();
    let whole = common::events(&trace);
    let cut = folder.path().join("cut.arrows");
    let mut in_part = 0;
    let lengths = [1, 4, 7, 8, 100, 1000].into_iter().chain((1..16).map(|n| bytes.len() * n / 16));
    for length in lengths.chain([1, 2, 8, 9, 20].map(|less| bytes.len() - less)) {
        fs::write(&cut, &bytes[..length]).unwrap();
        let strict = info(&cut, false);
        if strict.code == Some(0) {
            assert_eq!(bytes.len() - length, 8, "only the end of the stream may be missing");
            continue;
        }
        strict.fails(65, &["cut.arrows"]);
        let partial = info(&cut, true);
        if bytes.len() - length < 8 {
            assert_eq!(partial.ok().json()["summary"]["events"], whole);
        } else if partial.code == Some(0) {
            assert!(partial.stderr.contains("cut short"), "{}", partial.stderr);
            assert!(partial.json()["summary"]["events"].as_u64() <= Some(whole));
            in_part += 1;
        } else {
            partial.fails(65, &["cut.arrows", "record again"]);
        }
    }
    assert!(in_part > 0, "some are readable in part");

    fs::write(&cut, &bytes[..bytes.len() - 20]).unwrap();
    let cut = cut.display();
    let refused = run_words(&format!("compare {cut}")).fails(65, &["cut.arrows", "--partial"]);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    let table = run_words(&format!("compare {cut} --partial --timing-rounds 1")).ok();
    assert!(table.stderr.contains("cut short") && table.stdout.contains("Costs"));
}

#[test]
fn flipped_bytes() {
    let (folder, trace) = small_trace();
    let bytes = fs::read(&trace).unwrap();
    let path = folder.path().join("flipped.arrows");
    for n in 0..24 {
        let at = bytes.len() * n / 24 + 3;
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        fs::write(&path, &damaged).unwrap();
        info(&path, false).fails(65, &["flipped.arrows"]);
        assert_ne!(info(&path, true).code, Some(70), "byte {at}");
    }
}

#[test]
fn invalid_arguments_are_refused() {
    let trace = common::sample("c-build.arrows");
    run(["replay", &trace, "--era", "linux-5.0"]).fails(64, &["linux-5.0", "the eras are linux-6.1, "]);
    run(["replay", &trace, "--era", "freehold", "--without", "luck"])
        .fails(64, &["luck", "the systems and rules are"]);
    run(["replay", &trace]).fails(64, &["--era"]);
    run(["compare"]).fails(64, &["TRACE"]);
    run(["compare", &trace, "--timing-rounds", "0"]).fails(64, &["--timing-rounds"]);
    run(["compare", &trace, "--json", "--csv"]).fails(64, &["--csv"]);
    run(["record", "-o", "x", "--duration=-1"]).fails(64, &["--duration"]);
    run(["record", "-o", "x", "--duration", "nan"]).fails(64, &["seconds"]);
    run(["frobnicate"]).fails(64, &["frobnicate"]);
    assert!(!Path::new("x").exists());
}
