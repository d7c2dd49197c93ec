//! A boot in QEMU: what the guest says comes back, and what it asks of the outside is done.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use freehold_vm::{Door, Guest, Machine, VmError};

use crate::dist::processor::Processor;

/// The port on which a guest serves.
const SERVES_AT: u16 = 9321;

/// How long the outside waits for each byte of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a guest says when it waits for somebody who scrapes it.
const SERVING: &str = "guest: serving";

/// Returns the machine of guests, with two CPUs; its door leads to the port on which a guest serves.
///
/// # Errors
/// A sentence, if no port is free.
pub(crate) fn machine(
    arch: Processor,
    kernel: &Path,
    initramfs: &Path,
    parameters: &str,
) -> Result<Machine, String> {
    let arch = arch.arch();
    let mut machine = Machine::new(arch, kernel);
    machine.cpus = 2;
    machine.door = Some(Door { host: free_port()?, guest: SERVES_AT });
    machine.initramfs = Some(initramfs.to_owned());
    machine.parameters = format!("console={} quiet panic=-1 {parameters}", arch.serial());
    Ok(machine)
}

/// What came of a boot.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) console: String,
    /// What the guest answered to a scrape from outside.
    pub(crate) scraped: Option<String>,
    pub(crate) is_late: bool,
}

/// Boots, scrapes the guest when it says that it serves, tells it so, and waits for its end. What the guest says is printed
/// as it comes if `is_shown`.
///
/// # Errors
/// A sentence, if there is no emulator or the guest says nothing.
pub(crate) fn run(machine: &Machine, is_shown: bool) -> Result<Ran, String> {
    let said = |error: VmError| error.to_string();
    let mut guest = Guest::boot(machine).map_err(said)?;
    let mut scraped = None;
    while let Some(line) = guest.console().line(machine.limit.saturating_mul(2)).map_err(said)? {
        if is_shown && !is_base64(line.trim_end()) {
            println!("{line}");
        }
        if line.starts_with(SERVING)
            && let Some(door) = machine.door
        {
            let answer = scrape(door.host);
            let word =
                answer.as_ref().map_or_else(String::clone, |text| format!("{} metrics", metrics(text)));
            scraped = answer.ok();
            // A guest that has ended meanwhile reads nothing.
            let _ = guest.console().send(&word);
        }
    }
    let ended = guest.finish().map_err(said)?;
    if ended.console.is_empty() {
        return Err(format!("the emulator says nothing: {}", ended.complaint.trim()));
    }
    Ok(Ran { console: ended.console, scraped, is_late: ended.is_late })
}

/// Returns true for a line of a file that is handed out.
fn is_base64(line: &str) -> bool {
    line.len() > 60 && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// Returns a port of this machine that nobody listens on.
fn free_port() -> Result<u16, String> {
    let said = |error: std::io::Error| format!("no port is free: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(said)?;
    Ok(listener.local_addr().map_err(said)?.port())
}

/// Returns how many values of Freehold's are in a text for Prometheus.
pub(crate) fn metrics(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("freehold")).count()
}

/// Asks the guest for its metrics.
fn scrape(port: u16) -> Result<String, String> {
    let said = |error: std::io::Error| format!("the guest does not answer: {error}");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(said)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(said)?;
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        .map_err(said)?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(said)?;
    match text.split_once("\r\n\r\n") {
        Some((head, _)) if head.starts_with("HTTP/1.1 200") => Ok(text),
        _ => Err(format!("the guest answers {}", text.lines().next().unwrap_or("nothing"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_its_line_and_a_door() {
        for (processor, line) in [(Processor::X86_64, "ttyS0"), (Processor::Arm64, "ttyAMA0")] {
            let machine = machine(processor, Path::new("vmlinuz"), Path::new("root"), "x=1").unwrap();
            assert_eq!(machine.parameters, format!("console={line} quiet panic=-1 x=1"));
            let door = machine.door.expect("a door");
            assert_eq!((machine.cpus, door.guest), (2, SERVES_AT));
            assert_ne!(door.host, 0);
        }
    }

    #[test]
    fn files_are_not_shown() {
        assert!(is_base64(&"QUFB".repeat(19)));
        assert!(!is_base64("guest: exit 0"));
        assert!(!is_base64(&"word ".repeat(20)));
    }
}
