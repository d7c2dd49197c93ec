//! `cargo xtask sensor`: runs the BPF sensor's tests in kernels with and without the series.
//!
//! The tests compare the sensor with `/proc/pagetypeinfo` and `/proc/kpageflags` of their kernel. A small Debian in
//! QEMU runs them from its first process, on a kernel built with BTF.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use freehold_vm::Disk;
use serde_json::Value;

use crate::counterfactual::guest::{Cpus, machine};
use crate::counterfactual::programs::said;
use crate::counterfactual::root::{self, PARTITION};
use crate::kernel::process::command;
use crate::kernel::{KernelVersion, cache};
use crate::series::boot::uml::Ran;
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::Workshop;
use crate::series::kernels;

/// The first process of the guest.
const INIT: &str = include_str!("sensor-init.sh");

/// The memory of the guest.
///
/// Units: MiB.
const MEMORY_MIB: u32 = 1024;

/// The time limit of a boot in seconds.
const SECONDS: u64 = 900;

/// Run the BPF sensor's tests in kernels with and without the series
#[derive(Args, Debug)]
pub struct SensorArgs {
    /// Kernel: 6.12, 6.18, 7.2 or 7.3
    #[arg(long, default_value = "7.3", value_parser = version)]
    kernel: KernelVersion,
    /// Variants of the series counts in the kernel
    #[arg(long, value_delimiter = ',', default_value = "vanilla,derived")]
    variant: Vec<Variant>,
}

fn version(name: &str) -> Result<KernelVersion, String> {
    let all = &kernels::KERNELS;
    kernels::from_name(name).ok_or_else(|| format!("the series is for {}", kernels::names(all)))
}

/// Boots each kernel, and prints the results of its tests. Returns true if all tests ran and passed.
///
/// # Errors
/// If a kernel, the image or the tests cannot be made.
pub fn run(arguments: &SensorArgs, root: &Path) -> Result<bool, String> {
    freehold_vm::Arch::X86_64.check().map_err(|error| error.to_string())?;
    let tests = tests(root)?;
    let folder = root.join("target/sensor");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let guests = cache::cache().map_err(|error| error.to_string())?.join("guests");
    let program = fs::read(&tests).map_err(|error| format!("{}: {error}", tests.display()))?;
    let image = root::image_with(root, &guests, &folder, |programs| {
        programs.install("sensor-tests", &program)?;
        programs.install("sensor-init", INIT.as_bytes())
    })?;
    let workshop =
        Workshop::new(root, "counts", arguments.kernel, None).map_err(|error| error.to_string())?;
    let mut is_well = true;
    for &variant in &arguments.variant {
        let recipe = Recipe::new(Arch::X86_64, &["qemu", "qemu-guest"], variant);
        let kernel = workshop.kernel(&recipe).map_err(|error| error.to_string())?;
        let name = format!("Linux {} ({variant})", arguments.kernel);
        eprintln!("{name}: the sensor's tests in QEMU");
        let ran = boot(&kernel.program, &image, &name)?;
        let log = folder.join(format!("{}-{variant}.log", arguments.kernel.name()));
        fs::write(&log, &ran.text).map_err(|error| format!("{}: {error}", log.display()))?;
        let outcome = Outcome::of(&ran);
        println!("{name}: {} passed, {} skipped; {}", outcome.passed, outcome.skipped.len(), log.display());
        for line in outcome.skipped.iter().chain(&outcome.findings) {
            println!("  {line}");
        }
        is_well &= outcome.findings.is_empty() && outcome.skipped.is_empty();
    }
    Ok(is_well)
}

/// Builds the sensor's tests, and returns the path of the program.
fn tests(root: &Path) -> Result<PathBuf, String> {
    let build = ["test", "--release", "--no-run", "--quiet", "--message-format=json"];
    let of = ["-p", "freehold-linux", "--features", "live,bpf", "--test", "live"];
    let text = said(command("cargo").args(build).args(of).current_dir(root))?;
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter(|message| message["target"]["name"] == "live");
    let path = programs.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.ok_or_else(|| "cargo does not report the path of the sensor's tests".to_owned())
}

fn boot(kernel: &Path, image: &Path, name: &str) -> Result<Ran, String> {
    let disks = vec![Disk::Nvme { name: "root", image: image.to_owned(), is_kept: false }];
    let mut machine = machine(Cpus::Two, MEMORY_MIB, kernel, disks);
    machine.parameters =
        format!("console=ttyS0 quiet panic=-1 root=PARTUUID={PARTITION} rw init=/usr/local/bin/sensor-init");
    machine.limit = Duration::from_secs(SECONDS);
    Ran::in_qemu(&machine, name).map_err(|error| error.to_string())
}

/// The results of the tests of one boot.
#[derive(PartialEq, Eq, Debug)]
struct Outcome {
    passed: u64,
    /// The skipped tests, with their reasons.
    skipped: Vec<String>,
    /// The faults.
    findings: Vec<String>,
}

impl Outcome {
    fn of(ran: &Ran) -> Self {
        let mut findings = ran.findings();
        let lines = || ran.text.lines().map(str::trim);
        // The output of a test comes between its name and its result.
        let skipped = lines().filter_map(|line| Some(line[line.find("SKIPPED ")?..].to_owned())).collect();
        let result = lines().find_map(|line| line.strip_prefix("test result: "));
        findings.extend(result.filter(|result| !result.starts_with("ok. ")).map(str::to_owned));
        let passed = result
            .and_then(|result| result.split_once(". ")?.1.split(' ').next()?.parse().ok())
            .unwrap_or_default();
        if passed == 0 {
            findings.push("no test has passed".to_owned());
        }
        Self { passed, skipped, findings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::boot::console::Console;

    fn outcome(text: &str) -> Outcome {
        let console = Console::read(text);
        Outcome::of(&Ran { console, text: text.to_owned(), is_late: false, took: Duration::ZERO })
    }

    #[test]
    fn failed_and_skipped_tests_are_reported() {
        let good =
            "test counts ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored\nfreehold: {\"done\":true}\n";
        assert_eq!(outcome(good), Outcome { passed: 2, skipped: Vec::new(), findings: Vec::new() });
        let skipped = outcome(&format!("test counts ... SKIPPED counts: no BTF\n{good}"));
        assert_eq!(
            (&skipped.skipped[..], skipped.findings.len()),
            (&["SKIPPED counts: no BTF".to_owned()][..], 0)
        );
        let failed = good.replace("... ok", "... \nit panicked\nFAILED").replace("ok. 2", "FAILED. 1");
        assert_eq!(outcome(&failed).findings, ["FAILED. 1 passed; 0 failed; 0 ignored"]);
        assert!(outcome("freehold: {\"done\":true}\n").findings.contains(&"no test has passed".to_owned()));
    }
}
