//! Runs the binary as a user does, and checks all that a user sees.
#![allow(dead_code, reason = "each of the two test programs uses a part of it")]

pub(crate) mod compared;
pub(crate) mod copied_machine;
pub(crate) mod manifests;
pub(crate) mod screens;
pub(crate) mod sweeps;

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The names of the eras, in the order of their columns.
pub(crate) const ERAS: [&str; 5] = ["linux-6.1", "linux-6.12", "linux-7.3", "linux-7.3-counts", "freehold"];

/// The result of a run of the binary.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn new(output: &Output) -> Self {
        let ran = Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }

    /// The same, which is expected to have gone well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Expects a failure with `code` whose message has all of `words`.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        let is_plugins = self.stdout.starts_with("UNKNOWN: ") && code == 3;
        assert!(self.stdout.is_empty() || is_plugins, "a failure prints no result: {}", self.stdout);
        for word in words {
            let text = if is_plugins { &self.stdout } else { &self.stderr };
            assert!(text.contains(word), "no {word:?} in: {text}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("JSON on standard output")
    }
}

/// The binary with arguments, not yet run.
pub(crate) fn freehold<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command) -> Ran {
    Ran::new(&command.output().expect("the command can be started"))
}

/// Runs the binary to its end.
pub(crate) fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    finish(freehold(args))
}

/// Runs the binary with words separated by blanks.
pub(crate) fn run_words(words: &str) -> Ran {
    run(words.split_ascii_whitespace())
}

/// A trace that is committed with the project.
pub(crate) fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// A file next to the text of a real ftrace.
pub(crate) fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ftrace").join(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// The text of a real ftrace.
pub(crate) fn ftrace_text() -> String {
    let packed = fs::File::open(fixture("trace.txt.xz")).expect("the fixture");
    let mut text = String::new();
    liblzma::read::XzDecoder::new(packed).read_to_string(&mut text).expect("an xz archive of text");
    text
}

/// Arguments of an import of `text` into `output`.
pub(crate) fn import_args(text: &Path, output: &Path) -> Vec<String> {
    let text = text.display().to_string();
    let output = output.display().to_string();
    let (zoneinfo, pagetypeinfo) = (fixture("zoneinfo"), fixture("pagetypeinfo"));
    let args =
        ["import", &text, "--zoneinfo", &zoneinfo, "--pagetypeinfo", &pagetypeinfo, "--output", &output];
    args.map(str::to_owned).to_vec()
}

/// A few thousand real events as a trace; the folder goes when it is dropped.
pub(crate) fn small_trace() -> (tempfile::TempDir, PathBuf) {
    let folder = folder();
    let text = folder.path().join("small.txt");
    let head: Vec<_> = ftrace_text().lines().take(4000).map(str::to_owned).collect();
    fs::write(&text, head.join("\n") + "\n").expect("a file in a new folder");
    let trace = folder.path().join("small.arrows");
    run(import_args(&text, &trace)).ok();
    (folder, trace)
}

/// As [`small_trace`], but of a small machine that is made up, which takes little to replay; the text beside it is the same.
pub(crate) fn made_up_trace() -> (tempfile::TempDir, PathBuf) {
    let folder = folder();
    let trace = folder.path().join("small.arrows");
    let head: Vec<_> = ftrace_text().lines().take(4000).map(str::to_owned).collect();
    fs::write(folder.path().join("small.txt"), head.join("\n") + "\n").expect("a file in a new folder");
    let words = "dev generate mmap-read --memory 64MiB --events 2000 -o";
    run(words.split(' ').chain([trace.to_str().expect("a path in UTF-8")])).ok();
    (folder, trace)
}

/// A real trace of a small guest that runs out of memory, as a file of one's own; the folder goes when it is dropped.
pub(crate) fn guest_trace() -> (tempfile::TempDir, PathBuf) {
    let folder = folder();
    let trace = folder.path().join("small.arrows");
    fs::copy(sample(compared::PIPES_TRACE), &trace).expect("a committed trace");
    (folder, trace)
}

/// A folder of one's own.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Compresses bytes by gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, bytes).expect("memory");
    packed.finish().expect("memory")
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The number of events that `trace info` tells.
pub(crate) fn events(trace: &Path) -> u64 {
    let info = run([OsStr::new("trace"), OsStr::new("info"), trace.as_os_str(), OsStr::new("--json")]).ok();
    info.json()["summary"]["events"].as_u64().expect("a number of events")
}
