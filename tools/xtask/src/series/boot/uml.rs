//! Boots a kernel under User-Mode Linux.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use freehold_vm::{Ended, Guest, Machine};

use super::console::Console;
use crate::kernel::KernelVersion;
use crate::kernel::error::{CONSOLE_LINES, tail};
use crate::kernel::process::{command, limited, require, took_too_long};
use crate::kernel::scratch::Scratch;
use crate::series::build::workshop::Built;
use crate::series::error::{SeriesError, SeriesResult};

/// A kernel's message about an unknown setting on its command line.
const NOT_SET: &str = "Failed to set sysctl parameter";

/// A boot under User-Mode Linux.
#[derive(Clone, Debug)]
pub struct UmlBoot<'a> {
    /// The kernel.
    pub kernel: &'a Built,
    /// The packed initramfs.
    pub initramfs: &'a Path,
    /// The value of `freehold.do=`.
    pub order: &'a str,
    /// Further kernel parameters.
    pub parameters: &'a [&'a str],
    /// The guest's memory as User-Mode Linux takes it: `512M`.
    pub memory: &'a str,
    /// The time limit of the boot in seconds.
    pub seconds: u64,
}

/// The outcome of a boot.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The parsed console.
    pub console: Console,
    /// The text of the console.
    pub text: String,
    /// True if the kernel had to be stopped at the limit.
    pub is_late: bool,
    /// The duration.
    pub took: Duration,
}

/// Returns the number of CPUs for a kernel: at most two.
pub const fn cpus(version: KernelVersion) -> u16 {
    if version.most_cpus() > 1 { 2 } else { 1 }
}

impl UmlBoot<'_> {
    /// Boots, and waits for the end.
    ///
    /// # Errors
    /// If a program is missing, or the kernel prints nothing.
    pub fn run(&self) -> SeriesResult<Ran> {
        require("setarch", "util-linux")?;
        let mut machine = command("setarch");
        // The guest's memory starts behind the heap, which must start at the same address in each
        // run.
        machine.args(["x86_64", "--addr-no-randomize"]).arg(&self.kernel.program).args(self.arguments());
        watch(&machine, self.seconds, &self.name())
    }

    /// Boots, and returns the console if there was no problem.
    ///
    /// # Errors
    /// As for [`UmlBoot::run`], and if the process did not reach its end or the kernel reported a
    /// problem.
    pub fn measure(&self) -> SeriesResult<Console> {
        self.run()?.unobjectionable(&self.name())
    }

    fn name(&self) -> String {
        let Built { version, recipe, .. } = self.kernel;
        format!("Linux {version} ({}) with freehold.do={}", recipe.name(), self.order)
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![format!("mem={}", self.memory)];
        if self.kernel.version.most_cpus() > 1 {
            arguments.extend([format!("ncpus={}", cpus(self.kernel.version)), "seccomp=on".to_owned()]);
        }
        arguments.push(format!("initrd={}", self.initramfs.display()));
        // The console is for output only: the host's input must not reach the guest.
        let fixed = ["uml_dir=./", "con=null", "con0=null,fd:1", "earlyprintk", "keep_bootcon"];
        arguments.extend(fixed.map(str::to_owned));
        arguments.extend(self.parameters.iter().map(|parameter| (*parameter).to_owned()));
        arguments.push(format!("freehold.do={}", self.order));
        arguments
    }
}

/// Runs a kernel's machine in a folder of its own, and stops it at the limit.
fn watch(machine: &Command, seconds: u64, name: &str) -> SeriesResult<Ran> {
    let mut boot = limited(seconds)?;
    let room = Scratch::new()?;
    let console = room.path().join("console");
    let output = File::create(&console).map_err(SeriesError::file(&console))?;
    let copy = output.try_clone().map_err(SeriesError::file(&console))?;
    boot.arg(machine.get_program()).args(machine.get_args());
    boot.current_dir(room.path()).stdout(output).stderr(copy);
    let start = Instant::now();
    let status = boot.status().map_err(SeriesError::file(Path::new("timeout")))?;
    let took = start.elapsed();
    let bytes = fs::read(&console).map_err(SeriesError::file(&console))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ran::read(text, status, took_too_long(status), took, name)
}

impl Ran {
    /// Boots a machine in QEMU, and waits for its end.
    ///
    /// # Errors
    /// If there is no emulator, or the kernel prints nothing.
    pub(crate) fn in_qemu(machine: &Machine, name: &str) -> SeriesResult<Self> {
        let Ended { console, complaint, status, is_late, took } = Guest::boot(machine)?.finish()?;
        Self::read(console + &complaint, status, is_late, took, name)
    }

    /// Parses the text of a console.
    fn read(
        text: String,
        status: ExitStatus,
        is_late: bool,
        took: Duration,
        name: &str,
    ) -> SeriesResult<Self> {
        let console = Console::read(&text);
        // A kernel with the parameter `quiet` does not print its version.
        if !text.contains("Linux version") && console.said.is_empty() && !console.is_whole {
            let said = format!(
                "it does not start, {status}; its console ended with\n{}",
                tail(&text, CONSOLE_LINES)
            );
            return Err(SeriesError::Failed { command: name.to_owned(), said });
        }
        Ok(Self { console, text, is_late, took })
    }

    /// Returns the console if there was no problem. An unknown setting is a problem, because it has no effect.
    pub(in crate::series) fn unobjectionable(self, name: &str) -> SeriesResult<Console> {
        let mut findings = self.findings();
        findings.extend(self.text.lines().filter(|line| line.contains(NOT_SET)).map(str::to_owned));
        if findings.is_empty() {
            return Ok(self.console);
        }
        let said =
            format!("{}; its console ended with\n{}", findings.join("; "), tail(&self.text, CONSOLE_LINES));
        Err(SeriesError::Failed { command: name.to_owned(), said })
    }

    /// Returns a line for each problem.
    pub fn findings(&self) -> Vec<String> {
        let console = &self.console;
        let mut findings: Vec<_> =
            console.alarms.iter().map(|alarm| format!("line {}: {}", alarm.line, alarm.text)).collect();
        findings.extend(console.error.iter().map(|error| format!("the guest gave up: {error}")));
        if self.is_late {
            findings.push(format!("it was stopped after {} s", self.took.as_secs()));
        } else if !console.is_whole && console.error.is_none() {
            findings.push("the guest did not reach its end".to_owned());
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::series::build::recipe::{Arch, Recipe};
    use crate::series::build::variant::Variant;

    /// Boots a shell script in place of a kernel.
    fn boot(body: &str) -> SeriesResult<Console> {
        let folder = Scratch::new().unwrap();
        let program = folder.write("linux", &format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let recipe = Recipe::new(Arch::Um, &["uml"], Variant::Vanilla);
        let kernel = Built { recipe, version: KernelVersion::V7_3, program };
        let (initramfs, parameters) = (Path::new("initramfs"), ["x=1"]);
        let (order, memory, seconds) = ("hot", "64M", 20);
        UmlBoot { kernel: &kernel, initramfs, order, parameters: &parameters, memory, seconds }.measure()
    }

    /// A child of another test may still have the script open for writing.
    fn boot_alone(body: &str) -> SeriesResult<Console> {
        let mut last = boot(body);
        for _ in 0..20 {
            match &last {
                Err(error) if error.to_string().contains("ext file busy") => last = boot(body),
                _ => break,
            }
        }
        last
    }

    #[test]
    fn output_of_the_guest_is_parsed() {
        let body = "echo 'Linux version 7.3'; echo; echo \"freehold: {\\\"words\\\":\\\"$*\\\"}\"
                    echo 'freehold: {\"done\":true}'";
        let console = boot_alone(body).unwrap();
        let words = console.said[0]["words"].as_str().unwrap();
        assert!(words.starts_with("mem=64M ncpus=2 seccomp=on initrd=initramfs "), "{words}");
        assert!(words.ends_with(" x=1 freehold.do=hot"), "{words}");
    }

    #[test]
    fn quiet_kernel_may_omit_its_version() {
        assert!(boot_alone("echo 'freehold: {\"done\":true}'").unwrap().is_whole);
    }

    #[test]
    fn boot_with_an_unknown_setting_is_an_error() {
        let error = boot_alone(
            "echo \"Failed to set sysctl parameter 'vm.x=1': parameter not found\"
             echo 'freehold: {\"done\":true}'",
        )
        .unwrap_err();
        assert!(error.to_string().contains("'vm.x=1': parameter not found"), "{error}");
    }

    #[test]
    fn boot_without_an_end_is_an_error() {
        let error = boot_alone("echo 'Linux version 7.3'; echo 'Kernel panic'; exit 1").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("Linux 7.3 (um-uml-vanilla) with freehold.do=hot failed: line 2"), "{text}");
        assert!(text.contains("the guest did not reach its end"), "{text}");
        let text = boot_alone("exit 3").unwrap_err().to_string();
        assert!(text.contains("it does not start, exit status: 3"), "{text}");
    }
}
