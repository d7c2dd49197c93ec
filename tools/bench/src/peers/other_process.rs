//! Sides in other processes: allocators in other programs, and a real Linux.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::peer::{Measure, Peer, Runner};
use super::protocol::{self, Greeting, MARK};
use super::shapes::Plan;
use crate::error::BenchError;
use crate::options::Outside;

/// The time limit for an answer. The slowest side takes three samples for one answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// The time limit for the end of a side after its input was closed.
const LEAVE: Duration = Duration::from_secs(2);

/// The most lines of a side's own output in an error.
const SAID_LINES: usize = 4;

static ROOMS: AtomicU32 = AtomicU32::new(0);

/// Starts the side once. Returns it as a peer, and the notes of its greeting.
pub(super) fn peer(outside: &Outside, plan: Plan) -> Result<(Peer, Vec<String>), BenchError> {
    let Greeting { name, bytes_per_page, notes } = Process::start(outside, plan)?.1;
    let outside = outside.clone();
    let prepare = move |shape, plan| {
        // Each shape has a process of its own, which frees its memory at its end and inherits the
        // pinning of the thread that starts it.
        let (mut process, _) = Process::start(&outside, plan)?;
        match process.ask(&protocol::prepare(shape, plan))?.as_str() {
            "prepared" => {}
            "cannot" => return Ok(None),
            other => return Err(process.wrong(other)),
        }
        let run: Measure = Box::new(move |digest| {
            let answer = process.ask(protocol::RUN)?;
            let (figures, done) = protocol::parse_figures(&answer).ok_or_else(|| process.wrong(&answer))?;
            digest.add(done);
            Ok(figures)
        });
        Ok(Some(Runner { run, calms_itself: true }))
    };
    Ok((Peer { name, bytes_per_page, prepare: Box::new(prepare) }, notes))
}

/// A line of a process: an answer to the benchmark, or text for people.
enum Line {
    Answer(String),
    Said(String),
}

/// The process of a side.
struct Process {
    child: Child,
    /// `None` once it was closed, which makes the process end.
    input: Option<ChildStdin>,
    lines: Receiver<Line>,
    /// The last lines of text for people.
    said: VecDeque<String>,
    /// The side's name in messages, and the remedy if it does not work.
    called: (String, &'static str),
    _room: Room,
}

impl Process {
    /// Starts the process and reads its greeting.
    fn start(outside: &Outside, plan: Plan) -> Result<(Self, Greeting), BenchError> {
        let called = outside.called();
        let failed = |what: String| BenchError::Outside { side: called.0.clone(), what, remedy: called.1 };
        let unusable = |error: std::io::Error| failed(format!("cannot be started ({error})"));
        let path = fs::canonicalize(outside.path()).map_err(unusable)?;
        let room = Room::new().map_err(|error| failed(format!("has no temporary folder ({error})")))?;
        let mut command = outside.command(&path, plan);
        command.current_dir(&room.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(unusable)?;
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            listen(output, sender.clone());
        }
        if let Some(errors) = child.stderr.take() {
            listen(errors, sender);
        }
        let input = child.stdin.take();
        let mut process = Self { child, input, lines, said: VecDeque::new(), called, _room: room };
        let greeting = process.greeting()?;
        Ok((process, greeting))
    }

    fn greeting(&mut self) -> Result<Greeting, BenchError> {
        let mut greeting = Greeting::default();
        let first = self.answer(PATIENCE)?;
        if first != protocol::FIRST {
            return Err(self.failed(format!("greets with `{first}`, not with `{}`", protocol::FIRST)));
        }
        loop {
            let line = self.answer(PATIENCE)?;
            if line == protocol::LAST {
                return Ok(greeting);
            }
            if !greeting.add(&line) {
                return Err(self.failed(format!("greets with `{line}`")));
            }
        }
    }

    /// Sends a request and returns the answer.
    fn ask(&mut self, what: &str) -> Result<String, BenchError> {
        let sent = self.input.as_mut().map(|input| writeln!(input, "{what}"));
        match sent {
            // The process has ended: its last output explains more than the failed write.
            Some(Ok(()) | Err(_)) => self.answer(PATIENCE),
            None => Err(BenchError::Stopped),
        }
    }

    /// Returns the next answer.
    fn answer(&mut self, within: Duration) -> Result<String, BenchError> {
        let start = Instant::now();
        loop {
            match self.lines.recv_timeout(within.saturating_sub(start.elapsed())) {
                Ok(Line::Answer(line)) => return Ok(line),
                // The first line of a panic says the most.
                Ok(Line::Said(line)) if line.contains("panic") => self.said = [line].into(),
                Ok(Line::Said(_)) if self.said.iter().any(|line| line.contains("panic")) => {}
                Ok(Line::Said(line)) => {
                    self.said.push_back(line);
                    if self.said.len() > SAID_LINES {
                        self.said.pop_front();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(self.failed(format!("did not answer within {} s", within.as_secs())));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait();
                    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                    return Err(self.failed(format!("ended without an answer, {status}")));
                }
            }
        }
    }

    /// Returns the error for an answer that is not valid.
    fn wrong(&self, answer: &str) -> BenchError {
        match answer.strip_prefix("wrong ") {
            Some(what) => BenchError::Wrong { side: self.called.0.clone(), what: what.to_owned() },
            None => self.failed(format!("answered `{answer}`")),
        }
    }

    fn failed(&self, what: String) -> BenchError {
        let said: Vec<_> = self.said.iter().map(String::as_str).collect();
        let what = if said.is_empty() { what } else { format!("{what}; it said: {}", said.join(" / ")) };
        BenchError::Outside { side: self.called.0.clone(), what, remedy: self.called.1 }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process should end by itself and clean up.
        self.input = None;
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < LEAVE {
            thread::sleep(Duration::from_millis(2));
        }
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends the lines of a process to the channel until either side closes.
fn listen(output: impl Read + Send + 'static, lines: Sender<Line>) {
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut bytes = Vec::new();
        while output.read_until(b'\n', &mut bytes).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_end();
            let line = match text.strip_prefix(MARK) {
                Some(answer) => Line::Answer(answer.to_owned()),
                None => Line::Said(text.to_owned()),
            };
            if !text.is_empty() && lines.send(line).is_err() {
                return;
            }
            bytes.clear();
        }
    });
}

impl Outside {
    fn path(&self) -> &Path {
        match self {
            Self::Program(path) | Self::Linux(path) => path,
        }
    }

    /// Returns the side's name in messages, and the remedy if it does not work.
    fn called(&self) -> (String, &'static str) {
        match self {
            Self::Program(path) => (
                format!("--outside {}", path.display()),
                "name a program that answers as docs/evidence/benchmarks.md says",
            ),
            Self::Linux(path) => (
                format!("--linux {}", path.display()),
                "name a User-Mode Linux that `cargo xtask oracle` has built from this version",
            ),
        }
    }

    fn command(&self, path: &Path, plan: Plan) -> Command {
        let mut command = Command::new(path);
        if matches!(self, Self::Linux(_)) {
            // 4 KiB for each page, its `struct page`, and the kernel itself.
            let memory_kib = plan.pages * 4 + plan.pages / 16 + (96 << 10);
            command.arg(format!("mem={memory_kib}K"));
            command.args(["freehold.bench", "uml_dir=./", "earlyprintk", "keep_bootcon", "con=null"]);
        }
        command
    }
}

/// The folder of one process. Dropping it removes the folder.
struct Room(PathBuf);

impl Room {
    fn new() -> std::io::Result<Self> {
        let name = format!("freehold-side-{}-{}", std::process::id(), ROOMS.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // The folder is in the temporary folder and harms nothing.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Mutex;

    use super::super::shapes::Shape;
    use super::*;
    use crate::harness::Digest;
    use crate::options::Scale;

    /// An executable cannot be started while any process has it open for writing, even a child of
    /// another test.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// Returns a shell script as a program, and its folder.
    fn script(body: &str) -> (Room, PathBuf) {
        let room = Room::new().unwrap();
        let program = room.0.join("side");
        fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (room, program)
    }

    /// Starts the script as a side.
    fn start(body: &str) -> Result<Greeting, String> {
        let _one = ONE_AT_A_TIME.lock();
        let (_room, program) = script(body);
        let started = Process::start(&Outside::Program(program.clone()), Plan::new(Scale::Tiny));
        started
            .map(|(_, greeting)| greeting)
            .map_err(|error| error.to_string().replace(program.to_str().unwrap(), "PROGRAM"))
    }

    #[test]
    fn greeting_is_found_among_other_output() {
        let greeting = start("echo booting; echo '= side 1'; echo '= name x'; echo '= ready'; read line");
        assert_eq!(greeting.unwrap().name, "x");
    }

    #[test]
    fn other_process_prepares_and_measures_each_shape() {
        let _one = ONE_AT_A_TIME.lock();
        let greeting = "echo '= side 1'; echo '= name x'; echo '= note y'; echo '= ready'";
        let answers = "prepare\\ one*) echo = prepared;; prepare*) echo = cannot;; \
                       run) echo = figures 1500 0 0 00000000000000ff;;";
        let (_room, program) =
            script(&format!("{greeting}\nwhile read -r line; do case $line in {answers} esac; done"));
        let plan = Plan::new(Scale::Tiny);
        let (peer, notes) = peer(&Outside::Program(program), plan).unwrap();
        assert_eq!((peer.name.as_str(), notes), ("x", vec!["y".to_owned()]));
        assert!((peer.prepare)(Shape::TwoThreads, plan).unwrap().is_none());
        let mut runner = (peer.prepare)(Shape::OnePage, plan).unwrap().unwrap();
        let mut digest = Digest::default();
        assert!(((runner.run)(&mut digest).unwrap()[0] - 1.5).abs() < 1e-9);
        assert_ne!(digest, Digest::default());
    }

    #[test]
    fn error_quotes_the_output_of_an_unsuitable_program() {
        let error = start("echo first; echo 'no such option' >&2; exit 3").unwrap_err();
        assert!(
            error.starts_with("--outside PROGRAM: ended without an answer, exit status: 3; it said: "),
            "{error}"
        );
        assert!(
            error.contains("no such option") && error.ends_with("as docs/evidence/benchmarks.md says"),
            "{error}"
        );
        let error = start("echo '= side 2'; read line").unwrap_err();
        assert!(error.contains("greets with `side 2`, not with `side 1`"), "{error}");
        let error = start("echo '= side 1'; echo '= metadata x'; read line").unwrap_err();
        assert!(error.contains("greets with `metadata x`"), "{error}");
    }

    #[test]
    fn waiting_for_an_answer_ends_at_the_limit() {
        let _one = ONE_AT_A_TIME.lock();
        let outside = Outside::Program("/bin/sh".into());
        let mut child = Command::new("sleep");
        let mut child = child.arg("60").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        listen(child.stdout.take().unwrap(), sender);
        let called = outside.called();
        let room = Room::new().unwrap();
        let mut process = Process { child, input: None, lines, said: VecDeque::new(), called, _room: room };
        let error = process.answer(Duration::from_millis(10)).unwrap_err().to_string();
        process.child.kill().unwrap();
        assert!(error.contains("did not answer within 0 s"), "{error}");
    }
}
