//! Saved states of real kernels in QEMU.
//!
//! `FREEHOLD_KERNEL` names the kernel in an unpacked Debian package with its modules. `FREEHOLD_BUSYBOX` names a static
//! busybox. `cargo xtask live vm` fetches both. Without them, or without QEMU, the tests are skipped.
#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use freehold_needs::{has_program, skip};
use freehold_vm::{Arch, Clock, Disk, Door, Entry, Guest, Hotplug, Machine, State, VmError, archive};
use tempfile::TempDir;

/// The first process: loads modules, runs the preparation, waits for a line, and runs the message.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
stty -echo
for module in /modules/*.ko; do insmod $module 2> /dev/null; done
. /prepare
echo READY
read line
echo \"line: $line\"
eval \"$(cat /sys/firmware/qemu_fw_cfg/by_name/opt/freehold/message/raw)\"
echo DONE
poweroff -f
";

/// Fragments memory: writes files, and deletes every other one.
const AGE: &str = "for i in $(seq 200); do head -c 400000 /dev/zero > /tmp/$i; done
for i in $(seq 1 2 200); do rm /tmp/$i; done
";

/// Prints the state that is compared: all free lists, and the numbers of pages ever allocated and freed.
const READ_STATE: &str = "cat /proc/buddyinfo; grep -E '^(pgalloc|pgfree|pgfault)' /proc/vmstat";

/// The modules to load in this order, if they are not built in. The dependency between the first two differs between
/// kernels.
const MODULES: [&str; 8] = [
    "virtio",
    "virtio_ring",
    "virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "virtio_blk",
    "qemu_fw_cfg",
];

const PATIENCE: Duration = Duration::from_mins(5);

/// The files of guests.
struct Files {
    kernel: PathBuf,
    busybox: Vec<u8>,
    modules: Vec<(String, Vec<u8>)>,
    folder: TempDir,
}

/// Returns the files. Returns `None` if something is missing, and reports that `test` is skipped.
fn files(test: &str) -> Option<&'static Files> {
    static FILES: LazyLock<Option<Files>> = LazyLock::new(|| {
        let kernel = PathBuf::from(env::var_os("FREEHOLD_KERNEL")?);
        let busybox = fs::read(env::var_os("FREEHOLD_BUSYBOX")?).expect("busybox");
        let package = kernel.parent().and_then(Path::parent).expect("a package around the kernel");
        let mut found = Vec::new();
        collect_modules(package, &mut found);
        let path = |name| found.iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
        let module =
            |(number, path)| (format!("modules/{number}.ko"), fs::read::<&PathBuf>(path).expect("a module"));
        let modules = MODULES.into_iter().filter_map(path).enumerate().map(module).collect();
        Some(Files { kernel, busybox, modules, folder: tempfile::tempdir().expect("a folder") })
    });
    let Some(files) = FILES.as_ref() else {
        skip(test, "FREEHOLD_KERNEL and FREEHOLD_BUSYBOX are not set; `cargo xtask live vm` sets them");
        return None;
    };
    let (emulator, _) = arch(files).emulator();
    (has_program(emulator, test) && has_program("qemu-img", test)).then_some(files)
}

fn collect_modules(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_modules(&entry.path(), found);
        } else if entry.path().extension().is_some_and(|end| end == "ko") {
            found.push(entry.path());
        }
    }
}

/// Returns the architecture of the kernel. A kernel of x86-64 is recognized by its magic number.
fn arch(files: &Files) -> Arch {
    let kernel = fs::read(&files.kernel).expect("the kernel");
    if kernel.get(0x202..0x206) == Some(b"HdrS") { Arch::X86_64 } else { Arch::Arm64 }
}

/// Returns a machine that can be saved and whose clock counts instructions. `prepare` runs before it is ready.
fn machine(files: &Files, name: &str, prepare: &str) -> Machine {
    let mut entries = ["bin", "dev", "modules", "proc", "sys", "tmp"].map(Entry::folder).to_vec();
    entries.push(Entry::program("bin/busybox", &files.busybox));
    entries.push(Entry::program("init", INIT.as_bytes()));
    entries.push(Entry::file("prepare", prepare.as_bytes()));
    entries.extend(files.modules.iter().map(|(path, bytes)| Entry::file(path, bytes)));
    let initramfs = files.folder.path().join(format!("{name}.cpio"));
    fs::write(&initramfs, archive(&entries).expect("small files")).expect("written");
    let arch = arch(files);
    let mut machine = Machine::new(arch, &files.kernel);
    machine.clock = Clock::Instructions { sleeps: false };
    machine.date = Some("2000-01-01");
    machine.is_savable = true;
    machine.initramfs = Some(initramfs);
    machine.parameters = format!("console={} quiet panic=-1 nokaslr", arch.serial());
    machine
}

/// Boots a machine until it is ready, and saves it.
fn saved(files: &Files, name: &str, machine: &Machine) -> State {
    let start = Instant::now();
    let mut guest = Guest::boot(machine).expect("QEMU starts");
    guest.console().until("READY", PATIENCE).expect("the guest is ready");
    println!("{name}: ready after {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let state = State::save(guest, &files.folder.path().join(name)).expect("the guest is saved");
    println!("{name}: saved in {:.2} s", start.elapsed().as_secs_f64());
    state
}

/// Resumes a state with a command, and returns the guest's output.
fn outcome(state: &State, command: &str) -> String {
    let start = Instant::now();
    let mut guest = state.resume("go", command).expect("the state is whole");
    let resumed = start.elapsed();
    guest.console().until("line: go", PATIENCE).expect("the line arrives");
    let text = guest.console().until("DONE", PATIENCE).expect("the command ends");
    let (resumed, all) = (resumed.as_secs_f64(), start.elapsed().as_secs_f64());
    println!("{command:.40}: resumed in {resumed:.2} s, done after {all:.2} s");
    text
}

#[test]
fn same_action_gives_the_same_memory_and_another_action_does_not() {
    let Some(files) = files("same_action_gives_the_same_memory_and_another_action_does_not") else { return };
    let state = saved(files, "aged", &machine(files, "aged", AGE));
    let fill = format!("head -c 4000000 /dev/zero > /tmp/new; {READ_STATE}");
    let free = format!("rm /tmp/1*; {READ_STATE}");
    let first = outcome(&state, &fill);
    assert!(first.contains("Node 0, zone") && first.contains("pgfree"), "{first}");
    assert_eq!(first, outcome(&state, &fill));
    let other = outcome(&state, &free);
    let free_lists = |text: &str| text.lines().filter(|line| line.starts_with("Node")).collect::<String>();
    assert_ne!(free_lists(&first), free_lists(&other));
    assert_eq!(other, outcome(&state, &free));
}

#[test]
fn bad_states_are_refused_with_the_remedy() {
    let Some(files) = files("bad_states_are_refused_with_the_remedy") else { return };
    let mut machine = machine(files, "bad", "");
    saved(files, "bad", &machine);
    let folder = files.folder.path().join("bad");
    machine.memory_mib = 256;
    let error = State::open(&folder, &machine).expect_err("of another machine").to_string();
    assert!(error.contains("it has `512M`, and `256M` was requested"), "{error}");
    // The same again, but now only QEMU can detect the difference.
    let description = folder.join("state.json");
    let text = fs::read_to_string(&description).expect("readable").replace("512M", "256M");
    fs::write(&description, text).expect("written");
    let state = State::open(&folder, &machine).expect("the description fits");
    let error = state.resume("", "").expect_err("QEMU refuses").to_string();
    assert!(error.contains("Size mismatch") && error.contains("boot the guest and save it again"), "{error}");
    let file = folder.join("state.qcow2");
    let mut bytes = fs::read(&file).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).expect("written");
    let error = state.resume("", "").expect_err("a bit is wrong").to_string();
    assert!(error.contains("is damaged (state.qcow2 is not the file that was saved)"), "{error}");
}

#[test]
fn disk_is_saved_with_the_machine() {
    let Some(files) = files("disk_is_saved_with_the_machine") else { return };
    let image = files.folder.path().join("image");
    fs::write(&image, vec![0; 1 << 20]).expect("written");
    let mut machine =
        machine(files, "disk", "[ -b /dev/vda ] && echo before > /dev/vda && sync || poweroff -f\n");
    machine.disks.push(Disk::Virtio { image: image.clone() });
    let state = saved(files, "disk", &machine);
    let read = "sync; echo 3 > /proc/sys/vm/drop_caches; head -n 1 /dev/vda";
    assert_eq!(outcome(&state, &format!("echo after > /dev/vda; {read}")), "after\n");
    assert_eq!(outcome(&state, read), "before\n");
    assert!(fs::read(&image).expect("readable").iter().all(|&byte| byte == 0), "the image stays as it is");
    machine.disks = vec![Disk::Nvme { name: "x", image, is_kept: false }];
    let error = State::save(Guest::boot(&machine).expect("QEMU starts"), files.folder.path());
    assert!(matches!(error, Err(VmError::Unsavable { .. })), "{error:?}");
}

#[test]
fn linux_finds_nodes_memory_disks_and_clock() {
    let Some(files) = files("linux_finds_nodes_memory_disks_and_clock") else { return };
    let image = files.folder.path().join("kept");
    fs::write(&image, vec![0; 1 << 20]).expect("written");
    let prepare = "ls -d1 /sys/devices/system/node/node?; echo \"cpus $(nproc)\"; date +%Y
        ls /sys/bus/pci/devices/*/driver/module/drivers; echo kept > /dev/nvme0n1; sync; poweroff -f\n";
    let mut machine = machine(files, "nodes", prepare);
    machine.is_savable = false;
    machine.clock = Clock::Host;
    (machine.cpus, machine.nodes, machine.memory_mib) = (2, 2, 768);
    // On arm64, memory modules need firmware from a separate package.
    machine.hotplug = if machine.arch == Arch::X86_64 { Hotplug::Modules(256) } else { Hotplug::Slots };
    machine.door = Some(Door { host: 0, guest: 80 });
    machine.disks = vec![Disk::Nvme { name: "kept", image: image.clone(), is_kept: true }];
    let ended = Guest::boot(&machine).and_then(Guest::finish).expect("QEMU starts and ends");
    for expected in ["/sys/devices/system/node/node1", "cpus 2", "2000", "pci:nvme", "pci:virtio-pci"] {
        assert!(ended.console.lines().any(|line| line == expected), "no {expected}: {ended:?}");
    }
    assert!(ended.status.success() && !ended.is_late, "{ended:?}");
    assert!(fs::read(&image).expect("readable").starts_with(b"kept\n"));
}
