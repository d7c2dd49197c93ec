//! A boot in QEMU: what the guest says comes back, and what it asks of the outside is done.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::dist::processor::Processor;
use crate::kernel::process::{limited, require, took_too_long};

/// The port on which a guest serves.
const SERVES_AT: u16 = 9321;

/// How long the outside waits for each byte of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a guest says when it waits for somebody who scrapes it.
const SERVING: &str = "guest: serving";

/// The emulator of an architecture, and its Debian package.
pub(crate) const fn emulator(arch: Processor) -> (&'static str, &'static str) {
    match arch {
        Processor::X86_64 => ("qemu-system-x86_64", "qemu-system-x86"),
        Processor::Arm64 => ("qemu-system-aarch64", "qemu-system-arm"),
    }
}

/// The board, the processor and the name of the serial line. x86-64: QEMU's emulated `cmpxchg16b` is not atomic between
/// the threads of two CPUs, which Linux's slab allocator does not survive. arm64: the architecture's own signatures of
/// pointers take an emulator most of its time.
const fn machine(arch: Processor) -> (&'static str, &'static str) {
    match arch {
        Processor::X86_64 => ("-machine q35 -cpu max,la57=off,cx16=off", "ttyS0"),
        Processor::Arm64 => ("-machine virt,gic-version=3 -cpu max,pauth-impdef=on", "ttyAMA0"),
    }
}

/// A boot.
#[derive(Debug)]
pub(crate) struct Boot<'a> {
    pub(crate) arch: Processor,
    pub(crate) kernel: &'a Path,
    pub(crate) initramfs: &'a Path,
    /// MiB.
    pub(crate) memory: u32,
    /// 1, or 2, each with a half of the memory and one CPU.
    pub(crate) nodes: u32,
    /// A raw image that is the guest's `/dev/nvme0n1`.
    pub(crate) disk: Option<&'a Path>,
    /// More parameters of the kernel.
    pub(crate) parameters: &'a str,
    /// The most seconds.
    pub(crate) seconds: u64,
    /// True if what the guest says is printed as it comes.
    pub(crate) is_shown: bool,
}

/// What came of a boot.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) console: String,
    /// What the guest answered to a scrape from outside.
    pub(crate) scraped: Option<String>,
    pub(crate) is_late: bool,
}

impl Boot<'_> {
    /// Boots and waits for the end.
    ///
    /// # Errors
    /// A sentence, if there is no emulator or it does not start.
    pub(crate) fn run(&self) -> Result<Ran, String> {
        let (emulator, package) = emulator(self.arch);
        require(emulator, package).map_err(|error| error.to_string())?;
        let port = free_port()?;
        let mut qemu = limited(self.seconds).map_err(|error| error.to_string())?;
        qemu.arg(emulator);
        self.describe(&mut qemu, port);
        qemu.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut qemu = qemu.spawn().map_err(|error| format!("{emulator}: {error}"))?;
        let said = qemu.stdout.take().ok_or("the emulator has no output")?;
        let mut asked = qemu.stdin.take().ok_or("the emulator has no input")?;
        let (console, scraped) = self.listen(BufReader::new(said), &mut asked, port)?;
        let output = qemu.wait_with_output().map_err(|error| format!("{emulator}: {error}"))?;
        if console.is_empty() {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{emulator} says nothing: {}", complaint.trim()));
        }
        Ok(Ran { console, scraped, is_late: took_too_long(output.status) })
    }

    fn describe(&self, qemu: &mut Command, port: u16) {
        let (board, line) = machine(self.arch);
        qemu.args("-nodefaults -no-user-config -display none -no-reboot -serial stdio -smp 2".split(' '));
        qemu.args(board.split(' ')).args(["-m", &format!("{}M", self.memory)]);
        for node in (0..self.nodes).filter(|_| self.nodes > 1) {
            let half = self.memory / self.nodes;
            qemu.arg("-object").arg(format!("memory-backend-ram,id=memory{node},size={half}M"));
            qemu.arg("-numa").arg(format!("node,nodeid={node},cpus={node},memdev=memory{node}"));
        }
        if let Some(disk) = self.disk {
            // A comma ends the name unless there are two.
            let name = disk.display().to_string().replace(',', ",,");
            let drive = format!("file={name},if=none,id=disk,format=raw,cache=unsafe");
            qemu.args(["-drive", &drive, "-device", "nvme,drive=disk,serial=disk"]);
        }
        qemu.arg("-netdev").arg(format!("user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:{SERVES_AT}"));
        qemu.args(["-device", "virtio-net-pci,netdev=n,romfile="]);
        qemu.arg("-kernel").arg(self.kernel).arg("-initrd").arg(self.initramfs);
        qemu.arg("-append").arg(format!("console={line} quiet panic=-1 {}", self.parameters));
    }

    /// Reads the console to its end. Scrapes the guest when it says that it serves, and tells it so.
    fn listen(
        &self,
        mut said: impl BufRead,
        asked: &mut ChildStdin,
        port: u16,
    ) -> Result<(String, Option<String>), String> {
        let (mut console, mut scraped) = (String::new(), None);
        let mut line = Vec::new();
        loop {
            line.clear();
            let bytes = said.read_until(b'\n', &mut line).map_err(|error| format!("the console: {error}"))?;
            if bytes == 0 {
                return Ok((console, scraped));
            }
            let text = String::from_utf8_lossy(&line).replace('\r', "");
            if self.is_shown && !is_base64(text.trim_end()) {
                print!("{text}");
            }
            console.push_str(&text);
            if text.starts_with(SERVING) {
                let answer = scrape(port);
                let word = match &answer {
                    Ok(text) => format!("{} metrics\n", metrics(text)),
                    Err(error) => format!("{error}\n"),
                };
                scraped = answer.ok();
                // A guest that has ended meanwhile reads nothing.
                let _ = asked.write_all(word.as_bytes()).and_then(|()| asked.flush());
            }
        }
    }
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

    fn described(arch: Processor, nodes: u32) -> String {
        let boot = Boot {
            arch,
            kernel: Path::new("vmlinuz"),
            initramfs: Path::new("root"),
            memory: 512,
            nodes,
            disk: (nodes > 1).then_some(Path::new("disk")),
            parameters: "x=1",
            seconds: 1,
            is_shown: false,
        };
        let mut qemu = Command::new("qemu");
        boot.describe(&mut qemu, 4000);
        qemu.get_args().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_machine_has_its_board_its_line_and_a_door() {
        let x86 = described(Processor::X86_64, 1);
        assert!(x86.contains("-machine q35") && x86.ends_with("console=ttyS0 quiet panic=-1 x=1"), "{x86}");
        let arm = described(Processor::Arm64, 1);
        assert!(arm.contains("-machine virt") && arm.contains("console=ttyAMA0 "), "{arm}");
        assert!(arm.contains("hostfwd=tcp:127.0.0.1:4000-:9321") && arm.contains("-m 512M"), "{arm}");
        assert!(!arm.contains("-numa"), "{arm}");
    }

    #[test]
    fn each_of_two_nodes_has_a_half_of_the_memory_and_a_cpu_and_there_may_be_a_disk() {
        let line = described(Processor::X86_64, 2);
        for node in [
            "-object memory-backend-ram,id=memory0,size=256M -numa node,nodeid=0,cpus=0,memdev=memory0",
            "-object memory-backend-ram,id=memory1,size=256M -numa node,nodeid=1,cpus=1,memdev=memory1",
            "-drive file=disk,if=none,id=disk,format=raw,cache=unsafe -device nvme,drive=disk,serial=disk",
        ] {
            assert!(line.contains(node), "{line}");
        }
    }

    #[test]
    fn files_are_not_shown() {
        assert!(is_base64(&"QUFB".repeat(19)));
        assert!(!is_base64("guest: exit 0"));
        assert!(!is_base64(&"word ".repeat(20)));
    }
}
