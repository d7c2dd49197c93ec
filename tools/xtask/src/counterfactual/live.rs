//! Records a workload on this machine, under a setting that is put back afterwards, also when this process is killed.

use std::env;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::cases::{Setting, Side, Value};
use super::programs::{compile, said};
use super::workloads::Workload;
use crate::kernel::process::{command, limited};

/// The settings of the virtual memory.
const SETTINGS: &str = "/proc/sys/vm";

/// Waits until whoever holds its standard input is gone, however it went, then writes back the lines that it read: a
/// value and a file each.
const RESTORE: &str = "values=$(cat); echo \"$values\" | \
    while read -r value file; do [ -z \"$file\" ] || echo \"$value\" > \"$file\"; done";

/// The most seconds of a recording.
const LIMIT: u64 = 120;

/// The memory that is left to a recording; what else is free is set aside as hugetlb pages.
///
/// Units: MiB.
pub(super) const LEFT: &str = "3072";

/// This machine, with most of its memory set aside.
#[derive(Debug)]
pub(crate) struct Live {
    freehold: PathBuf,
    bin: PathBuf,
    /// The folder of the recordings, below which each workload gets one that is new.
    folder: PathBuf,
    /// Puts back the number of hugetlb pages.
    restore: Option<Restore>,
}

impl Live {
    /// Takes the machine's memory. `folder` gets the programs.
    ///
    /// # Errors
    /// A sentence, if a program fails or this user may not.
    pub(crate) fn new(root: &Path, folder: &Path, freehold: &Path) -> Result<Self, String> {
        let bin = folder.join("bin");
        fs::create_dir_all(&bin).map_err(|error| format!("{}: {error}", bin.display()))?;
        compile("gcc", &root.join("traces/workloads/thp-churn.c"), &bin.join("thp-churn"))?;
        let scripts = root.join("traces/workloads");
        let restore = Restore::of(&["nr_hugepages"])?;
        said(command("sh").arg(scripts.join("pressure.sh")).args(["on", LEFT, "/usr/lib", "/usr/share"]))?;
        let path = env::join_paths(
            [bin, scripts].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
        );
        let bin = path.map_err(|error| error.to_string())?;
        Ok(Self {
            freehold: freehold.to_owned(),
            bin: bin.into(),
            folder: folder.to_owned(),
            restore: Some(restore),
        })
    }

    /// Records under the side's setting, and writes the trace to `place`.
    ///
    /// # Errors
    /// A sentence, if the setting cannot be made or the recording fails.
    pub(crate) fn record(&self, workload: &Workload, side: &Side, place: &Path) -> Result<(), String> {
        let restore = side.setting.map(|setting| Restore::of(&[setting.name])).transpose()?;
        if let Some(setting) = side.setting {
            write_setting(setting.name, number(setting)?)?;
        }
        let recorded = self.run(workload, place);
        drop(restore);
        recorded
    }

    fn run(&self, workload: &Workload, place: &Path) -> Result<(), String> {
        let steps =
            workload.live.as_ref().ok_or_else(|| format!("{} is not for this machine", workload.name))?;
        let work = tempfile::Builder::new().prefix("work-").tempdir_in(&self.folder);
        let work = work.map_err(|error| format!("{}: {error}", self.folder.display()))?;
        said(self.shell(command("sh").arg("-c").arg(steps.prepare), work.path()))?;
        let partial = place.with_extension("partial");
        let mut record = limited(LIMIT).map_err(|error| error.to_string())?;
        record.arg(&self.freehold).args(["record", "--detail", "--force", "-o"]).arg(&partial);
        said(self.shell(record.args(["--", "sh", "-euc", steps.run]), work.path()))?;
        fs::rename(&partial, place).map_err(|error| format!("{}: {error}", place.display()))?;
        work.close().map_err(|error| format!("a workload's folder: {error}"))
    }

    fn shell<'c>(&self, command: &'c mut Command, work: &Path) -> &'c mut Command {
        command.env("PATH", &self.bin).env("WORK", work)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        drop(self.restore.take());
    }
}

/// Returns the number that a setting is to have; a multiple is one of what this machine has now.
///
/// # Errors
/// This machine does not have the setting.
pub(crate) fn number(setting: Setting) -> Result<u64, String> {
    match setting.value {
        Value::Is(value) => Ok(value),
        value @ Value::Times(_) => wanted(value, &read_setting(setting.name)?),
    }
}

fn wanted(value: Value, found: &str) -> Result<u64, String> {
    match value {
        Value::Is(value) => Ok(value),
        Value::Times(times) => {
            let found: u64 = found.trim().parse().map_err(|_| format!("{found:?} is no number"))?;
            Ok(found * times)
        }
    }
}

fn read_setting(name: &str) -> Result<String, String> {
    let path = Path::new(SETTINGS).join(name);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write_setting(name: &str, value: u64) -> Result<(), String> {
    let path = Path::new(SETTINGS).join(name);
    fs::write(&path, value.to_string()).map_err(|error| format!("{}: {error}", path.display()))
}

/// Settings that are put back when this is dropped, or when this process ends in any way: another process waits for that.
#[derive(Debug)]
struct Restore {
    keeper: Child,
    held: Option<ChildStdin>,
}

impl Restore {
    /// Remembers the present values of some settings.
    fn of(names: &[&str]) -> Result<Self, String> {
        let lines: Result<Vec<_>, String> = names
            .iter()
            .map(|name| Ok(format!("{} {SETTINGS}/{name}\n", read_setting(name)?.trim())))
            .collect();
        let mut keeper = command("sh");
        // A group of its own: signals to a terminal's foreground group do not reach it.
        keeper.args(["-c", RESTORE]).stdin(Stdio::piped()).process_group(0);
        let mut keeper = keeper.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
        let mut held = keeper.stdin.take().ok_or("sh has no standard input")?;
        held.write_all(lines?.concat().as_bytes()).map_err(|error| format!("sh: {error}"))?;
        Ok(Self { keeper, held: Some(held) })
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        drop(self.held.take());
        let _ = self.keeper.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_be_a_multiple_of_what_is_found() {
        assert_eq!(wanted(Value::Is(7), "3\n"), Ok(7));
        assert_eq!(wanted(Value::Times(4), "300\n"), Ok(1200));
        assert!(wanted(Value::Times(4), "many\n").is_err());
    }

    /// The keeper gets its lines and writes them back when the process that holds it is killed with signal 9.
    #[test]
    fn values_are_put_back_when_the_holder_is_killed() {
        let folder = std::env::temp_dir().join(format!("freehold-restore-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("setting");
        fs::write(&file, "changed").expect("written");
        // The holder feeds the keeper through a pipe, and is then killed.
        let holder = format!("(echo '15000 {}'; exec sleep 60) | sh -c \"$RESTORE\"", file.display());
        let mut holder =
            Command::new("sh").args(["-c", &holder]).env("RESTORE", RESTORE).process_group(0).spawn();
        let holder = holder.as_mut().expect("sh");
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(
            fs::read_to_string(&file).expect("read"),
            "changed",
            "nothing is put back while the holder lives"
        );
        said(Command::new("pkill").args(["-9", "-g", &holder.id().to_string(), "sleep"])).expect("killed");
        holder.wait().expect("ended");
        assert_eq!(fs::read_to_string(&file).expect("read"), "15000\n");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
