//! Runs one script on one kernel.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::error::{OracleError, OracleResult};
use super::tree::BuiltKernel;
use crate::kernel::error::{CONSOLE_LINES, tail};
use crate::kernel::process::{limited, require, took_too_long};
use crate::kernel::scratch::Scratch;

/// The most seconds that a kernel may take.
const SECONDS: u64 = 600;

/// The prefix of the oracle's own lines, and the line that reports success.
const SAYS: &str = "freehold oracle: ";
const PLAYED: &str = "played ";

const HEADER_BYTES: usize = 64;
const END_TAG: u64 = 0x3f;

impl BuiltKernel {
    /// Plays `script` and writes `transcript`, which appears only if it is complete.
    ///
    /// `memory` is the guest's memory as UML takes it: `256M`, `66060K`. Several runs at once are
    /// allowed.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn play(&self, script: &Path, transcript: &Path, memory: &str, cpus: u16) -> OracleResult<()> {
        let most = self.version.most_cpus();
        if cpus == 0 || cpus > most {
            return Err(OracleError::TooManyCpus { version: self.version, most, cpus });
        }
        require("setarch", "util-linux")?;
        let run = Run { kernel: self, script, memory, room: beside(transcript)? };
        let written = run.run(cpus)?;
        fs::rename(written, transcript).map_err(OracleError::file(transcript))
    }
}

/// One boot of a kernel.
struct Run<'a> {
    kernel: &'a BuiltKernel,
    script: &'a Path,
    memory: &'a str,
    room: Scratch,
}

impl Run<'_> {
    /// Boots the kernel. Returns the transcript in the temporary folder.
    fn run(&self, cpus: u16) -> OracleResult<PathBuf> {
        let script = fs::canonicalize(self.script).map_err(OracleError::file(self.script))?;
        let link = self.room.path().join("script");
        // The kernel's command line is short and allows no spaces in paths.
        symlink(&script, &link).map_err(OracleError::file(&link))?;
        let console = self.room.path().join("console");
        let status = self.boot(cpus, &console)?;
        let said = fs::read(&console).unwrap_or_default();
        self.judge(status, &String::from_utf8_lossy(&said))?;
        Ok(self.room.path().join("transcript"))
    }

    fn boot(&self, cpus: u16, console: &Path) -> OracleResult<ExitStatus> {
        let output = File::create(console).map_err(OracleError::file(console))?;
        let copy = output.try_clone().map_err(OracleError::file(console))?;
        let program = self.kernel.program();
        let mut boot = limited(SECONDS)?;
        // The guest's memory starts behind the heap, which must start at the same address in each
        // run.
        boot.args(["setarch", "x86_64", "--addr-no-randomize"]).arg(program);
        boot.arg(format!("mem={}", self.memory));
        boot.args(["freehold.script=script", "freehold.transcript=transcript", "uml_dir=./"]);
        boot.args(["earlyprintk", "keep_bootcon", "con=null"]);
        if self.kernel.version.most_cpus() > 1 {
            boot.arg(format!("ncpus={cpus}"));
            boot.arg(if cpus > 1 { "seccomp=on" } else { "seccomp=auto" });
        }
        boot.current_dir(self.room.path()).stdout(output).stderr(copy);
        boot.status().map_err(OracleError::file(program))
    }

    /// Fails if the transcript cannot be trusted.
    fn judge(&self, status: ExitStatus, said: &str) -> OracleResult<()> {
        let (version, script) = (self.kernel.version, self.script.to_owned());
        let console = tail(said, CONSOLE_LINES);
        if took_too_long(status) {
            return Err(OracleError::TimedOut { version, script, seconds: SECONDS, console });
        }
        let own: Vec<_> = said.lines().filter_map(|line| Some(line.split_once(SAYS)?.1.trim_end())).collect();
        if let Some(line) = own.iter().find(|line| !line.starts_with(PLAYED)) {
            return Err(OracleError::Refused { version, script, line: (*line).to_owned() });
        }
        let transcript = self.room.path().join("transcript");
        if own.is_empty() && !transcript.exists() {
            let (memory, status) = (self.memory.to_owned(), status.to_string());
            return Err(OracleError::NoBoot { version, memory, status, console });
        }
        let whole = match own.len() {
            0 => Err(format!("the kernel died while it played, with {status}")),
            _ => check_whole(&self.room.path().join("script"), &transcript),
        };
        whole.map_err(|detail| OracleError::NotWhole { version, script, detail, console })
    }
}

/// Fails if a transcript does not end with the word that all operations were played.
fn check_whole(script: &Path, transcript: &Path) -> std::result::Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let mut header = [0; HEADER_BYTES];
    File::open(script).and_then(|mut file| file.read_exact(&mut header)).map_err(io)?;
    let operations = word(&header[16..24]);
    let mut file = File::open(transcript).map_err(io)?;
    file.read_exact(&mut header).map_err(|_| "it has no header".to_owned())?;
    if !header.starts_with(b"FHTRANS1") {
        return Err("it does not start with FHTRANS1".to_owned());
    }
    let length = file.seek(SeekFrom::End(0)).map_err(io)?;
    if length < HEADER_BYTES as u64 + 8 || length % 8 != 0 {
        return Err(format!("it is {length} bytes long"));
    }
    let mut last = [0; 8];
    file.seek(SeekFrom::End(-8)).and_then(|_| file.read_exact(&mut last)).map_err(io)?;
    if word(&last) == END_TAG << 56 | operations {
        return Ok(());
    }
    Err(format!("its last word is {:#018x}, which does not end {operations} operations", word(&last)))
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Makes a folder beside the transcript, which can then be moved to its place in one step.
fn beside(transcript: &Path) -> OracleResult<Scratch> {
    let parent = match transcript.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Ok(Scratch::within(parent)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Mutex;

    use freehold_oracle::KernelVersion;

    use super::*;

    /// An executable cannot be started while any process has it open for writing, even a child of
    /// another test.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// Plays a script on a shell script in place of a kernel.
    fn play(name: &str, body: &str) -> (String, bool) {
        let _one = ONE_AT_A_TIME.lock();
        let folder = std::env::temp_dir().join(format!("freehold-uml-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("linux");
        fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let script = folder.join("s");
        let mut bytes = [0; HEADER_BYTES];
        bytes[16] = 7;
        fs::write(&script, bytes).unwrap();
        let kernel = BuiltKernel { version: KernelVersion::V6_12, program };
        let transcript = folder.join("t");
        let outcome = kernel.play(&script, &transcript, "64M", 1);
        let text = outcome.map_or_else(|error| error.to_string(), |()| "played".to_owned());
        let is_there = transcript.exists();
        fs::remove_dir_all(&folder).unwrap();
        (text.replace(script.to_str().unwrap(), "SCRIPT"), is_there)
    }

    const WRITE: &str = "printf 'FHTRANS1%56s' '' > transcript; echo freehold oracle: played 7 operations";

    #[test]
    fn complete_transcript_is_kept() {
        let body = format!("{WRITE}; printf '\\007\\0\\0\\0\\0\\0\\0\\077' >> transcript");
        assert_eq!(play("whole", &body), ("played".to_owned(), true));
    }

    #[test]
    fn truncated_transcript_is_not_kept() {
        let (text, is_there) = play("short", &format!("{WRITE}; printf '12345678' >> transcript"));
        assert!(
            text.starts_with("the transcript of SCRIPT by Linux 6.12 is not complete (its last word"),
            "{text}"
        );
        assert!(!is_there);
    }

    #[test]
    fn kernel_without_oracle_output_is_a_failed_boot() {
        let (text, _) = play("boot", "echo 'Kernel panic - not syncing' >&2; exit 1");
        assert_eq!(
            text,
            "kernel does not boot: Linux 6.12 with mem=64M ended with exit status: 1; its console ended with\n    \
             Kernel panic - not syncing"
        );
    }

    #[test]
    fn refusal_of_the_oracle_is_reported() {
        let (text, _) = play("refused", "echo 'freehold oracle: script is not a script'");
        assert_eq!(text, "the oracle in Linux 6.12 does not play SCRIPT: script is not a script");
    }

    #[test]
    fn script_with_too_many_cpus_is_refused() {
        let kernel = BuiltKernel { version: KernelVersion::V6_1, program: PathBuf::new() };
        let error = kernel.play(Path::new("s"), Path::new("t"), "64M", 2).unwrap_err().to_string();
        assert_eq!(error, "Linux 6.1 under User-Mode Linux plays on at most 1 CPUs, not on 2");
    }
}
