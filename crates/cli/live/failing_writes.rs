//! Every call by which a command writes fails once, by strace(1): the first, the second, until the command succeeds.
//!
//! Whatever fails, the command says so by its exit code, what was there before stays or its successor is complete, and
//! nothing half-written is left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use freehold_needs::{can, has_program};

use crate::common::{Ran, finish, folder, import_args, made_up_trace, names, run};
use crate::recordable::can_record;

/// Calls that put bytes on a device.
const BYTES: &str = "write,writev,pwrite64,pwritev,copy_file_range,sendfile,fallocate,ftruncate";

/// Calls that make bytes and names last, or names what they shall be.
const LASTING: [&str; 5] = ["fsync", "fdatasync", "rename,renameat,renameat2", "fchmod", "mkdir,mkdirat"];

/// More failures than any of these commands has calls.
const MOST: usize = 400;

/// A command that writes.
struct Writer {
    name: &'static str,
    args: Vec<String>,
    /// The folder of all output.
    folder: PathBuf,
    /// The output, and the journal that may remain beside it.
    output: &'static str,
    /// True if what is there is replaced.
    replaces: bool,
}

/// Returns true if strace can make calls fail here.
fn can_inject(test: &str) -> bool {
    has_program("strace", test)
        && can(test, || {
            let mut command = Command::new("strace");
            command.args(["-qq", "-e", "trace=getcwd", "-e", "inject=getcwd:error=EIO", "true"]);
            let ran = command.output().map_err(|error| error.to_string())?;
            let why = String::from_utf8_lossy(&ran.stderr).into_owned();
            if ran.status.success() { Ok(()) } else { Err(format!("strace cannot trace: {why}")) }
        })
}

/// Runs a command whose call number `number` of `calls` fails in every thread. If `paths` are given, only calls on them
/// count. Returns true also if one failed.
fn with_failure(args: &[String], paths: &[&Path], calls: &str, error: &str, number: usize) -> (Ran, bool) {
    let log = folder();
    let log = log.path().join("calls");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(&log);
    if paths.is_empty() {
        command.arg("--seccomp-bpf");
    }
    for path in paths {
        command.arg("-P").arg(path);
    }
    command.args(["-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={calls}:error={error}:when={number}")]);
    command.arg(env!("CARGO_BIN_EXE_freehold")).args(args);
    let ran = finish(command);
    let injected = fs::read_to_string(&log).is_ok_and(|text| text.contains("(INJECTED)"));
    (ran, injected)
}

/// All files of a folder with their lengths. A file that has an end of its own and is without it counts as empty.
fn contents(folder: &Path) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            found
                .extend(contents(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            let bytes = fs::read(&path).unwrap();
            let end: &[u8] = match path.extension().and_then(|kind| kind.to_str()) {
                Some("parquet") => b"PAR1",
                Some("svg") => b"</svg>",
                Some("html") => b"</html>",
                Some("json") => b"}",
                _ => b"",
            };
            let is_cut = !bytes.trim_ascii_end().ends_with(end);
            found.push((name, if is_cut { 0 } else { bytes.len() }));
        }
    }
    found
}

fn clear(folder: &Path) {
    fs::remove_dir_all(folder).unwrap();
    fs::create_dir(folder).unwrap();
}

impl Writer {
    /// Makes every call of `calls` fail in turn. Returns how many did.
    fn survives(&self, calls: &str, error: &str) -> usize {
        let old = self.folder.join(self.output);
        let prepare = || {
            clear(&self.folder);
            if self.replaces {
                fs::write(&old, "precious").unwrap();
            }
        };
        prepare();
        let ran = run(&self.args);
        assert_eq!(ran.code, Some(0), "{}: {}", self.name, ran.stderr);
        let complete = contents(&self.folder);
        prepare();
        let untouched = contents(&self.folder);
        for number in 1..MOST {
            prepare();
            let (ran, injected) = with_failure(&self.args, &[], calls, error, number);
            let what = format!("{}, {calls} number {number}: {:?}: {}", self.name, ran.code, ran.stderr);
            let mut left = contents(&self.folder);
            left.retain(|(name, _)| !name.ends_with(".journal"));
            let is_complete = same_files(&left, &complete);
            match ran.code {
                Some(0) => assert!(is_complete, "{what}: {left:?}, not {complete:?}"),
                Some(74) => {
                    // Pictures go one by one into a folder that is there: each is whole.
                    let is_whole = |file| {
                        complete
                            .iter()
                            .any(|whole| same_files(std::slice::from_ref(file), std::slice::from_ref(whole)))
                    };
                    let are_whole = self.name == "analyze --svg" && left.iter().all(is_whole);
                    assert!(left == untouched || is_complete || are_whole, "{what}: {left:?}");
                    // Standard error may be what cannot be written.
                    assert!(ran.stderr.is_empty() || ran.stderr.contains("freehold: "), "{what}");
                }
                _ => panic!("{what}"),
            }
            if !injected {
                assert_eq!(ran.code, Some(0), "{what}");
                return number - 1;
            }
        }
        panic!("{}: more than {MOST} calls", self.name);
    }
}

/// Returns true if the same files are there, and none is shorter by more than times in it make it: on a busy machine a
/// histogram of times has other buckets, and what is drawn or written of it other lines.
fn same_files(found: &[(String, usize)], complete: &[(String, usize)]) -> bool {
    found.len() == complete.len()
        && found.iter().zip(complete).all(|((name, found), (as_complete, complete))| {
            let has_times = ["parquet", "svg", "html", "json", "csv"].iter().any(|end| name.ends_with(end));
            let part = if has_times { 4 } else { 50 };
            name == as_complete && found.abs_diff(*complete) <= 64 + complete / part
        })
}

fn writers(trace: &Path, folder: &Path) -> Vec<Writer> {
    let place = folder.join("place");
    fs::create_dir(&place).unwrap();
    let out = place.join("out");
    let (trace, path) = (trace.display().to_string(), out.display().to_string());
    let writer = |name, args: &[&str], replaces| Writer {
        name,
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        folder: place.clone(),
        output: "out",
        replaces,
    };
    let import = import_args(&folder.join("small.txt"), &out);
    let mut import: Vec<_> = import.iter().map(String::as_str).collect();
    import.push("--force");
    let folder = place.display().to_string();
    vec![
        writer("repack", &["trace", "repack", &trace, "--force", "-o", &path], true),
        writer("repack, new", &["trace", "repack", &trace, "-o", &path], false),
        writer("anonymize", &["trace", "anonymize", &trace, "--force", "-o", &path], true),
        writer("import", &import, true),
        writer(
            "generate",
            &[
                "dev",
                "generate",
                "mmap-read",
                "--memory",
                "64MiB",
                "--events",
                "3000",
                "--force",
                "-o",
                &path,
            ],
            true,
        ),
        writer(
            "compare --html",
            &["compare", &trace, "--timing-rounds", "1", "--force", "--html", &path],
            true,
        ),
        writer("compare --svg", &["compare", &trace, "--timing-rounds", "1", "--svg", &path], true),
        writer("compare --out", &["compare", &trace, "--timing-rounds", "1", "--out", &path], false),
        writer("analyze --svg", &["analyze", &trace, "--svg", &folder], false),
        writer("sweep", &["sweep", &trace, "--vary", "counts=on,off", "--force", "--output", &path], true),
    ]
}

#[test]
fn every_failed_write_is_reported() {
    if !can_inject("every_failed_write_is_reported") {
        return;
    }
    let (folder, trace) = made_up_trace();
    for writer in writers(&trace, folder.path()) {
        let failed = writer.survives(BYTES, "ENOSPC");
        println!("{}: {failed} writes", writer.name);
        assert!(failed > 0, "{} writes", writer.name);
    }
}

#[test]
fn writers_survive_failed_syncs_and_renames() {
    if !can_inject("writers_survive_failed_syncs_and_renames") {
        return;
    }
    let (folder, trace) = made_up_trace();
    // All use the same three kinds of output: a file, several, a folder.
    let kinds = ["repack", "repack, new", "analyze --svg", "compare --out", "sweep"];
    for writer in writers(&trace, folder.path()).into_iter().filter(|it| kinds.contains(&it.name)) {
        for calls in LASTING {
            let failed = writer.survives(calls, "EIO");
            println!("{}: {failed} of {calls}", writer.name);
            let must = ["fsync", "rename,renameat,renameat2"].contains(&calls);
            assert!(failed > 0 || !must, "{}: no {calls}", writer.name);
        }
    }
}

#[test]
fn every_failed_write_of_a_recording_is_reported() {
    let test = "every_failed_write_of_a_recording_is_reported";
    if !can_inject(test) || !can_record(test) {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    let partial = folder.path().join("out.arrows.freehold-partial");
    let path = output.display().to_string();
    let args = ["record", "--no-occupancy", "--buffer", "1024", "--force", "-o", &path, "--duration", "0.3"];
    let args = args.map(str::to_owned);
    let mut failures = 0;
    for (calls, error) in [("write", "ENOSPC"), ("fsync", "EIO"), ("rename,renameat,renameat2", "EIO")] {
        for (number, old) in (1..MOST).flat_map(|number| [(number, false), (number, true)]) {
            let _ = fs::remove_file(&output);
            if old {
                fs::write(&output, "precious").unwrap();
            }
            // Only what goes to the file: tracefs has a test of its own.
            let (ran, injected) = with_failure(&args, &[&output, &partial], calls, error, number);
            let what = format!("{calls} number {number}: {:?}: {}", ran.code, ran.stderr);
            let is_whole = || run(["trace", "info", &path]).code == Some(0);
            match ran.code {
                Some(0) => assert!(is_whole(), "{what}"),
                Some(74) => {
                    assert!(!old || fs::read(&output).unwrap() == b"precious" || is_whole(), "{what}")
                }
                _ => panic!("{what}"),
            }
            failures += usize::from(injected);
            for name in names(folder.path()).iter().filter(|&name| name != "out.arrows") {
                assert!(
                    ran.stderr.contains(name) && ran.stderr.contains("--partial"),
                    "{what}: {name} is left"
                );
                fs::remove_file(folder.path().join(name)).unwrap();
            }
            if !injected && old {
                break;
            }
        }
    }
    assert!(failures >= 6, "{failures} failures");
}
