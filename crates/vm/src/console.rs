//! The console of a guest: reads and writes lines, each with a deadline.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{VmError, VmResult, tail};

/// A guest's serial line.
#[derive(Debug)]
pub struct Console {
    stream: UnixStream,
    /// The file with QEMU's standard error.
    complaints: PathBuf,
    /// The bytes read after the last complete line.
    pending: Vec<u8>,
    text: String,
}

impl Console {
    pub(crate) fn new(stream: UnixStream, complaints: PathBuf) -> Self {
        Self { stream, complaints, pending: Vec::new(), text: String::new() }
    }

    /// Returns the next line without its line end, or `None` if the guest has ended.
    ///
    /// # Errors
    /// If no line arrives within `patience`, or the console cannot be read.
    pub fn line(&mut self, patience: Duration) -> VmResult<Option<String>> {
        let end = Instant::now().checked_add(patience);
        loop {
            if let Some(at) = self.pending.iter().position(|&byte| byte == b'\n') {
                return Ok(Some(self.take(at + 1)));
            }
            match self.read(left(end))? {
                Some(0) if self.pending.is_empty() => return Ok(None),
                Some(0) => return Ok(Some(self.take(self.pending.len()))),
                Some(_) => {}
                None => return Err(self.silent("a line", patience)),
            }
        }
    }

    /// Reads up to the line that starts with `start`. Returns the lines before that line.
    ///
    /// # Errors
    /// If that line does not arrive within `patience`, or the guest ends before it.
    pub fn until(&mut self, start: &str, patience: Duration) -> VmResult<String> {
        let end = Instant::now().checked_add(patience);
        let mut before = String::new();
        loop {
            match self.line(left(end)) {
                Ok(Some(line)) if line.starts_with(start) => return Ok(before),
                Ok(Some(line)) => before = before + &line + "\n",
                Ok(None) => return Err(self.ended()),
                Err(VmError::Silent { .. }) => return Err(self.silent(&format!("{start:?}"), patience)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a line to the guest.
    ///
    /// # Errors
    /// If the guest has ended, or does not read for 10 s.
    pub fn send(&mut self, line: &str) -> VmResult<()> {
        let written = self.stream.set_write_timeout(Some(Duration::from_secs(10)));
        let written = written.and_then(|()| self.stream.write_all(format!("{line}\n").as_bytes()));
        written.map_err(|_| self.ended())
    }

    /// Returns all text read so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns QEMU's standard error.
    pub(crate) fn complaint(&self) -> String {
        fs::read(&self.complaints)
            .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the error for a guest that has ended.
    pub(crate) fn ended(&self) -> VmError {
        VmError::Ended { tail: tail(&self.text), complaint: tail(&self.complaint()) }
    }

    /// Takes the first `bytes` pending bytes as a line.
    fn take(&mut self, bytes: usize) -> String {
        let line: Vec<_> = self.pending.drain(..bytes).filter(|&byte| byte != b'\r').collect();
        let line = String::from_utf8_lossy(&line);
        self.text.push_str(&line);
        line.trim_end_matches('\n').to_owned()
    }

    /// Reads bytes. Returns their number, 0 at the end of the console, or `None` if none arrived within `left`.
    fn read(&mut self, left: Duration) -> VmResult<Option<usize>> {
        let error = VmError::file(Path::new("the console"));
        if left.is_zero() {
            return Ok(None);
        }
        let mut buffer = [0; 4096];
        let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(&mut buffer));
        match read {
            Ok(bytes) => {
                self.pending.extend(&buffer[..bytes]);
                Ok(Some(bytes))
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => self.read(left),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(Some(0)),
            Err(other) => Err(error(other)),
        }
    }

    fn silent(&self, awaited: &str, patience: Duration) -> VmError {
        let seconds = patience.as_secs_f64();
        let text = self.text.clone() + &String::from_utf8_lossy(&self.pending);
        VmError::Silent { awaited: awaited.to_owned(), seconds, tail: tail(&text) }
    }
}

/// Returns the time left until a moment. `None` stands for a moment beyond the range of the clock.
fn left(end: Option<Instant>) -> Duration {
    end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(20);

    fn console() -> (UnixStream, Console) {
        let (guest, host) = UnixStream::pair().unwrap();
        (guest, Console::new(host, PathBuf::from("/no/such/file")))
    }

    #[test]
    fn lines_are_complete_and_without_line_ends() {
        let (mut guest, mut console) = console();
        guest.write_all(b"one\r\ntwo\nREADY 1\nhal").unwrap();
        assert_eq!(console.line(Duration::MAX).unwrap().as_deref(), Some("one"));
        assert_eq!(console.until("READY", LONG).unwrap(), "two\n");
        let error = console.line(SOON).unwrap_err().to_string();
        assert!(
            error.starts_with("the guest did not say a line within 0.05 s") && error.ends_with("    hal"),
            "{error}"
        );
        guest.write_all(b"f\xff").unwrap();
        drop(guest);
        assert_eq!(console.line(LONG).unwrap().as_deref(), Some("half\u{fffd}"));
        assert_eq!(console.line(LONG).unwrap(), None);
        assert_eq!(console.text(), "one\ntwo\nREADY 1\nhalf\u{fffd}");
    }

    #[test]
    fn endless_output_does_not_extend_the_deadline() {
        let (mut guest, mut console) = console();
        guest.write_all(b"tick\n".repeat(9).as_slice()).unwrap();
        let error = console.until("READY", SOON).unwrap_err().to_string();
        assert!(error.contains("did not say \"READY\" within") && error.ends_with("    tick"), "{error}");
        drop(guest);
        let error = console.until("READY", LONG).unwrap_err().to_string();
        assert!(error.starts_with("the guest has ended; its console ended with\n    tick"), "{error}");
    }

    #[test]
    fn sent_lines_reach_the_guest() {
        let (mut guest, mut console) = console();
        console.send("go").unwrap();
        let mut got = [0; 3];
        guest.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"go\n");
        drop(guest);
        assert!(matches!(console.send("go"), Err(VmError::Ended { .. })));
    }
}
