//! Boots a kernel on an emulated machine with two CPUs, two nodes and hotpluggable memory.
//!
//! The emulator translates code and needs nothing of the host, so measured times mean nothing. With
//! `-icount` the guest's cycle counter advances by one with each instruction: the time stamp counter of
//! x86-64, `PMCCNTR_EL0` of arm64.

use std::path::Path;

use super::uml::{Ran, watch};
use crate::kernel::KernelError;
use crate::kernel::process::{command, require};
use crate::series::build::recipe::Arch;
use crate::series::build::workshop::Built;
use crate::series::error::SeriesResult;

/// An architecture's machine.
struct Machine {
    emulator: &'static str,
    /// The Debian package with the emulator.
    package: &'static str,
    /// The board and its processor.
    board: &'static str,
    /// The firmware that describes hotpluggable memory, and its Debian package; `None` if it is built in.
    firmware: Option<(&'static str, &'static str)>,
    /// Kernel parameters: the serial line, and how to come by two nodes.
    parameters: &'static str,
}

const X86_64: Machine = Machine {
    emulator: "qemu-system-x86_64",
    package: "qemu-system-x86",
    board: "-machine q35 -cpu max",
    firmware: None,
    parameters: "console=ttyS0",
};

/// Pointers are signed by a cheap function, since the architecture's own takes an emulator most of its time. The
/// nodes are the kernel's own division of boot memory: the firmware's flash memory is in none of the machine's, for
/// which the kernel refuses these. Hotpluggable memory is all in the first node.
const ARM64: Machine = Machine {
    emulator: "qemu-system-aarch64",
    package: "qemu-system-arm",
    board: "-machine virt,gic-version=3 -cpu max,pauth-impdef=on",
    firmware: Some(("/usr/share/qemu-efi-aarch64/QEMU_EFI.fd", "qemu-efi-aarch64")),
    parameters: "console=ttyAMA0",
};

/// All machines: no device except a serial line, and a node for each half of the memory.
const PLAIN: &str = "-nodefaults -no-user-config -display none -no-reboot \
    -rtc base=2000-01-01,clock=vm -serial stdio -m 768M,slots=2,maxmem=4G \
    -object memory-backend-ram,id=m0,size=384M -object memory-backend-ram,id=m1,size=384M";

/// For loads: each CPU on a thread and a node of its own, and hotpluggable memory in each node.
const LOADED: &str = "-accel tcg,thread=multi -smp 2,sockets=2 \
    -numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1 \
    -object memory-backend-ram,id=s0,size=512M -device pc-dimm,id=d0,memdev=s0,node=0 \
    -object memory-backend-ram,id=s1,size=512M -device pc-dimm,id=d1,memdev=s1,node=1";

/// For counting: one CPU, whose clock is the number of executed instructions.
const COUNTING: &str = "-accel tcg,thread=single -icount shift=0,sleep=off -smp 1 \
    -numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,memdev=m1";

/// Kernel parameters: a CMA area, hotpluggable memory for movable pages only, and an end after any panic.
const PARAMETERS: &str = "nokaslr oops=panic panic=-1 cma=64M memhp_default_state=online_movable";

/// A boot in QEMU.
#[derive(Clone, Debug)]
pub struct QemuBoot<'a> {
    /// The kernel.
    pub kernel: &'a Built,
    /// The packed initramfs.
    pub initramfs: &'a Path,
    /// The value of `freehold.do=`.
    pub order: &'a str,
    /// Further kernel parameters.
    pub parameters: &'a str,
    /// True if instructions are counted, on one CPU.
    pub is_counting: bool,
    /// The most seconds of the boot.
    pub seconds: u64,
}

impl QemuBoot<'_> {
    /// Boots, and waits for the end.
    ///
    /// # Errors
    /// If there is no emulator, or the kernel prints nothing.
    pub fn boot(&self) -> SeriesResult<Ran> {
        let machine = self.machine();
        require(machine.emulator, machine.package)?;
        if let Some((firmware, package)) = self.firmware()
            && !Path::new(firmware).is_file()
        {
            return Err(KernelError::NoProgram { program: firmware.to_owned(), package }.into());
        }
        let mut emulator = command(machine.emulator);
        emulator.args(self.arguments());
        watch(&emulator, self.seconds, &self.name())
    }

    const fn machine(&self) -> &'static Machine {
        match self.kernel.recipe.arch {
            Arch::Arm64 => &ARM64,
            Arch::Um | Arch::X86_64 | Arch::I386 => &X86_64,
        }
    }

    /// Returns the firmware's file and its package. Without hotpluggable memory none is needed.
    fn firmware(&self) -> Option<(&'static str, &'static str)> {
        self.machine().firmware.filter(|_| !self.is_counting)
    }

    /// Returns the boot's name for errors.
    pub fn name(&self) -> String {
        let Built { version, recipe, .. } = self.kernel;
        format!("Linux {version} ({}) in QEMU with freehold.do={}", recipe.name(), self.order)
    }

    fn arguments(&self) -> Vec<String> {
        let Machine { board, parameters, .. } = self.machine();
        let parts = [PLAIN, board, if self.is_counting { COUNTING } else { LOADED }];
        let mut arguments: Vec<_> =
            parts.iter().flat_map(|part| part.split_whitespace()).map(str::to_owned).collect();
        if let Some((firmware, _)) = self.firmware() {
            arguments.extend(["-bios".to_owned(), firmware.to_owned()]);
        }
        let file = |path: &Path| path.to_string_lossy().into_owned();
        arguments.extend(["-kernel".to_owned(), file(&self.kernel.program)]);
        arguments.extend(["-initrd".to_owned(), file(self.initramfs)]);
        let (more, order) = (self.parameters, self.order);
        let parameters = format!("{parameters} {PARAMETERS} {more} freehold.do={order}");
        arguments.extend(["-append".to_owned(), parameters]);
        arguments
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::kernel::KernelVersion;
    use crate::series::build::recipe::Recipe;
    use crate::series::build::variant::Variant;

    fn arguments(arch: Arch, order: &str, is_counting: bool) -> String {
        let recipe = Recipe::new(arch, &["qemu"], Variant::Beside);
        let kernel = Built { recipe, version: KernelVersion::V7_3, program: PathBuf::from("bzImage") };
        let (initramfs, parameters, seconds) = (Path::new("init"), "x=1", 1);
        QemuBoot { kernel: &kernel, initramfs, order, parameters, is_counting, seconds }.arguments().join(" ")
    }

    #[test]
    fn the_machine_has_two_nodes_and_counts_on_one_cpu_only() {
        let two = arguments(Arch::X86_64, "load,seconds=3", false);
        assert!(
            two.contains("-smp 2") && two.contains("nodeid=1,cpus=1") && !two.contains("-icount"),
            "{two}"
        );
        assert!(two.contains("-kernel bzImage -initrd init -append console=ttyS0 "), "{two}");
        assert!(two.ends_with("online_movable x=1 freehold.do=load,seconds=3"), "{two}");
        let counting = arguments(Arch::X86_64, "hot", true);
        assert!(counting.contains("-icount shift=0,sleep=off -smp 1"), "{counting}");
    }

    #[test]
    fn hotpluggable_memory_of_arm64_needs_firmware_and_counting_does_not() {
        let two = arguments(Arch::Arm64, "load", false);
        assert!(two.contains("-machine virt") && two.contains("pc-dimm"), "{two}");
        assert!(two.contains("-bios /usr/share") && two.contains("-append console=ttyAMA0 "), "{two}");
        let counting = arguments(Arch::Arm64, "hot", true);
        assert!(counting.contains("-icount") && !counting.contains("-bios"), "{counting}");
    }
}
