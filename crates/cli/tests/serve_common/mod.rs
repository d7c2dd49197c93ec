//! A server of its own for a test, and what it takes to ask it.
#![allow(dead_code, unused_imports, reason = "each of the two test programs uses a part of it")]

pub(crate) mod metrics_file;
pub(crate) mod series;
pub(crate) mod socket;
pub(crate) mod web;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

pub(crate) use freehold_needs::{PATIENCE, wait_for};
use freehold_needs::{request, request_json};

/// A machine that is a folder, so that a test can change what it says.
pub(crate) struct Machine(pub(crate) tempfile::TempDir);

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures/linux-6.18/proc");
        let machine = Self(folder);
        for name in ["buddyinfo", "pagetypeinfo", "zoneinfo", "vmstat"] {
            machine.write(name, &fs::read_to_string(fixtures.join(name)).expect("a fixture"));
        }
        machine.write("sys/kernel/osrelease", "6.18.0-test\n");
        machine.write("meminfo", "MemTotal:       24684216 kB\n");
        machine.write(
            "pressure/memory",
            "some avg10=1.50 avg60=0.25 avg300=0.05 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=99\n",
        );
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("proc").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file of the machine")
    }

    /// Replaces a file in one step, as the kernel's texts change.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of the machine");
        let new = path.with_extension("new");
        fs::write(&new, text).expect("a file of the machine");
        fs::rename(new, path).expect("a file of the machine");
    }

    /// Sets the free blocks of order 10 in the last zone of buddyinfo.
    pub(crate) fn set_largest_blocks(&self, blocks: u64) {
        let text = self.read("buddyinfo");
        let rows = text.trim_end();
        let (before, _) = rows.trim_end().rsplit_once(' ').expect("columns");
        self.write("buddyinfo", &format!("{before} {blocks}\n"));
    }
}

/// A running `freehold serve`; killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    stderr: Arc<Mutex<String>>,
}

impl Server {
    pub(crate) fn start(machine: &Machine) -> Self {
        Self::start_with(machine, &["--interval", "0.05"])
    }

    pub(crate) fn start_with(machine: &Machine, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
        command.args(["serve", "--sensor", "procfs", "--root"]).arg(machine.0.path()).args(more);
        if !more.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        Self::run(&mut command)
    }

    pub(crate) fn run(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut first = String::new();
        lines.read_line(&mut first).expect("text");
        let address = first.split("://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.unwrap_or_else(|| panic!("no address in {first:?}")).to_owned();
        let stderr = Arc::new(Mutex::new(first));
        let all = Arc::clone(&stderr);
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut all = all.lock().unwrap();
                all.push_str(&line);
                all.push('\n');
            }
        });
        Self { child, address, stderr }
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads all that comes back.
    pub(crate) fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may hang up in the middle of a request that it does not like.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.address)
    }

    /// Asks for a format, as the header `Accept` does.
    #[allow(dead_code, reason = "some of the tests ask for none")]
    pub(crate) fn ask_for(&self, path: &str, accept: &str) -> Answer {
        let host = &self.address;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
        Answer::parse(&self.exchange(request.as_bytes()))
    }

    pub(crate) fn ask(&self, method: &str, path: &str, host: &str) -> Answer {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        Answer::parse(&self.exchange(request.as_bytes()))
    }

    /// A number that `/proc` tells of the process, in KiB.
    pub(crate) fn status_kib(&self, row: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a process");
        let row = status.lines().find_map(|line| line.strip_prefix(row)).expect("a row");
        row.trim_matches([':', ' ', '\t']).trim_end_matches(" kB").trim().parse().expect("a number")
    }

    /// Asks for the end and answers the exit code.
    pub(crate) fn stop(&mut self, signal: rustix::process::Signal) -> Option<i32> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).expect("a signal");
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer, split up.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Self { status: status.unwrap_or_default(), head: head.to_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_default()
    }
}

/// The first value of a metric whose line starts with `start`.
pub(crate) fn value(metrics: &str, start: &str) -> Option<f64> {
    let line = metrics.lines().find(|line| line.starts_with(start))?;
    line.rsplit(' ').next()?.parse().ok()
}

pub(crate) fn get_json(address: &str, path: &str) -> Option<serde_json::Value> {
    request_json(address, "GET", path, "")
}

pub(crate) fn get_text(address: &str, path: &str) -> Option<String> {
    String::from_utf8(request(address, "GET", path, "")?).ok()
}
