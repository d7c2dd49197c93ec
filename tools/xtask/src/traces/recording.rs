//! Makes one recording: boots a guest in QEMU, and keeps its trace.

use std::fs::{self, File};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Duration;

use freehold_trace::{ReadOptions, TraceReader, WriteOptions, recompress};
use freehold_vm::Entry;

use super::list::{Machine, TraceRecipe};
use super::page;
use super::row::Row;
use super::works::{Disk, Work};
use crate::counterfactual::programs::compile;
use crate::dist::processor::Processor;
use crate::dist::program;
use crate::guest::boot;
use crate::guest::command::faults;
use crate::guest::given::given;
use crate::guest::initramfs;
use crate::guest::kernel::{self, Kernel};
use crate::kernel::error::{CONSOLE_LINES, tail};
use crate::kernel::process::require;

/// The folder of the scripts, here and in the guest.
const WORKLOADS: &str = "traces/workloads";

/// The programs of workloads.
const PROGRAMS: [&str; 4] = ["cache-server", "free-much", "thp-churn", "unmovable"];

/// The size of a guest's disk. Its file is sparse.
const DISK_MIB: u64 = 1024;

/// The name of the trace in the guest's output.
const TRACE: &str = "trace.arrows";

/// The time limit of a boot in seconds.
const SECONDS: u64 = 900;

/// The number of attempts at a boot: an emulated machine may hang or die.
const ATTEMPTS: u32 = 2;

/// The inputs of all recordings, made once.
#[derive(Debug)]
pub(crate) struct Guests<'a> {
    root: &'a Path,
    /// The folder of the recordings.
    folder: &'a Path,
    /// The user's program that records, if there is one.
    program: Option<&'a Path>,
    programs: Vec<Programs>,
}

/// The programs for a processor.
#[derive(Clone, Debug)]
struct Programs {
    arch: Processor,
    freehold: Vec<u8>,
    busybox: Vec<u8>,
    /// The scripts and programs of workloads: paths in the guest, and contents.
    workloads: Vec<(String, Vec<u8>)>,
}

impl<'a> Guests<'a> {
    pub(crate) const fn new(root: &'a Path, folder: &'a Path, program: Option<&'a Path>) -> Self {
        Self { root, folder, program, programs: Vec::new() }
    }

    /// Returns the path of a recipe's trace.
    pub(crate) fn place(&self, recipe: &TraceRecipe) -> PathBuf {
        self.folder.join(format!("{}.arrows", recipe.name))
    }

    /// Records a trace, and writes it, its page and the console. The trace appears only if it is complete.
    ///
    /// # Errors
    /// If a file cannot be written or the guest fails, with the end of its console.
    pub(crate) fn record(&mut self, recipe: &TraceRecipe) -> Result<(), String> {
        let Machine { series, flavour, memory_mib, nodes, parameters } = recipe.machine;
        let arch = recipe.machine.arch();
        let programs = self.programs(arch)?;
        let kernel = Kernel::newest(arch, series, flavour)?;
        let more: Vec<_> =
            programs.workloads.iter().map(|(name, bytes)| Entry::program(name, bytes)).collect();
        let packed = self.beside(recipe, "initramfs");
        let bytes =
            initramfs::pack(&kernel, &programs.busybox, &programs.freehold, &script(recipe.work), &more)
                .map_err(|error| error.to_string())?;
        fs::write(&packed, bytes).map_err(io(&packed))?;
        let disk = self.beside(recipe, "disk");
        let mut machine = boot::machine(arch, &kernel.image, &packed, parameters)?;
        (machine.memory_mib, machine.nodes) = (memory_mib, nodes);
        machine.limit = Duration::from_secs(SECONDS);
        if recipe.work.disk != Disk::None {
            machine.disks =
                vec![freehold_vm::Disk::Nvme { name: "disk", image: disk.clone(), is_kept: true }];
        }
        let mut done = Err(String::new());
        for _ in 0..ATTEMPTS {
            done = self.boot(recipe, &machine, &kernel.name);
            if done.is_ok() {
                break;
            }
        }
        let _ = (fs::remove_file(&packed), fs::remove_file(&disk));
        done
    }

    fn boot(&self, recipe: &TraceRecipe, machine: &freehold_vm::Machine, kernel: &str) -> Result<(), String> {
        if !machine.disks.is_empty() {
            let disk = &self.beside(recipe, "disk");
            File::create(disk).and_then(|file| file.set_len(DISK_MIB << 20)).map_err(io(disk))?;
        }
        let ran = boot::run(machine, false)?;
        let console = self.beside(recipe, "console");
        fs::write(&console, without_files(&ran.console)).map_err(io(&console))?;
        let failed = |what: &str| {
            let end = tail(&without_files(&ran.console), CONSOLE_LINES);
            format!("{what}; the console ended with\n{end}")
        };
        if ran.is_late {
            return Err(failed(&format!("the guest took more than {SECONDS} s")));
        }
        if let Some(fault) = faults(&ran.console).first() {
            return Err(failed(fault));
        }
        let mut lines = ran.console.lines();
        if lines.any(|line| line.starts_with("guest: exit ") && line.trim() != "guest: exit 0") {
            return Err(failed("a command in the guest failed"));
        }
        let trace = given(&ran.console).into_iter().find(|(name, _)| *name == TRACE);
        let (_, trace) = trace.ok_or_else(|| failed("the guest printed no trace"))?;
        self.keep(recipe, trace?, kernel)
    }

    /// Recompresses a trace, and writes its page and then the trace, which appears in one step.
    fn keep(&self, recipe: &TraceRecipe, trace: Vec<u8>, kernel: &str) -> Result<(), String> {
        let place = self.place(recipe);
        let reader = TraceReader::open(Cursor::new(trace), ReadOptions::new(recipe.name));
        let small =
            reader.and_then(|reader| recompress(reader, Vec::new(), WriteOptions::small(recipe.name)));
        let small = small.map_err(|error| format!("{}: {error}", recipe.name))?;
        let partial = self.beside(recipe, "partial");
        fs::write(&partial, small).map_err(io(&partial))?;
        let row = Row::read(recipe.name, &partial, recipe.command())?;
        let page = self.beside(recipe, "md");
        fs::write(&page, page::provenance(&row, recipe, kernel)).map_err(io(&page))?;
        fs::rename(&partial, &place).map_err(io(&place))
    }

    /// Returns the path of a recipe's file.
    fn beside(&self, recipe: &TraceRecipe, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", recipe.name))
    }

    fn programs(&mut self, arch: Processor) -> Result<Programs, String> {
        if let Some(programs) = self.programs.iter().find(|programs| programs.arch == arch) {
            return Ok(programs.clone());
        }
        let file = match self.program {
            Some(file) => file.to_owned(),
            None => program::build(arch, self.root, "0")?,
        };
        let freehold = fs::read(&file).map_err(io(&file))?;
        if !arch.runs(&freehold) {
            return Err(format!("{} is no program for {}; leave --program out", file.display(), arch.name()));
        }
        let (busybox, workloads) = (kernel::busybox(arch)?, self.workloads(arch)?);
        self.programs.push(Programs { arch, freehold, busybox, workloads });
        self.programs(arch)
    }

    /// Returns the scripts of workloads, and compiles their programs.
    fn workloads(&self, arch: Processor) -> Result<Vec<(String, Vec<u8>)>, String> {
        let folder = self.root.join(WORKLOADS);
        let mut files = Vec::new();
        let mut add = |name: &str, path: &Path| {
            files.push((format!("usr/bin/{name}"), fs::read(path).map_err(io(path))?));
            Ok::<_, String>(())
        };
        for entry in fs::read_dir(&folder).map_err(io(&folder))?.flatten() {
            if entry.path().extension().is_some_and(|end| end == "sh") {
                add(&entry.file_name().to_string_lossy(), &entry.path())?;
            }
        }
        let compiler = format!("{}-gnu-gcc", arch.gnu());
        require(&compiler, arch.compiler_package()).map_err(|error| error.to_string())?;
        let place = tempfile::tempdir().map_err(|error| format!("there is no temporary folder: {error}"))?;
        for name in PROGRAMS {
            let program = place.path().join(name);
            compile(&compiler, &folder.join(format!("{name}.c")), &program)?;
            add(name, &program)?;
        }
        files.sort();
        Ok(files)
    }
}

/// Returns the guest's script.
fn script(work: &Work) -> String {
    // Files in memory may take the whole memory, because each workload has its own limit.
    let room = "mount -o remount,size=95% /dev/shm";
    let before = [room].into_iter().chain(work.disk.commands().iter().copied());
    let before = before.chain(work.prepare.iter().copied()).map(|line| format!("run {line}\n"));
    let before = before.collect::<Vec<_>>().concat();
    format!("{before}run freehold record -o /tmp/{TRACE} -- {}\ngive /tmp/{TRACE} {TRACE}\n", work.run)
}

/// Returns a console without the files in it.
fn without_files(console: &str) -> String {
    let mut parts = console.split("guest: file ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once("guest: end").map_or("", |(_, rest)| rest.trim_start());
    }
    text
}

/// Returns a function for `map_err` that adds the path.
fn io(path: &Path) -> impl Fn(std::io::Error) -> String + use<> {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::works::{CACHED, IDLE};

    #[test]
    fn script_prepares_records_and_prints_the_trace() {
        let prepared = script(&CACHED);
        let lines: Vec<_> = prepared.lines().collect();
        assert_eq!(lines[1], "run mke2fs -F /dev/nvme0n1 > /dev/null");
        assert_eq!(lines[4], "run cached-files.sh make /disk/files 600");
        assert_eq!(lines[5], "run freehold record -o /tmp/trace.arrows -- cached-files.sh run /disk/files 2");
        assert_eq!(lines[6..], ["give /tmp/trace.arrows trace.arrows"]);
        assert!(!script(&IDLE).contains("nvme"));
    }

    #[test]
    fn printed_files_are_removed_from_the_console() {
        let console = "a\nguest: file x\nQUFB\nguest: end\nb\nguest: file y\nQUFB\n";
        assert_eq!(without_files(console), "a\nb\n");
    }
}
