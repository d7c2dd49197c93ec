//! `cargo xtask guest`: runs the static program on a given kernel.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use freehold_vm::Entry;

use crate::dist::libraries::succeeds;
use crate::dist::processor::Processor;
use crate::dist::program::{self, Test};
use crate::kernel::error::{CONSOLE_LINES, tail};
use crate::kernel::process::command;

use super::boot::{self, Ran, metrics};
use super::given::given;
use super::initramfs;
use super::kernel::{self, Kernel};

/// The default script of a guest, which runs every command.
const SCRIPT: &str = include_str!("script.sh");

/// Boot a kernel in QEMU, and run every command of the static program there
#[derive(Args, Debug)]
pub struct GuestArgs {
    /// Processor of the guest
    #[arg(long, value_enum)]
    arch: Processor,
    /// Kernel file, or Debian package such as linux-image-arm64-16k
    #[arg(long, value_name = "PACKAGE|FILE")]
    kernel: String,
    /// Memory of the guest in MiB
    #[arg(long, default_value_t = 1024, value_name = "MIB")]
    memory: u32,
    /// Further kernel parameters
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    parameters: String,
    // The default with `--test` is the program that Cargo builds with the test.
    /// Program to run; by default, the one that `dist` builds
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Folder for the console and the guest's files; by default, below target/guest
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Time limit of the boot in seconds
    #[arg(long, default_value_t = 900, value_name = "N")]
    seconds: u64,
    /// Test program to run instead of every command, such as live
    #[arg(long, value_name = "NAME")]
    test: Option<String>,
    /// Shell command to run instead of every command, or the arguments of --test
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Boots a guest and runs its script. Returns false if the guest did not reach its end, or a command crashed.
///
/// # Errors
/// If the kernel, the program or the emulator is missing.
pub fn run(arguments: &GuestArgs, root: &Path) -> Result<bool, String> {
    let arch = arguments.arch;
    let kernel = Kernel::new(arch, &arguments.kernel)?;
    let test = arguments.test.as_deref().map(|name| program::build_test(arch, root, name)).transpose()?;
    let program = match (&arguments.program, &test) {
        (Some(file), _) => file.clone(),
        (None, Some(test)) => test.program.clone(),
        (None, None) => program::build(arch, root, "0")?,
    };
    let read = |file: &Path| fs::read(file).map_err(|error| format!("{}: {error}", file.display()));
    let program = read(&program)?;
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => root.join("target/guest").join(plain(&kernel.name)),
    };
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let words = arguments.command.join(" ");
    let script = match &test {
        Some(test) => script_of(test, &words),
        None if words.is_empty() => SCRIPT.to_owned(),
        None => format!("run {words}\n"),
    };
    let packed = folder.join("initramfs");
    let test = test.map(|test| read(&test.file)).transpose()?;
    let test = test.as_deref().map(|bytes| Entry::program("test", bytes));
    let bytes = initramfs::pack(&kernel, &kernel::busybox(arch)?, &program, &script, test.as_slice())
        .map_err(|error| error.to_string())?;
    fs::write(&packed, bytes).map_err(|error| format!("{}: {error}", packed.display()))?;
    println!("{}: {} MiB, {}", kernel.name, arguments.memory, kernel.image.display());
    let mut machine = boot::machine(arch, &kernel.image, &packed, &arguments.parameters)?;
    machine.memory_mib = arguments.memory;
    machine.limit = Duration::from_secs(arguments.seconds);
    let ran = boot::run(&machine, true)?;
    let _ = fs::remove_file(&packed);
    kept(&ran, &folder)?;
    let is_well = judged(&ran);
    let trace = folder.join("trace.arrows");
    if script == SCRIPT && trace.is_file() {
        compared(root, &trace)?;
    }
    Ok(is_well)
}

/// Returns the script that runs a test. It links the program to the path where it was built, as the test expects.
fn script_of(test: &Test, words: &str) -> String {
    let (folder, program) = (test.program.parent().unwrap_or(Path::new("/")), test.program.display());
    format!("mkdir -p '{}'\nln -s /usr/bin/freehold '{program}'\nrun /test {words}\n", folder.display())
}

/// Returns the name as one component of a path.
fn plain(name: &str) -> String {
    let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.replace(|c: char| !c.is_ascii_alphanumeric() && !"._+-".contains(c), "-")
}

/// Writes the console, the scraped metrics and the guest's files.
fn kept(ran: &Ran, folder: &Path) -> Result<(), String> {
    let keep = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    };
    keep("console", ran.console.as_bytes())?;
    if let Some(text) = &ran.scraped {
        keep("metrics", text.as_bytes())?;
        println!("scraped from outside: {} values", metrics(text));
    }
    for (name, bytes) in given(&ran.console) {
        let bytes = bytes.map_err(|error| format!("{name}: {error}"))?;
        keep(&plain(name), &bytes)?;
        println!("{name}: {} bytes", bytes.len());
    }
    println!("console: {}", folder.join("console").display());
    Ok(())
}

/// Prints the faults. Returns true if there are none.
fn judged(ran: &Ran) -> bool {
    let found = faults(&ran.console);
    for fault in &found {
        println!("{fault}");
    }
    if ran.is_late {
        println!("the guest was too slow; its console ended with\n{}", tail(&ran.console, CONSOLE_LINES));
    }
    found.is_empty() && !ran.is_late
}

/// Returns the faults in a console: a missing end, a panic, a crash, a sensor with wrong numbers.
pub(crate) fn faults(console: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut last = "";
    for line in console.lines() {
        if line.starts_with("guest: $ ") || line.starts_with("guest: nobody$ ") {
            last = line;
        }
        let code = line.strip_prefix("guest: exit ").and_then(|code| code.trim().parse::<i32>().ok());
        // 130 is the exit code of an interrupted program, such as `top` here; 101 is that of a panic or a failed test.
        if code.is_some_and(|code| (code > 128 && code != 130) || code == 101) {
            found.push(format!("{last}: {line}"));
        }
        if ["Kernel panic", "panicked at", "BUG: "].iter().any(|word| line.contains(word)) {
            found.push(line.to_owned());
        }
        if line.starts_with("guest: BPF equals pagetypeinfo: no") {
            found.push(line.to_owned());
        }
    }
    if !console.contains("guest: done") {
        found.push(format!(
            "the guest did not reach its end; its console ended with\n{}",
            tail(console, CONSOLE_LINES)
        ));
    }
    found
}

/// Runs `freehold compare` on the guest's trace on this machine.
fn compared(root: &Path, trace: &Path) -> Result<(), String> {
    let mut cargo = command("cargo");
    cargo.current_dir(root).args(["run", "--locked", "--quiet", "--package=freehold-cli", "--", "compare"]);
    let said = succeeds(cargo.arg(trace), "the guest's trace cannot be compared")?;
    print!("{}", String::from_utf8_lossy(&said));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_and_a_missing_end_are_faults() {
        let well = "guest: $ freehold check\nguest: exit 2\nguest: BPF equals pagetypeinfo: yes, try 1\nguest: done\n";
        assert!(faults(well).is_empty(), "{:?}", faults(well));
        let crash = "guest: $ freehold top\nguest: exit 139\nguest: done\n";
        assert_eq!(faults(crash), ["guest: $ freehold top: guest: exit 139"]);
        assert!(faults("guest: BPF equals pagetypeinfo: no, try 10\nguest: done").len() == 1);
        assert!(faults("Kernel panic - not syncing\n").len() == 2);
    }

    #[test]
    fn folder_has_the_name_of_the_kernel() {
        assert_eq!(plain("/a/b/Image-64k"), "Image-64k");
        assert_eq!(
            plain("linux-image-6.12.117+deb13-arm64_6.12.117-1_arm64"),
            "linux-image-6.12.117+deb13-arm64_6.12.117-1_arm64"
        );
    }
}
