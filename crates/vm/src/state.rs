//! Saved states: a running guest comes in; any number of guests that continue from its state go out.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{VmError, VmResult};
use crate::guest::{Guest, room, write_message};
use crate::machine::{Disk, Machine, STATE, overlay};

/// The file that describes a state. It is written last.
const DESCRIPTION: &str = "state.json";

/// The name of the snapshot in the files.
const TAG: &str = "freehold";

/// The complete state of a machine at one moment, in its own folder: memory, devices and the overlays of disks.
///
/// A guest is repeatable if it has one CPU and [`Clock::Instructions`](crate::Clock::Instructions) without sleeping:
/// after each [`resume`](Self::resume) with the same arguments it does exactly the same, independently of the load of
/// the host.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
    machine: Machine,
}

impl State {
    /// Saves a guest in a folder, and ends it.
    ///
    /// # Errors
    /// [`VmError::Unsavable`] if the machine has a device that QEMU does not save. Other errors if QEMU fails or a file
    /// cannot be written.
    pub fn save(mut guest: Guest, folder: &Path) -> VmResult<Self> {
        let nodes = nodes(&guest.machine);
        let monitor = guest.monitor()?;
        monitor.ask("stop", &json!({}))?;
        monitor.job("snapshot-save", json!({ "tag": TAG, "vmstate": "state", "devices": nodes }))?;
        monitor.ask("quit", &json!({}))?;
        let emulator = monitor.version().to_owned();
        let (machine, room) = guest.leave()?;
        fs::create_dir_all(folder).map_err(VmError::file(folder))?;
        let mut sums = Map::new();
        for name in files(&machine) {
            sums.insert(name.clone(), copy(&room.path().join(&name), &folder.join(&name))?.into());
        }
        let description = machine.description()?.join(" ");
        let description = json!({ "machine": description, "emulator": emulator, "crc32": sums });
        let path = folder.join(DESCRIPTION);
        fs::write(&path, description.to_string()).map_err(VmError::file(&path))?;
        Ok(Self { folder: folder.to_owned(), machine })
    }

    /// Opens the state of a machine that was saved in a folder.
    ///
    /// # Errors
    /// If there is no state, or the state is of another machine.
    pub fn open(folder: &Path, machine: &Machine) -> VmResult<Self> {
        let state = Self { folder: folder.to_owned(), machine: machine.clone() };
        let saved = state.description()?;
        let requested = machine.description()?.join(" ");
        let saved = saved["machine"].as_str().unwrap_or_default();
        if saved != requested {
            return Err(state.other(&only_in(saved, &requested), &only_in(&requested, saved)));
        }
        Ok(state)
    }

    /// Starts a guest that continues from this state.
    ///
    /// `line` arrives on its console before it executes anything. Only a line of at most 15 bytes is repeatable,
    /// because that and the line end are the size of a serial line's buffer. `message` has at most 4096 bytes, and is
    /// padded with line ends. The guest reads it from `/sys/firmware/qemu_fw_cfg/by_name/opt/freehold/message/raw`,
    /// which the module `qemu_fw_cfg` provides.
    ///
    /// # Errors
    /// If the state is damaged, or QEMU has another version or does not start.
    pub fn resume(&self, line: &str, message: &str) -> VmResult<Guest> {
        let description = self.description()?;
        let room = room()?;
        for name in files(&self.machine) {
            let sum = copy(&self.folder.join(&name), &room.path().join(&name))?;
            if description["crc32"][&name] != sum {
                return Err(self.damaged(format!("{name} is not the file that was saved")));
            }
        }
        write_message(room.path(), message)?;
        let mut guest = Guest::start(&self.machine, room, true)?;
        let monitor = guest.monitor()?;
        let saved = description["emulator"].as_str().unwrap_or_default();
        if saved != monitor.version() {
            return Err(self.other(saved, monitor.version()));
        }
        let nodes = nodes(&self.machine);
        let loaded =
            monitor.job("snapshot-load", json!({ "tag": TAG, "vmstate": "state", "devices": nodes }));
        if let Err(error) = loaded {
            let complaint = guest.console().complaint();
            return Err(self.damaged(format!("{error}: {}", complaint.trim().replace('\n', "; "))));
        }
        guest.console().send(line)?;
        let monitor = guest.monitor()?;
        // When QEMU replies, it has taken the line from the console.
        monitor.ask("query-status", &json!({}))?;
        monitor.ask("cont", &json!({}))?;
        Ok(guest)
    }

    fn description(&self) -> VmResult<Value> {
        let path = self.folder.join(DESCRIPTION);
        let text =
            fs::read_to_string(&path).map_err(|error| self.damaged(format!("{DESCRIPTION}: {error}")))?;
        serde_json::from_str(&text).map_err(|error| self.damaged(format!("{DESCRIPTION}: {error}")))
    }

    fn damaged(&self, detail: String) -> VmError {
        VmError::Damaged { folder: self.folder.clone(), detail }
    }

    fn other(&self, saved: &str, requested: &str) -> VmError {
        let (saved, requested) = (saved.to_owned(), requested.to_owned());
        VmError::OtherMachine { folder: self.folder.clone(), saved, requested }
    }
}

/// Returns the numbers of the machine's overlays.
fn overlays(machine: &Machine) -> impl Iterator<Item = usize> {
    let disks = machine.disks.iter().enumerate();
    disks.filter(|(_, disk)| matches!(disk, Disk::Virtio { .. })).map(|(number, _)| number)
}

/// Returns the names of the files of a state.
fn files(machine: &Machine) -> Vec<String> {
    [STATE.to_owned()].into_iter().chain(overlays(machine).map(overlay)).collect()
}

/// Returns QEMU's node names of the files of a state.
fn nodes(machine: &Machine) -> Vec<String> {
    ["state".to_owned()].into_iter().chain(overlays(machine).map(|number| format!("disk{number}"))).collect()
}

/// Returns the words of `text` that `other` does not have.
fn only_in(text: &str, other: &str) -> String {
    let others: Vec<_> = other.split(' ').collect();
    text.split(' ').filter(|word| !others.contains(word)).collect::<Vec<_>>().join(" ")
}

/// Copies a file, and returns its CRC-32.
fn copy(from: &Path, to: &Path) -> VmResult<u32> {
    let mut source = File::open(from).map_err(VmError::file(from))?;
    let mut target = File::create(to).map_err(VmError::file(to))?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let bytes = source.read(&mut buffer).map_err(VmError::file(from))?;
        if bytes == 0 {
            return Ok(hasher.finalize());
        }
        hasher.update(&buffer[..bytes]);
        target.write_all(&buffer[..bytes]).map_err(VmError::file(to))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Arch;

    /// Returns a machine, and a folder with a file that claims to be its state.
    fn saved() -> (Machine, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut machine = Machine::new(Arch::X86_64, Path::new("/vmlinuz"));
        machine.is_savable = true;
        fs::write(folder.path().join(STATE), "all of the memory").unwrap();
        let description = json!({
            "machine": machine.description().unwrap().join(" "),
            "emulator": "QEMU 7.2.22",
            "crc32": { STATE: crc32fast::hash(b"all of the memory") },
        });
        fs::write(folder.path().join(DESCRIPTION), description.to_string()).unwrap();
        (machine, folder)
    }

    #[test]
    fn state_of_another_machine_is_refused_with_the_difference() {
        let (mut machine, folder) = saved();
        State::open(folder.path(), &machine).unwrap();
        machine.memory_mib = 256;
        let error = State::open(folder.path(), &machine).unwrap_err().to_string();
        assert!(error.contains("it has `512M`, and `256M` was requested; resume it on"), "{error}");
    }

    #[test]
    fn a_damaged_state_is_refused_before_qemu_starts() {
        let (machine, folder) = saved();
        let state = State::open(folder.path(), &machine).unwrap();
        let error = state.resume("", "").unwrap_err();
        assert!(matches!(&error, VmError::File { path, .. } if path == &machine.kernel), "{error}");
        fs::write(folder.path().join(STATE), "all of the nemory").unwrap();
        let error = state.resume("", "").unwrap_err().to_string();
        assert!(error.contains("state.qcow2 is not the file that was saved); delete it, boot"), "{error}");
        fs::write(folder.path().join(DESCRIPTION), "{").unwrap();
        let error = State::open(folder.path(), &machine).unwrap_err().to_string();
        assert!(error.contains("is damaged (state.json: "), "{error}");
    }
}
