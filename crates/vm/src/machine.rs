//! A machine, and the arguments that describe it to QEMU.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{VmError, VmResult};
use crate::program::command;

/// The processor's architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arch {
    /// 64-bit PCs
    X86_64,
    /// 64-bit ARM
    Arm64,
}

impl Arch {
    /// Returns the emulator and its Debian package.
    pub const fn emulator(self) -> (&'static str, &'static str) {
        match self {
            Self::X86_64 => ("qemu-system-x86_64", "qemu-system-x86"),
            Self::Arm64 => ("qemu-system-aarch64", "qemu-system-arm"),
        }
    }

    /// Checks that the emulator is on this machine.
    ///
    /// # Errors
    /// [`VmError::NoProgram`] if the emulator is missing.
    pub fn check(self) -> VmResult<()> {
        let (emulator, package) = self.emulator();
        command(emulator, package).map(drop)
    }

    /// Returns Linux's name of the serial line, for the parameter `console=`.
    pub const fn serial(self) -> &'static str {
        match self {
            Self::X86_64 => "ttyS0",
            Self::Arm64 => "ttyAMA0",
        }
    }
}

/// The clock that a guest sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// The clock of the host. Each CPU runs on its own thread.
    Host,
    /// The number of executed instructions, one nanosecond each. It does not depend on the load of the host. All CPUs
    /// take turns on one thread. The time stamp counter of x86-64 and `PMCCNTR_EL0` of arm64 count instructions.
    Instructions {
        /// True if an idle guest waits by the host's clock; false if it jumps to its next timer.
        sleeps: bool,
    },
}

/// Memory that is plugged in in addition to the boot memory. On arm64 it needs the firmware of `qemu-efi-aarch64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hotplug {
    /// No slots
    None,
    /// Two empty slots
    Slots,
    /// A module of this size for each of two nodes. Units: MiB.
    Modules(u32),
}

/// A disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Disk {
    /// A raw image as an NVM Express disk, `/dev/nvme0n1` and so on. Debian's kernels have the driver built in, and the
    /// host can read the image afterwards. A machine with such a disk cannot be saved.
    Nvme {
        /// A name for QEMU and the disk's serial number.
        name: &'static str,
        /// The image.
        image: PathBuf,
        /// True if writes of the guest go to the image; false if they are dropped at the end.
        is_kept: bool,
    },
    /// A raw image as a virtio disk, `/dev/vda` and so on. Writes go to an overlay, which is dropped with the guest,
    /// and saved with its state. The image must not change while the state is used. Debian's kernels need the modules
    /// `virtio_pci` and `virtio_blk`.
    Virtio {
        /// The image.
        image: PathBuf,
    },
}

/// A TCP port of the host's loopback interface that forwards to a port of the guest. The guest cannot connect to the
/// outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Door {
    /// The host's port.
    pub host: u16,
    /// The guest's port.
    pub guest: u16,
}

/// A machine with a serial line, [`disks`](Self::disks) and a [`door`](Self::door), and without other devices. QEMU
/// emulates its instructions without KVM, so measured times are not meaningful.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The architecture.
    pub arch: Arch,
    /// True if an x86-64 processor has all features that QEMU knows. False omits five-level page tables and
    /// `cmpxchg16b`. QEMU does not emulate `cmpxchg16b` atomically between the threads of two CPUs, which breaks
    /// Linux's slab allocator.
    pub has_all_features: bool,
    /// The number of CPUs.
    pub cpus: u32,
    /// The clock.
    pub clock: Clock,
    /// The memory in MiB.
    pub memory_mib: u32,
    /// The number of NUMA nodes, each with an equal share of the memory. CPU `n` is in node `n`.
    pub nodes: u32,
    /// Memory that is plugged in.
    pub hotplug: Hotplug,
    /// The date at which the machine's real-time clock starts, such as `2000-01-01`; it then follows the guest's clock.
    pub date: Option<&'static str>,
    /// The disks, in the order in which QEMU gets them.
    pub disks: Vec<Disk>,
    /// The network: at most one forwarded port.
    pub door: Option<Door>,
    /// The I/O port of x86-64 that ends QEMU. A write of `n` gives the status `2 n + 1`.
    pub exit_port: Option<u16>,
    /// True if the guest can be saved. It then gets a random number generator with a fixed seed, and a file in QEMU's
    /// firmware configuration for [`State::resume`](crate::State::resume).
    pub is_savable: bool,
    /// The kernel, which QEMU loads.
    pub kernel: PathBuf,
    /// The packed root.
    pub initramfs: Option<PathBuf>,
    /// The kernel's parameters.
    pub parameters: String,
    /// The time limit after which QEMU is killed, even if this process no longer exists.
    pub limit: Duration,
}

/// The arm64 firmware that describes memory modules, and its Debian package.
pub(crate) const FIRMWARE: (&str, &str) = ("/usr/share/qemu-efi-aarch64/QEMU_EFI.fd", "qemu-efi-aarch64");

/// The file with the saved state. It is not attached to a device.
pub(crate) const STATE: &str = "state.qcow2";

/// The file with the message of a resumed guest.
pub(crate) const MESSAGE: &str = "message";

/// The arguments of every machine. QEMU's standard input is the console, a socket.
const PLAIN: &str = "-nodefaults -no-user-config -display none -no-reboot \
    -chardev socket,id=console,fd=0 -serial chardev:console";

/// The further arguments of a machine that can be saved. QEMU's standard output is the monitor, a socket. QEMU does not
/// wait for the host's disk, because the folder of a guest is deleted with the guest.
const SAVABLE: &str = "-seed 1 -fw_cfg name=opt/freehold/message,file=message \
    -blockdev driver=qcow2,node-name=state,cache.no-flush=on,file.driver=file,file.filename=state.qcow2 \
    -chardev socket,id=monitor,fd=1 -mon chardev=monitor,mode=control";

impl Machine {
    /// Returns a machine with one CPU, one node and 512 MiB, without disks and network, and with a limit of ten
    /// minutes.
    pub fn new(arch: Arch, kernel: &Path) -> Self {
        Self {
            arch,
            has_all_features: false,
            cpus: 1,
            clock: Clock::Host,
            memory_mib: 512,
            nodes: 1,
            hotplug: Hotplug::None,
            date: None,
            disks: Vec::new(),
            door: None,
            exit_port: None,
            is_savable: false,
            kernel: kernel.to_owned(),
            initramfs: None,
            parameters: String::new(),
            limit: Duration::from_mins(10),
        }
    }

    /// Returns QEMU's arguments. QEMU must run in the folder of the guest, which has the overlays and the state.
    ///
    /// # Errors
    /// If the current folder is needed for an absolute path and does not exist.
    pub fn arguments(&self) -> VmResult<Vec<String>> {
        let mut arguments = self.description()?;
        arguments.extend(["-kernel".to_owned(), absolute(&self.kernel)?]);
        if let Some(initramfs) = &self.initramfs {
            arguments.extend(["-initrd".to_owned(), absolute(initramfs)?]);
        }
        arguments.extend(["-append".to_owned(), self.parameters.clone()]);
        Ok(arguments)
    }

    /// Returns the arguments that a saved state depends on: all except the kernel, its root and its parameters.
    pub(crate) fn description(&self) -> VmResult<Vec<String>> {
        let mut all = PLAIN.to_owned();
        let mut add = |words: &str| {
            all.push(' ');
            all.push_str(words);
        };
        add(self.board());
        add(match self.clock {
            Clock::Host => "-accel tcg,thread=multi",
            Clock::Instructions { sleeps: true } => "-accel tcg,thread=single -icount shift=0,sleep=on",
            Clock::Instructions { sleeps: false } => "-accel tcg,thread=single -icount shift=0,sleep=off",
        });
        add(&self.memory());
        if let Some(date) = self.date {
            add(&format!("-rtc base={date},clock=vm"));
        }
        if let Some(Door { host, guest }) = self.door {
            add(&format!("-netdev user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:{host}-:{guest}"));
            add("-device virtio-net-pci,netdev=n,romfile=");
        }
        if let Some(port) = self.exit_port {
            add(&format!("-device isa-debug-exit,iobase={port:#x}"));
        }
        if self.is_savable {
            add(SAVABLE);
        }
        let mut arguments: Vec<_> = all.split_whitespace().map(str::to_owned).collect();
        if self.needs_firmware() {
            arguments.extend(["-bios".to_owned(), FIRMWARE.0.to_owned()]);
        }
        for (number, disk) in self.disks.iter().enumerate() {
            arguments.extend(described(number, disk)?);
        }
        Ok(arguments)
    }

    /// Returns the arguments of the board and the processor. On arm64, pointers are signed by a cheap function, because
    /// the architecture's own function would take most of the emulator's time.
    const fn board(&self) -> &'static str {
        match (self.arch, self.has_all_features) {
            (Arch::X86_64, true) => "-machine q35 -cpu max",
            (Arch::X86_64, false) => "-machine q35 -cpu max,la57=off,cx16=off",
            (Arch::Arm64, _) => "-machine virt,gic-version=3 -cpu max,pauth-impdef=on",
        }
    }

    /// Returns true if the machine needs firmware from another package than QEMU to describe its memory modules.
    pub(crate) fn needs_firmware(&self) -> bool {
        self.arch == Arch::Arm64 && matches!(self.hotplug, Hotplug::Modules(_))
    }

    /// Returns the arguments for CPUs, nodes and memory.
    fn memory(&self) -> String {
        let Self { cpus, nodes, memory_mib, hotplug, .. } = *self;
        let sockets = if nodes > 1 && cpus > 1 { format!(",sockets={nodes}") } else { String::new() };
        let slots = if hotplug == Hotplug::None { "" } else { ",slots=2,maxmem=4G" };
        let mut words = vec![format!("-smp {cpus}{sockets} -m {memory_mib}M{slots}")];
        words.extend((0..nodes).filter(|_| nodes > 1).map(|node| {
            let cpu = if node < cpus { format!("cpus={node},") } else { String::new() };
            let share = memory_mib / nodes;
            format!(
                "-object memory-backend-ram,id=m{node},size={share}M -numa node,nodeid={node},{cpu}memdev=m{node}"
            )
        }));
        if let Hotplug::Modules(mib) = hotplug {
            words.extend((0..2).map(|node| {
                format!(
                    "-object memory-backend-ram,id=s{node},size={mib}M \
                     -device pc-dimm,id=d{node},memdev=s{node},node={node}"
                )
            }));
        }
        words.join(" ")
    }

    /// Returns the reason why the machine cannot be saved, or `None` if it can.
    pub fn obstacle(&self) -> Option<&'static str> {
        if self.disks.iter().any(|disk| matches!(disk, Disk::Nvme { .. })) {
            return Some("QEMU does not save NVMe disks and raw images; use `Disk::Virtio`");
        }
        (!self.is_savable)
            .then_some("it was started without a place for its state; set `Machine::is_savable`")
    }
}

/// Returns the name of a virtio disk's overlay.
pub(crate) fn overlay(number: usize) -> String {
    format!("disk{number}.qcow2")
}

/// Returns the arguments for a disk.
fn described(number: usize, disk: &Disk) -> VmResult<[String; 4]> {
    Ok(match disk {
        Disk::Nvme { name, image, is_kept } => {
            // QEMU takes two commas as a comma of the name.
            let file = absolute(image)?.replace(',', ",,");
            let writes = if *is_kept { "cache=unsafe" } else { "snapshot=on" };
            let drive = format!("file={file},if=none,id={name},format=raw,{writes}");
            ["-drive".to_owned(), drive, "-device".to_owned(), format!("nvme,drive={name},serial={name}")]
        }
        Disk::Virtio { .. } => {
            let (node, file) = (format!("disk{number}"), overlay(number));
            let drive = format!(
                "driver=qcow2,node-name={node},cache.no-flush=on,file.driver=file,file.filename={file}"
            );
            ["-blockdev".to_owned(), drive, "-device".to_owned(), format!("virtio-blk-pci,drive={node}")]
        }
    })
}

/// Returns an absolute path as text.
fn absolute(path: &Path) -> VmResult<String> {
    let path = std::path::absolute(path).map_err(VmError::file(path))?;
    Ok(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(change: impl FnOnce(&mut Machine), arch: Arch) -> String {
        let mut machine = Machine::new(arch, Path::new("/vmlinuz"));
        machine.initramfs = Some(PathBuf::from("/root"));
        machine.parameters = format!("console={} x=1", arch.serial());
        change(&mut machine);
        machine.arguments().unwrap().join(" ")
    }

    #[test]
    fn arguments_have_board_and_serial_line() {
        let x86 = line(|_| (), Arch::X86_64);
        assert!(
            x86.contains("-machine q35 -cpu max,la57=off,cx16=off -accel tcg,thread=multi -smp 1 -m 512M"),
            "{x86}"
        );
        assert!(x86.ends_with("-kernel /vmlinuz -initrd /root -append console=ttyS0 x=1"), "{x86}");
        assert!(!x86.contains("-numa") && !x86.contains("-icount") && !x86.contains("monitor"), "{x86}");
        let arm = line(|_| (), Arch::Arm64);
        assert!(arm.contains("-machine virt") && arm.ends_with("console=ttyAMA0 x=1"), "{arm}");
    }

    #[test]
    fn memory_and_cpus_are_shared_among_nodes() {
        let nodes = |cpus| line(|machine| (machine.cpus, machine.nodes) = (cpus, 2), Arch::X86_64);
        let two = nodes(2);
        assert!(two.contains("-smp 2,sockets=2 -m 512M "), "{two}");
        for node in [
            "-object memory-backend-ram,id=m0,size=256M -numa node,nodeid=0,cpus=0,memdev=m0",
            "-object memory-backend-ram,id=m1,size=256M -numa node,nodeid=1,cpus=1,memdev=m1",
        ] {
            assert!(two.contains(node), "{two}");
        }
        let one = nodes(1);
        assert!(one.contains("-smp 1 ") && one.contains("nodeid=1,memdev=m1"), "{one}");
    }

    #[test]
    fn memory_modules_on_arm64_need_firmware() {
        let with = |hotplug| line(|machine| machine.hotplug = hotplug, Arch::Arm64);
        let modules = with(Hotplug::Modules(512));
        assert!(
            modules.contains("pc-dimm,id=d1,memdev=s1,node=1") && modules.contains("-bios /usr"),
            "{modules}"
        );
        let slots = with(Hotplug::Slots);
        assert!(slots.contains("-m 512M,slots=2,maxmem=4G") && !slots.contains("-bios"), "{slots}");
    }

    #[test]
    fn disks_are_in_order_and_nvme_disks_cannot_be_saved() {
        let nvme = |name, is_kept| Disk::Nvme { name, image: PathBuf::from(format!("/{name},1")), is_kept };
        let mut machine = Machine::new(Arch::X86_64, Path::new("/vmlinuz"));
        machine.is_savable = true;
        machine.disks = vec![Disk::Virtio { image: PathBuf::from("/x") }];
        assert_eq!(machine.obstacle(), None);
        machine.disks.extend([nvme("root", false), nvme("trace", true)]);
        let line = machine.arguments().unwrap().join(" ");
        for disk in [
            "file.filename=disk0.qcow2 -device virtio-blk-pci,drive=disk0 -drive file=/root,,1,",
            "id=root,format=raw,snapshot=on -device nvme,drive=root,serial=root -drive file=/trace,,1,",
            "id=trace,format=raw,cache=unsafe -device nvme,drive=trace,serial=trace -kernel",
        ] {
            assert!(line.contains(disk), "{line}");
        }
        assert!(machine.obstacle().is_some_and(|reason| reason.contains("Disk::Virtio")));
    }

    #[test]
    fn arguments_have_clock_door_date_and_exit_port() {
        let line = line(
            |machine| {
                machine.clock = Clock::Instructions { sleeps: false };
                machine.date = Some("2000-01-01");
                machine.door = Some(Door { host: 4000, guest: 9321 });
                machine.exit_port = Some(0xf4);
            },
            Arch::X86_64,
        );
        for words in [
            "thread=single -icount shift=0,sleep=off ",
            "-rtc base=2000-01-01,clock=vm",
            "restrict=on,hostfwd=tcp:127.0.0.1:4000-:9321",
            "isa-debug-exit,iobase=0xf4",
        ] {
            assert!(line.contains(words), "{line}");
        }
    }
}
