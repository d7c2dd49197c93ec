//! A server that sends the text of pagetypeinfo to each client.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures/linux-6.18")
}

/// A running server; killed when dropped.
pub(crate) struct SocketServer(pub(crate) Child);

impl SocketServer {
    /// Starts a server, and waits until it listens.
    pub(crate) fn start(socket: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
        command.args(["serve", "--socket"]).arg(socket).args(more).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let listens = lines.find_map(|line| line.ok().filter(|line| line.contains("to each client")));
        assert!(listens.is_some(), "it ended: {:?}", child.wait());
        Self(child)
    }

    pub(crate) fn of_fixture(socket: &Path) -> Self {
        let root = fixture();
        Self::start(socket, &["--sensor", "procfs", "--root", root.to_str().expect("a path")])
    }

    pub(crate) fn end(mut self) -> i32 {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
        self.0.wait().expect("it ends").code().expect("an exit code")
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn ask(socket: &Path) -> String {
    let mut text = String::new();
    let mut stream = UnixStream::connect(socket).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.read_to_string(&mut text).expect("a text");
    text
}
