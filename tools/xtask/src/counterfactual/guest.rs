//! Records a workload in a guest, a kernel on an emulated machine.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use freehold_vm::{Arch, Clock, Disk, Guest, Machine};

use super::cases::{Setting, Side};
use super::kernels::Kernel;
use super::root::PARTITION;
use super::workloads::Workload;
use crate::kernel::error::{CONSOLE_LINES, tail};

/// The memory of a guest.
///
/// Units: MiB.
const MEMORY_MIB: u32 = 448;

/// The time limit of a boot.
const LIMIT: Duration = Duration::from_mins(15);

/// The number of attempts at a boot: an emulated machine may hang or die.
const ATTEMPTS: u32 = 6;

/// The prefix of the line with the cost of the work, a JSON object.
const COST: &str = "cost: ";

/// The offset of the trace on the second disk. Its size in decimal digits is at the start of the disk.
const TRACE_AT: u64 = 1 << 20;

/// Everything that guests need.
#[derive(Debug)]
pub(crate) struct Guests {
    image: PathBuf,
    cpus: Cpus,
    /// True if the guest drains the CPUs' lists after the work, and counts free pageblocks before and after that.
    is_drained: bool,
    /// The kernels, fetched or built.
    kernels: Vec<(&'static Kernel, PathBuf)>,
}

impl Guests {
    /// Fetches kernels into `cache`, or builds them. [`super::root`] makes the image.
    ///
    /// # Errors
    /// If a kernel cannot be fetched or built.
    pub(crate) fn new(
        root: &Path,
        cache: &Path,
        image: PathBuf,
        cpus: Cpus,
        is_drained: bool,
        kernels: &[&'static Kernel],
    ) -> Result<Self, String> {
        Arch::X86_64.check().map_err(|error| error.to_string())?;
        let kernels = kernels.iter().map(|&kernel| Ok((kernel, kernel.fetch(root, cache)?)));
        Ok(Self { image, cpus, is_drained, kernels: kernels.collect::<Result<_, String>>()? })
    }

    /// Boots a guest that records, and writes the trace to `place`.
    ///
    /// # Errors
    /// The end of the last console, if no attempt produced a trace.
    pub(crate) fn record(&self, workload: &Workload, side: &Side, place: &Path) -> Result<(), String> {
        let disk = place.with_extension("disk");
        let mut failure = String::new();
        for _ in 0..ATTEMPTS {
            match self.boot(workload, side, &disk, place) {
                Ok(()) => {
                    let _ = fs::remove_file(&disk);
                    return Ok(());
                }
                Err(error) => failure = error,
            }
            eprintln!("{}: {failure}", place.display());
        }
        let _ = fs::remove_file(&disk);
        Err(failure)
    }

    fn boot(&self, workload: &Workload, side: &Side, disk: &Path, place: &Path) -> Result<(), String> {
        let io = |error: std::io::Error| format!("{}: {error}", disk.display());
        let _ = fs::remove_file(disk);
        File::create(disk).and_then(|file| file.set_len(256 << 20)).map_err(io)?;
        let kernel = self.kernels.iter().find(|(kernel, _)| *kernel == side.kernel);
        let (_, kernel) = kernel.ok_or("the side's kernel was not fetched")?;
        let disks = vec![
            Disk::Nvme { name: "root", image: self.image.clone(), is_kept: false },
            Disk::Nvme { name: "trace", image: disk.to_owned(), is_kept: true },
        ];
        let mut machine = machine(self.cpus, MEMORY_MIB, kernel, disks);
        machine.parameters = parameters(workload, side, self.is_drained);
        machine.limit = LIMIT;
        let ended = Guest::boot(&machine).and_then(Guest::finish).map_err(|error| error.to_string())?;
        let console = ended.console;
        let failed = |what: &str| {
            let (end, complaint) = (tail(&console, CONSOLE_LINES), &ended.complaint);
            format!("the guest {what}; its console ended with\n{end}\n{complaint}")
        };
        if console.contains("FAILED: ") {
            return Err(failed("failed"));
        }
        let trace = trace_on(disk).map_err(io)?.ok_or_else(|| failed("wrote no trace"))?;
        let cost = console.lines().find_map(|line| line.trim().strip_prefix(COST));
        let cost = cost.ok_or_else(|| failed("did not print the cost of the work"))?;
        fs::write(cost_of(place), cost).map_err(io)?;
        let partial = place.with_extension("partial");
        fs::write(&partial, trace).map_err(io)?;
        fs::rename(&partial, place).map_err(io)
    }
}

/// The CPUs of a guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cpus {
    /// Two, each on a thread of the host.
    Two,
    /// One, whose clock advances by a nanosecond with each executed instruction.
    Counting,
    /// Two in turns on one thread of the host, with one clock that counts the executed instructions of both.
    TwoCounting,
}

/// Returns a machine that boots a small Debian from `/dev/nvme0n1` without an initramfs, as Debian's kernels have that
/// disk's driver built in. The host reads a trace back from a raw image. Such a machine cannot be saved.
pub(crate) fn machine(cpus: Cpus, memory_mib: u32, kernel: &Path, disks: Vec<Disk>) -> Machine {
    let mut machine = Machine::new(Arch::X86_64, kernel);
    (machine.cpus, machine.clock) = match cpus {
        Cpus::Two => (2, Clock::Host),
        Cpus::Counting => (1, Clock::Instructions { sleeps: true }),
        Cpus::TwoCounting => (2, Clock::Instructions { sleeps: true }),
    };
    (machine.memory_mib, machine.disks) = (memory_mib, disks);
    machine
}

/// Returns the kernel's parameters.
fn parameters(workload: &Workload, side: &Side, is_drained: bool) -> String {
    let settings = [side.setting, side.also].into_iter().flatten();
    let when = if side.is_late { "late" } else { "set" };
    let set: Vec<_> =
        settings.map(|Setting { name, value }| format!(" freehold.{when}={name}={value}")).collect();
    let set = set.concat();
    let drained = if is_drained { " freehold.drained=1" } else { "" };
    format!(
        "console=ttyS0 quiet nokaslr panic=-1 root=PARTUUID={PARTITION} rw init=/usr/local/bin/guest-init \
         freehold.workload={}{set}{drained}",
        workload.name
    )
}

/// Returns the path of the file with the cost of a recording's work.
pub(super) fn cost_of(recording: &Path) -> PathBuf {
    recording.with_extension("cost.json")
}

/// Returns the trace on a disk; `None` if there is none.
fn trace_on(disk: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut file = File::open(disk)?;
    let mut digits = [0; 20];
    file.read_exact(&mut digits)?;
    let size = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse::<u64>().ok());
    let Some(size) = size.filter(|&size| size > 0) else { return Ok(None) };
    file.seek(SeekFrom::Start(TRACE_AT))?;
    let mut trace = Vec::new();
    file.take(size).read_to_end(&mut trace)?;
    Ok((trace.len() as u64 == size).then_some(trace))
}

#[cfg(test)]
mod tests {
    use super::super::workloads::WORKLOADS;
    use super::*;

    #[test]
    fn setting_becomes_a_kernel_parameter() {
        let build = &WORKLOADS[0];
        let kernel = Kernel::from_version("7.3-built").expect("a kernel");
        let of = |setting, also, is_drained| {
            parameters(build, &Side { kernel, setting, also, is_late: false }, is_drained)
        };
        let setting = |name| Some(Setting { name, value: 1 });
        assert!(of(None, None, false).ends_with("freehold.workload=build"));
        let both = of(setting("defrag_mode"), setting("x"), true);
        assert!(
            both.ends_with("=build freehold.set=defrag_mode=1 freehold.set=x=1 freehold.drained=1"),
            "{both}"
        );
        let late = Side { kernel, setting: setting("x"), also: None, is_late: true };
        assert!(parameters(build, &late, false).ends_with("=build freehold.late=x=1"));
    }

    #[test]
    fn machine_has_the_chosen_cpus_and_clock() {
        let of = |cpus| {
            let machine = machine(cpus, 512, Path::new("bzImage"), Vec::new());
            machine.arguments().expect("a folder").join(" ")
        };
        let two = of(Cpus::Two);
        assert!(two.contains("thread=multi -smp 2 -m 512M") && !two.contains("icount"), "{two}");
        assert!(of(Cpus::Counting).contains("-icount shift=0,sleep=on -smp 1 -m 512"));
        assert!(of(Cpus::TwoCounting).contains("thread=single -icount shift=0,sleep=on -smp 2 -m 512"));
    }

    #[test]
    fn incomplete_trace_on_a_disk_is_ignored() {
        let disk = std::env::temp_dir().join(format!("freehold-disk-{}", std::process::id()));
        let written = |digits: &str, length: usize| {
            let mut bytes = vec![0; TRACE_AT as usize];
            bytes[..digits.len()].copy_from_slice(digits.as_bytes());
            bytes.extend(vec![7; length]);
            fs::write(&disk, bytes).expect("written");
            trace_on(&disk).expect("readable")
        };
        assert_eq!(written("", 5), None, "the guest wrote nothing");
        assert_eq!(written("00000000000000000000", 5), None);
        assert_eq!(written("00000000000000000006", 5), None, "cut short");
        assert_eq!(written("00000000000000000005", 9), Some(vec![7; 5]));
        fs::remove_file(&disk).expect("removed");
    }
}
