//! `freehold serve --socket`: pagetypeinfo's text for whoever connects.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::run;
use freehold_needs::{is_root, skip};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures/linux-6.18")
}

/// A running server; killed when dropped.
struct Server(Child);

impl Server {
    /// Starts a server, and waits until it listens.
    fn start(socket: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
        command.args(["serve", "--socket"]).arg(socket).args(more).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let listens = lines.find_map(|line| line.ok().filter(|line| line.contains("whoever connects")));
        assert!(listens.is_some(), "it ended: {:?}", child.wait());
        Self(child)
    }

    fn of_fixture(socket: &Path) -> Self {
        let root = fixture();
        Self::start(socket, &["--sensor", "procfs", "--root", root.to_str().expect("a path")])
    }

    fn end(mut self) -> i32 {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
        self.0.wait().expect("it ends").code().expect("an exit code")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(socket: &Path) -> String {
    let mut text = String::new();
    let mut stream = UnixStream::connect(socket).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.read_to_string(&mut text).expect("a text");
    text
}

#[test]
fn whoever_connects_gets_the_text_and_the_socket_goes_at_the_end() {
    let folder = common::folder();
    let socket = folder.path().join("socket");
    let server = Server::of_fixture(&socket);
    let text = fs::read_to_string(fixture().join("proc/pagetypeinfo")).unwrap();
    for _ in 0..100 {
        assert_eq!(ask(&socket), text);
    }
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600, "nobody else's");
    assert_eq!(server.end(), 0);
    assert!(!socket.exists());
}

#[test]
fn clients_that_do_not_read_are_in_nobodys_way() {
    let folder = common::folder();
    let socket = folder.path().join("socket");
    let _server = Server::of_fixture(&socket);
    let idle: Vec<_> = (0..200).map(|_| UnixStream::connect(&socket).expect("a connection")).collect();
    let began = Instant::now();
    while ask(&socket).is_empty() {
        assert!(began.elapsed() < PATIENCE, "all seats stay taken");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(idle);
    assert!(!ask(&socket).is_empty());
}

#[test]
fn what_is_in_the_way_stays_unless_it_is_a_dead_socket() {
    let folder = common::folder();
    let path = |name: &str| folder.path().join(name);
    let root = fixture();
    let refused = |socket: &Path, why: &str| {
        let ran = run([
            "serve",
            "--sensor",
            "procfs",
            "--root",
            root.to_str().unwrap(),
            "--socket",
            socket.to_str().unwrap(),
        ]);
        ran.fails(2, &["cannot listen", why, "--socket"]);
    };
    fs::write(path("file"), "dear").unwrap();
    refused(&path("file"), "something else");
    assert_eq!(fs::read_to_string(path("file")).unwrap(), "dear");
    std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
    refused(&path("link"), "something else");
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
    refused(&path("missing/socket"), "No such file");
    drop(UnixListener::bind(path("dead")).unwrap());
    let server = Server::of_fixture(&path("dead"));
    refused(&path("dead"), "another server");
    assert!(!ask(&path("dead")).is_empty(), "the first one lives on");
    drop(server);
    assert!(path("dead").exists(), "killed, it could not clean up");
    let _next = Server::of_fixture(&path("dead"));
    assert!(!ask(&path("dead")).is_empty());
}

#[test]
fn this_machine_is_told_without_its_file() {
    let test = "this_machine_is_told_without_its_file";
    if !is_root(test) {
        return;
    }
    let folder = common::folder();
    let socket = folder.path().join("socket");
    if !cfg!(feature = "bpf") {
        skip(test, "built without --features bpf");
        let ran = run(["serve", "--socket", socket.to_str().unwrap()]);
        ran.fails(3, &["without the bpf feature"]);
        return;
    }
    let server = Server::start(&socket, &[]);
    let same = (0..200).any(|_| {
        let before = fs::read_to_string("/proc/pagetypeinfo").unwrap();
        let told = ask(&socket);
        told == before && fs::read_to_string("/proc/pagetypeinfo").unwrap() == before
    });
    if !same {
        skip(test, "the machine is too busy to compare two readings");
    }
    let open = fs::read_dir(format!("/proc/{}/fd", server.0.id())).unwrap();
    let files: Vec<_> = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()).collect();
    assert!(!files.iter().any(|file| file.ends_with("pagetypeinfo")), "{files:?}");
    assert_eq!(server.end(), 0);
}
