//! Gives one of the kernel's files its old number back, whatever ends the process that changed it.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use super::repair_lock::ended_by_signal;
use crate::args::GiveBack;

/// The message to the watching process if there is nothing left to do.
const DONE: u8 = b'.';

/// A file whose old number comes back when this is dropped, and also when this process is killed.
pub(super) struct OldNumber {
    path: PathBuf,
    number: u64,
    /// A process of its own, which writes the number as soon as its input ends.
    watch: Option<Child>,
}

impl OldNumber {
    /// Remembers that `path` is to hold `number` again. Without a second process, which the machine may not
    /// have room for, the number comes back unless this process is killed.
    pub(super) fn keep(path: &Path, number: u64) -> Self {
        let started = std::env::current_exe().and_then(|program| {
            Command::new(program)
                .arg("give-back")
                .arg(path)
                .arg(number.to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // Ctrl-C goes to the whole group of the terminal's foreground.
                .process_group(0)
                .spawn()
        });
        Self { path: path.to_owned(), number, watch: started.ok() }
    }

    /// Gives the old number back.
    pub(super) fn restore(&self) -> io::Result<()> {
        fs::write(&self.path, self.number.to_string())
    }
}

impl Drop for OldNumber {
    fn drop(&mut self) {
        let restored = self.restore();
        let Some(mut watch) = self.watch.take() else { return };
        if let (Ok(()), Some(mut input)) = (restored, watch.stdin.take()) {
            let _ = input.write_all(&[DONE]);
        }
        let _ = watch.wait();
    }
}

/// Waits until the input ends, and then writes the number to the file, unless the input says that all is done.
pub(crate) fn run(args: &GiveBack) -> ExitCode {
    // What ends a whole group of processes is not to end this one first.
    let _ended = ended_by_signal();
    let mut byte = [0_u8];
    loop {
        match io::stdin().read(&mut byte) {
            Ok(0) => break,
            Ok(_) if byte[0] == DONE => return ExitCode::SUCCESS,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => break,
            _ => {}
        }
    }
    match fs::write(&args.file, args.number.to_string()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(3),
    }
}
