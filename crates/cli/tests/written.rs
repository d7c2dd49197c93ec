//! Output files: links at the path, two writers of one file, killed writers, pipes.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{
    self, Ran, finish, folder, freehold, ftrace_text, import_args, made_up_trace, names, run, small_trace,
};

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe with a name");
}

/// An import that waits for its text: its output is begun and not finished.
struct Waiting {
    child: Child,
    text: File,
}

impl Waiting {
    fn start(folder: &Path, output: &Path, more: &[&str]) -> Self {
        let text = folder.join("text");
        fifo(&text);
        // A signal that the parent of the tests ignores, as a script does for its background jobs, would be ignored here.
        let mut command = Command::new("env");
        command.args(["--default-signal", env!("CARGO_BIN_EXE_freehold")]).args(import_args(&text, output));
        let child = command.args(more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Opens when the import reads, which is after it has begun its output.
        let writer = OpenOptions::new().write(true).open(&text).unwrap();
        fs::remove_file(&text).unwrap();
        Self { child, text: writer }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn finish(mut self) -> Ran {
        let lines: Vec<_> = ftrace_text().lines().take(4000).map(str::to_owned).collect();
        self.text.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
        drop(self.text);
        Ran::new(&self.child.wait_with_output().unwrap())
    }
}

/// The commands that write a file, by the path that they write: without what only some machines can.
fn writers(trace: &Path, folder: &Path) -> Vec<(&'static str, Vec<String>)> {
    let trace = trace.display().to_string();
    let out = folder.join("out");
    let text = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let path = out.display().to_string();
    let mut import = import_args(&folder.join("small.txt"), &out);
    import.push("--force".to_owned());
    vec![
        ("repack", text(&["trace", "repack", &trace, "--force", "-o", &path])),
        ("anonymize", text(&["trace", "anonymize", &trace, "--force", "-o", &path])),
        ("import", import),
        (
            "generate",
            text(&[
                "dev",
                "generate",
                "mmap-read",
                "--memory",
                "64MiB",
                "--events",
                "2000",
                "--force",
                "-o",
                &path,
            ]),
        ),
        (
            "compare --html",
            text(&[
                "compare",
                &trace,
                "--timing-rounds",
                "1",
                "--replicates",
                "2",
                "--force",
                "--html",
                &path,
            ]),
        ),
        (
            "compare --svg",
            text(&["compare", &trace, "--timing-rounds", "1", "--replicates", "2", "--svg", &path]),
        ),
        ("sweep", text(&["sweep", &trace, "--vary", "counts=on", "--force", "--output", &path])),
    ]
}

/// Runs the binary where `before`, a line of shell, has prepared its folder; `$$` is its pid.
fn prepared(folder: &Path, before: &str, args: &[String]) -> Ran {
    let mut command = Command::new("sh");
    command.arg("-euc").arg(format!("{before}\nexec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_freehold"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    finish(command)
}

#[test]
fn nothing_is_written_through_a_planted_link() {
    let (folder, trace) = made_up_trace();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let before = names(folder.path());
    for (name, args) in writers(&trace, folder.path()) {
        for planted in ["out.$$.partial", ".out.$$.partial", "out.freehold-partial", "out.journal"] {
            let ran = prepared(folder.path(), &format!("ln -s victim {planted}"), &args);
            assert!(matches!(ran.code, Some(0 | 74)), "{name}, {planted}: {:?}: {}", ran.code, ran.stderr);
            assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name}, {planted}");
            for made in names(folder.path()).iter().filter(|&made| !before.contains(made)) {
                let path = folder.path().join(made);
                let kept = path.is_symlink() || made == "out";
                assert!(kept, "{name}, {planted}: {made} is left");
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn a_folder_of_pictures_is_not_led_elsewhere() {
    let (folder, trace) = made_up_trace();
    let (trace, victim) = (trace.display().to_string(), folder.path().join("victim"));
    fs::create_dir(&victim).unwrap();
    let out = folder.path().join("out").display().to_string();
    let args =
        ["compare", &trace, "--timing-rounds", "1", "--replicates", "2", "--out", &out].map(str::to_owned);
    for planted in ["out.$$.partial", "out.freehold-partial"] {
        let ran = prepared(folder.path(), &format!("ln -s victim {planted}"), &args);
        assert!(matches!(ran.code, Some(0 | 74)), "{planted}: {}", ran.stderr);
        assert_eq!(names(&victim), [""; 0], "{planted}");
        let _ = fs::remove_dir_all(&out);
        let planted = names(folder.path()).into_iter().find(|name| name.contains("partial")).unwrap();
        fs::remove_file(folder.path().join(planted)).unwrap();
    }
}

#[test]
fn second_of_two_writers_is_refused() {
    let (folder, trace) = made_up_trace();
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    let output = sub.join("out");
    let first = Waiting::start(folder.path(), &output, &[]);
    for (name, mut args) in writers(&trace, folder.path()) {
        args.iter_mut().filter(|arg| **arg == folder.path().join("out").display().to_string()).for_each(
            |arg| {
                *arg = output.display().to_string();
            },
        );
        let ran = run(args);
        assert_eq!(ran.code, Some(64), "{name}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("another freehold writes") && ran.stderr.contains("out; "),
            "{}",
            ran.stderr
        );
    }
    first.finish().ok();
    assert_eq!(names(&sub), ["out"]);
    assert!(common::events(&output) > 1000, "what the first one wrote");
}

#[test]
fn one_of_many_writers_succeeds() {
    let (folder, trace) = made_up_trace();
    for round in 0..8 {
        let output = folder.path().join(format!("out{round}"));
        let start = || {
            let mut command =
                freehold(["trace", "repack", trace.to_str().unwrap(), "-o", output.to_str().unwrap()]);
            command.stderr(Stdio::piped()).spawn().unwrap()
        };
        let all: Vec<_> = (0..4).map(|_| start()).collect();
        let codes: Vec<_> =
            all.into_iter().map(|it| Ran::new(&it.wait_with_output().unwrap()).code).collect();
        assert_eq!(codes.iter().filter(|&&code| code == Some(0)).count(), 1, "{codes:?}");
        assert_eq!(codes.iter().filter(|&&code| code == Some(64)).count(), 3, "{codes:?}");
        assert!(common::events(&output) > 1000);
    }
    assert!(names(folder.path()).iter().all(|name| !name.contains("partial")));
}

#[test]
fn file_created_meanwhile_is_not_replaced() {
    let folder = folder();
    let output = folder.path().join("out");
    let first = Waiting::start(folder.path(), &output, &[]);
    fs::write(&output, "another program's").unwrap();
    first.finish().fails(64, &["out exists", "--force"]);
    assert_eq!(fs::read(&output).unwrap(), b"another program's");
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn signal_keeps_the_old_file_and_leaves_no_partial_one() {
    for (signal, old) in [(Signal::INT, false), (Signal::TERM, true), (Signal::HUP, false)] {
        let folder = folder();
        let output = folder.path().join("out");
        if old {
            fs::write(&output, "precious").unwrap();
        }
        let mut waiting = Waiting::start(folder.path(), &output, &["--force"]);
        assert_eq!(names(folder.path()).iter().filter(|name| name.contains("partial")).count(), 1);
        waiting.send(signal);
        let ended = waiting.child.wait().unwrap();
        assert_eq!(ended.signal(), Some(signal.as_raw()), "it ends as by the signal");
        let left: &[&str] = if old { &["out"] } else { &[] };
        assert_eq!(names(folder.path()), left, "{signal:?}");
        assert!(!old || fs::read(&output).unwrap() == b"precious");
    }
}

#[test]
fn abort_by_another_process_is_not_reported_as_lack_of_memory() {
    let folder = folder();
    let mut waiting = Waiting::start(folder.path(), &folder.path().join("out"), &[]);
    waiting.send(Signal::ABORT);
    let mut said = String::new();
    waiting.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(waiting.child.wait().unwrap().signal(), Some(Signal::ABORT.as_raw()), "{said}");
    assert!(!said.contains("memory"), "{said}");
}

#[test]
fn ignored_signals_stay_ignored() {
    let folder = folder();
    let output = folder.path().join("out");
    let text = folder.path().join("text");
    fifo(&text);
    let mut command = Command::new("sh");
    command.arg("-c").arg("trap '' HUP; exec \"$0\" \"$@\"").arg(env!("CARGO_BIN_EXE_freehold"));
    let child = command.args(import_args(&text, &output)).stderr(Stdio::piped()).spawn().unwrap();
    let writer = OpenOptions::new().write(true).open(&text).unwrap();
    let waiting = Waiting { child, text: writer };
    waiting.send(Signal::HUP);
    waiting.finish().ok();
    assert!(common::events(&output) > 1000);
}

#[test]
fn next_writer_removes_the_rest_of_a_killed_one() {
    let (folder, trace) = made_up_trace();
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    let output = sub.join("out");
    let mut killed = Waiting::start(folder.path(), &output, &[]);
    killed.send(Signal::KILL);
    killed.child.wait().unwrap();
    let left = names(&sub);
    assert_eq!(left, ["out.freehold-partial"]);
    fs::write(sub.join(&left[0]), "begun").unwrap();
    let ran = run(["trace", "repack", trace.to_str().unwrap(), "-o", output.to_str().unwrap()]).ok();
    assert!(ran.stderr.contains("removed ") && ran.stderr.contains("out.freehold-partial"), "{}", ran.stderr);
    assert_eq!(names(&sub), ["out"]);
    // Files of other programs are kept.
    fs::create_dir(sub.join("out.freehold-partial")).unwrap();
    run(["trace", "repack", trace.to_str().unwrap(), "--force", "-o", output.to_str().unwrap()])
        .fails(74, &["out.freehold-partial is in the way", "remove it"]);
    assert_eq!(names(&sub), ["out", "out.freehold-partial"]);
}

#[test]
fn output_cannot_replace_the_input() {
    let (folder, trace) = made_up_trace();
    let before = fs::read(&trace).unwrap();
    let path = trace.display().to_string();
    let text = folder.path().join("small.txt");
    let mut import = import_args(&text, &text);
    import.push("--force".to_owned());
    run(import).fails(64, &["small.txt is read for this"]);
    run(["compare", &path, "--force", "--html", &path]).fails(64, &["small.arrows is read for this"]);
    run(["compare", &path, "--svg", &path]).fails(64, &["small.arrows is read for this"]);
    run(["sweep", &path, "--force", "--vary", "counts=on", "--output", &path])
        .fails(64, &["is read for this"]);
    assert!(fs::read(&trace).unwrap() == before);
    // A trace may be packed anew in its place.
    run(["trace", "repack", &path, "--force", "-o", &path]).ok();
    assert!(common::events(&trace) > 1000);
}

/// Waits for a child, but not for long.
fn ended(child: &mut Child) -> Option<i32> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_mins(1) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("it waits");
}

#[test]
fn a_pipe_is_written_if_somebody_reads_it() {
    let (folder, trace) = made_up_trace();
    let pipe = folder.path().join("pipe");
    fifo(&pipe);
    let repack = || {
        let mut command =
            freehold(["trace", "repack", trace.to_str().unwrap(), "-o", pipe.to_str().unwrap()]);
        command.stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut alone = repack();
    assert_eq!(ended(&mut alone), Some(74), "nobody reads");
    let mut said = String::new();
    alone.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("no process reads from") && said.contains("start its reader first"), "{said}");

    let reader = pipe.clone();
    let read = thread::spawn(move || fs::read(reader).unwrap());
    let code = loop {
        // The reader may not have opened it yet.
        match ended(&mut repack()) {
            Some(74) => thread::sleep(Duration::from_millis(10)),
            code => break code,
        }
    };
    assert_eq!(code, Some(0));
    let copy = folder.path().join("copy");
    fs::write(&copy, read.join().unwrap()).unwrap();
    assert!(common::events(&copy) > 1000);
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "it stays a pipe");
}

#[test]
fn devices_and_standard_output_are_written_where_they_are() {
    let (folder, trace) = made_up_trace();
    let trace = trace.to_str().unwrap();
    run(["trace", "repack", trace, "-o", "/dev/null"]).ok();
    if Path::new("/dev/full").exists() {
        run(["trace", "repack", trace, "-o", "/dev/full"]).fails(74, &["/dev/full", "make room"]);
        run(["trace", "repack", trace, "--force", "-o", "/dev/full"]).fails(74, &["/dev/full"]);
    }
    let copy: PathBuf = folder.path().join("copy");
    let mut file = File::create(&copy).unwrap();
    // A file that is standard output is written on, as `cat` would.
    file.write_all(b"before").unwrap();
    let mut command = freehold(["trace", "repack", trace, "-o", "/dev/stdout"]);
    assert!(command.stdout(file).status().unwrap().success());
    let bytes = fs::read(&copy).unwrap();
    assert!(bytes.starts_with(b"before"));
    fs::write(&copy, &bytes[6..]).unwrap();
    assert!(common::events(&copy) > 1000);
}

#[test]
fn a_limit_of_files_is_an_error() {
    let (folder, trace) = made_up_trace();
    let before = names(folder.path());
    for (name, args) in writers(&trace, folder.path()) {
        let ran = prepared(folder.path(), "ulimit -f 1", &args);
        assert_eq!(ran.code, Some(74), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("out"), "{name}: {}", ran.stderr);
        let _ = fs::remove_file(folder.path().join("out.journal"));
        assert_eq!(names(folder.path()), before, "{name}");
    }
}

#[test]
fn lack_of_memory_is_reported_and_leaves_nothing() {
    let (folder, trace) = small_trace();
    let before = names(folder.path());
    let mut ended = 0;
    // From a limit at which it cannot even start to one at which it succeeds.
    let mut writers = writers(&trace, folder.path());
    writers.retain(|(name, _)| ["repack", "compare --html", "sweep"].contains(name));
    for mib in (48..300).step_by(84) {
        for (name, args) in &writers {
            let ran = prepared(folder.path(), &format!("ulimit -v {}", mib * 1024), args);
            let what = format!("{name} with {mib} MiB: {:?}: {}", ran.code, ran.stderr);
            // 127 is the loader's, before the program begins.
            assert!(matches!(ran.code, Some(0 | 69 | 127)), "{what}");
            if ran.code == Some(69) {
                ended += 1;
                assert!(ran.stderr.contains("there is not enough memory"), "{what}");
            }
            for left in ["out", "out.journal"].map(|name| folder.path().join(name)) {
                let _ = fs::remove_file(left);
            }
            assert_eq!(names(folder.path()), before, "{what}");
        }
    }
    assert!(ended > 0, "{ended} ended for want of memory");
}
