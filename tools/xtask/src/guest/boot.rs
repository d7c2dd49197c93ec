//! Boots a guest in QEMU, returns its console, and scrapes its metrics when it serves them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use freehold_vm::{Door, Guest, Machine, VmError};

use crate::dist::processor::Processor;

/// The port of the guest's server.
const SERVES_AT: u16 = 9321;

/// The time limit for each byte of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The line that a guest prints when it waits for a scrape.
const SERVING: &str = "guest: serving";

/// Returns the guests' machine with two CPUs. Its door forwards to the port of the guest's server.
///
/// # Errors
/// If no port is free.
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

/// The outcome of a boot.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) console: String,
    /// The guest's answer to a scrape from outside.
    pub(crate) scraped: Option<String>,
    pub(crate) is_late: bool,
}

/// Boots a guest, scrapes it once it serves, reports that to it, and waits for its end. Prints the guest's console
/// while it runs if `is_shown`.
///
/// # Errors
/// If there is no emulator or the guest prints nothing.
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
            // The guest may have ended, in which case it reads nothing.
            let _ = guest.console().send(&word);
        }
    }
    let ended = guest.finish().map_err(said)?;
    if ended.console.is_empty() {
        return Err(format!("the emulator printed nothing: {}", ended.complaint.trim()));
    }
    Ok(Ran { console: ended.console, scraped, is_late: ended.is_late })
}

/// Returns true for a line of a file that the guest prints.
fn is_base64(line: &str) -> bool {
    line.len() > 60 && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// Returns a free port of this machine.
fn free_port() -> Result<u16, String> {
    let said = |error: std::io::Error| format!("no port is free: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(said)?;
    Ok(listener.local_addr().map_err(said)?.port())
}

/// Returns the number of Freehold's values in a text for Prometheus.
pub(crate) fn metrics(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("freehold")).count()
}

/// Reads the guest's metrics.
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
        _ => Err(format!("the guest answered {}", text.lines().next().unwrap_or("nothing"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_a_console_and_a_forwarded_port() {
        for (processor, line) in [(Processor::X86_64, "ttyS0"), (Processor::Arm64, "ttyAMA0")] {
            let machine = machine(processor, Path::new("vmlinuz"), Path::new("root"), "x=1").unwrap();
            assert_eq!(machine.parameters, format!("console={line} quiet panic=-1 x=1"));
            let door = machine.door.expect("a door");
            assert_eq!((machine.cpus, door.guest), (2, SERVES_AT));
            assert_ne!(door.host, 0);
        }
    }

    #[test]
    fn lines_of_printed_files_are_not_shown() {
        assert!(is_base64(&"QUFB".repeat(19)));
        assert!(!is_base64("guest: exit 0"));
        assert!(!is_base64(&"word ".repeat(20)));
    }
}
