//! Tests of the example `kernel`, which boots in QEMU and finds errors that are planted in it.

use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const QEMU: &str = "qemu-system-x86_64";
const TARGET: &str = "x86_64-unknown-none";

/// The exit codes of QEMU after success and after failure of the kernel.
const SUCCESS: i32 = 33;
const FAILURE: i32 = 35;

/// The time limit of a boot, which takes about two seconds if QEMU translates instructions.
const LIMIT: Duration = Duration::from_secs(50);

#[test]
fn the_kernel_boots_on_two_cpus() {
    let Some(kernel) = kernel("the_kernel_boots_on_two_cpus") else { return };
    let (status, text) = boot(&kernel, "");
    assert_eq!(status, Some(SUCCESS), "{text}");
    for expected in ["orders: 11 taken and freed", "offline: ", "online: ", "check: clean", "every check "] {
        assert!(text.lines().any(|line| line.starts_with(expected)), "no line {expected}:\n{text}");
    }
    for cpu in 0..2 {
        assert!(number_after(&text, &format!("cpu {cpu}: requests ")) > 0, "{text}");
        let interrupts = text.lines().find(|line| line.starts_with(&format!("cpu {cpu}: interrupts ")));
        assert!(number_after(interrupts.unwrap_or_default(), "their requests ") > 0, "{text}");
    }
    for order in 0..=10 {
        assert!(number_after(&text, &format!("order {order}: ")) > 0, "{text}");
    }
    for daemon in ["kswapd", "kcompactd", "tidy"] {
        assert!(number_after(&text, &format!("{daemon}: ")) > 0, "{text}");
    }
    let at_first = number_after(&text, "free: ");
    assert_eq!(number_after(&text, "pages at first, "), at_first, "{text}");
    for zone in ["DMA32", "Normal"] {
        let rows = text.lines().filter(|line| line.contains(&format!("zone {zone:>8}"))).count();
        assert_eq!(rows, 8, "buddyinfo's row, pagetypeinfo's six and its pageblocks:\n{text}");
    }
}

#[test]
fn the_kernel_boots_without_memory_above_4_gib() {
    let Some(kernel) = kernel("the_kernel_boots_without_memory_above_4_gib") else { return };
    let (status, text) = boot_with(&kernel, "", "256M");
    assert_eq!(status, Some(SUCCESS), "{text}");
    assert!(!text.contains("Normal"), "{text}");
}

#[test]
fn the_kernel_finds_planted_errors() {
    let Some(kernel) = kernel("the_kernel_finds_planted_errors") else { return };
    for (error, found) in [
        ("leak", "FAILED: all pages are free again"),
        ("double-free", "FAILED: an owner frees what it took"),
        ("use-after-free", "FAILED: a block has its owner's contents"),
    ] {
        let (status, text) = boot(&kernel, error);
        assert_eq!(status, Some(FAILURE), "{error}: {text}");
        let failures: Vec<_> = text.lines().filter(|line| line.starts_with("FAILED")).collect();
        assert_eq!(failures, [found], "{error}: {text}");
    }
}

/// Returns the number after the first `label` in a text; 0 if there is none.
fn number_after(text: &str, label: &str) -> u64 {
    let behind = text.split_once(label).map_or("", |(_, behind)| behind);
    let end = behind.find(|part: char| !part.is_ascii_digit()).unwrap_or(behind.len());
    behind[..end].parse().unwrap_or(0)
}

/// Builds the kernel in a separate folder, so that it does not wait for the cargo that runs this test.
///
/// Returns `None`, and reports that `test` is skipped, if the machine lacks QEMU or the target.
fn kernel(test: &str) -> Option<PathBuf> {
    if !freehold_needs::has_program(QEMU, test) || !freehold_needs::can(test, has_target) {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernel");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--package", "freehold", "--example", "kernel", "--target", TARGET]);
    cargo.arg("--target-dir").arg(&folder).args(["--", "-C", "relocation-model=static"]);
    // The flags of the host's programs, such as those for coverage, do not apply to a kernel.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let built = cargo
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/engine"))
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(folder.join(TARGET).join("debug/examples/kernel"))
}

fn has_target() -> Result<(), String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = output.map_err(|error| format!("rustc does not run: {error}"))?.stdout;
    let folder = String::from_utf8_lossy(&folder);
    if Path::new(folder.trim()).is_dir() {
        Ok(())
    } else {
        Err(format!("the target {TARGET} is not installed"))
    }
}

/// Boots the kernel with memory below and above 4 GiB. Returns QEMU's exit code and the kernel's output.
fn boot(kernel: &Path, command_line: &str) -> (Option<i32>, String) {
    boot_with(kernel, command_line, "4608M")
}

fn boot_with(kernel: &Path, command_line: &str, memory: &str) -> (Option<i32>, String) {
    let mut qemu = Command::new(QEMU);
    qemu.args([
        "-smp",
        "2",
        "-m",
        memory,
        "-nodefaults",
        "-no-reboot",
        "-display",
        "none",
        "-serial",
        "stdio",
    ]);
    qemu.args(["-accel", "tcg", "-device", "isa-debug-exit,iobase=0xf4", "-append", command_line]);
    qemu.arg("-kernel").arg(kernel).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut running = qemu.spawn().expect("QEMU runs");
    let mut output = running.stdout.take().expect("piped");
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // The output before an error is kept.
        let _ = output.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).replace('\r', "")
    });
    let end = Instant::now() + LIMIT;
    let status = loop {
        match running.try_wait().expect("a child") {
            Some(status) => break status.code(),
            None if Instant::now() > end => {
                // It may have just ended.
                let _ = running.kill();
                running.wait().expect("a child");
                break None;
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    (status, reader.join().expect("the reader does not panic"))
}
