//! QEMU's monitor (QMP): commands come in; replies go out.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::{VmError, VmResult};

/// The longest time to wait for QEMU's reply.
const PATIENCE: Duration = Duration::from_mins(2);

/// A connection to a running QEMU.
#[derive(Debug)]
pub(crate) struct Monitor {
    stream: BufReader<UnixStream>,
    version: String,
}

/// A message from QEMU.
#[derive(PartialEq, Debug)]
enum Message {
    Greeting(String),
    Answer(Value),
    Error(String),
    /// An event, or another message that no command waits for.
    Other,
}

impl Message {
    fn parse(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let number = |name| message["QMP"]["version"]["qemu"][name].as_u64().unwrap_or_default();
        Some(if message.get("QMP").is_some() {
            Self::Greeting(format!("QEMU {}.{}.{}", number("major"), number("minor"), number("micro")))
        } else if let Some(answer) = message.get("return") {
            Self::Answer(answer.clone())
        } else if let Some(error) = message.get("error") {
            Self::Error(error["desc"].as_str().unwrap_or("no reason").to_owned())
        } else {
            Self::Other
        })
    }
}

impl Monitor {
    /// Reads QEMU's greeting, and turns on commands.
    ///
    /// # Errors
    /// If QEMU ends or does not reply.
    pub(crate) fn new(stream: UnixStream) -> VmResult<Self> {
        let timeout = stream.set_read_timeout(Some(PATIENCE));
        timeout.map_err(|error| refused("to talk", error.to_string()))?;
        let mut monitor = Self { stream: BufReader::new(stream), version: String::new() };
        match monitor.read("to talk")? {
            Message::Greeting(version) => monitor.version = version,
            other => return Err(refused("to talk", format!("{other:?} instead of a greeting"))),
        }
        monitor.ask("qmp_capabilities", &json!({}))?;
        Ok(monitor)
    }

    /// Returns the name and version of the emulator.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Runs a command, and returns its reply.
    ///
    /// # Errors
    /// If QEMU refuses the command, ends, or does not reply.
    pub(crate) fn ask(&mut self, command: &str, arguments: &Value) -> VmResult<Value> {
        let line = json!({ "execute": command, "arguments": arguments }).to_string();
        let written = self.stream.get_mut().write_all(line.as_bytes());
        written.map_err(|error| refused(command, error.to_string()))?;
        loop {
            match self.read(command)? {
                Message::Answer(answer) => return Ok(answer),
                Message::Error(said) => return Err(refused(command, said)),
                Message::Greeting(_) | Message::Other => {}
            }
        }
    }

    /// Runs a command that starts a background job, and waits for the end of the job.
    ///
    /// # Errors
    /// As for [`ask`](Self::ask), and if the job fails or takes longer than [`PATIENCE`].
    pub(crate) fn job(&mut self, command: &str, mut arguments: Value) -> VmResult<()> {
        arguments["job-id"] = command.into();
        self.ask(command, &arguments)?;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let jobs = self.ask("query-jobs", &json!({}))?;
            if let Some(outcome) = outcome(&jobs, command) {
                self.ask("job-dismiss", &json!({ "id": command }))?;
                return outcome.map_err(|said| refused(command, said));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(refused(command, format!("it has not ended after {} s", PATIENCE.as_secs())))
    }

    fn read(&mut self, command: &str) -> VmResult<Message> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => Err(refused(command, "it has ended".to_owned())),
            Ok(_) => {
                Message::parse(&line).ok_or_else(|| refused(command, format!("it wrote {:?}", line.trim())))
            }
            Err(error) => Err(refused(command, error.to_string())),
        }
    }
}

/// Returns the result of a job, or `None` if it has not ended.
fn outcome(jobs: &Value, id: &str) -> Option<Result<(), String>> {
    let job = jobs.as_array()?.iter().find(|job| job["id"] == id)?;
    let error = job["error"].as_str().map(str::to_owned);
    (job["status"] == "concluded").then_some(error.map_or(Ok(()), Err))
}

fn refused(command: &str, said: String) -> VmError {
    VmError::Refused { command: command.to_owned(), said }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_parsed_by_kind() {
        let greeting =
            r#"{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}}, "capabilities": []}}"#;
        assert_eq!(Message::parse(greeting), Some(Message::Greeting("QEMU 7.2.22".to_owned())));
        assert_eq!(Message::parse(r#"{"return": {}}"#), Some(Message::Answer(json!({}))));
        let error = r#"{"error": {"class": "GenericError", "desc": "no such tag"}}"#;
        assert_eq!(Message::parse(error), Some(Message::Error("no such tag".to_owned())));
        assert_eq!(Message::parse(r#"{"event": "STOP"}"#), Some(Message::Other));
        assert_eq!(Message::parse("{\"retu"), None);
    }

    #[test]
    fn only_a_concluded_job_has_an_outcome() {
        let jobs = |status: &str, error: Option<&str>| json!([{ "id": "a" }, { "id": "x", "status": status, "error": error }]);
        assert_eq!(outcome(&jobs("running", None), "x"), None);
        assert_eq!(outcome(&jobs("concluded", None), "x"), Some(Ok(())));
        assert_eq!(outcome(&jobs("concluded", Some("full")), "x"), Some(Err("full".to_owned())));
        assert_eq!(outcome(&json!([]), "x"), None);
    }

    #[test]
    fn events_are_skipped_and_an_early_end_is_an_error() {
        let (mut qemu, host) = UnixStream::pair().unwrap();
        let said = "{\"QMP\":{}}\n{\"return\":{}}\n{\"event\":\"STOP\"}\n{\"return\":5}\n{\"error\":{\"desc\":\"no\"}}\n";
        qemu.write_all(said.as_bytes()).unwrap();
        let mut monitor = Monitor::new(host).unwrap();
        assert_eq!(monitor.ask("stop", &json!({})).unwrap(), 5);
        assert_eq!(monitor.ask("cont", &json!({})).unwrap_err().to_string(), "QEMU refused cont: no");
        drop(qemu);
        assert!(monitor.ask("quit", &json!({})).is_err());
    }
}
