//! Boots a kernel on an emulated machine with two CPUs, two nodes and hotpluggable memory.
//!
//! If the machine counts instructions, the guest's cycle counter advances by one with each instruction.

use std::path::Path;
use std::time::Duration;

use freehold_vm::{Arch as VmArch, Clock, Hotplug, Machine};

use super::uml::Ran;
use crate::series::build::recipe::Arch;
use crate::series::build::workshop::Built;
use crate::series::error::SeriesResult;

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
    /// The time limit of the boot in seconds.
    pub seconds: u64,
}

impl QemuBoot<'_> {
    /// Boots, and waits for the end.
    ///
    /// # Errors
    /// If there is no emulator, or the kernel prints nothing.
    pub fn boot(&self) -> SeriesResult<Ran> {
        Ran::in_qemu(&self.machine(), &self.name())
    }

    /// Returns the boot's name for errors.
    pub fn name(&self) -> String {
        let Built { version, recipe, .. } = self.kernel;
        format!("Linux {version} ({}) in QEMU with freehold.do={}", recipe.name(), self.order)
    }

    /// Returns the machine, with a node for each half of the memory. For loads it has a CPU and hotpluggable memory in
    /// each node. For counting it has one CPU. arm64's firmware has flash memory that is in no node, so the kernel
    /// refuses the machine's nodes and divides memory itself; hotpluggable memory is then all in the first node.
    fn machine(&self) -> Machine {
        let arch = match self.kernel.recipe.arch {
            Arch::Arm64 => VmArch::Arm64,
            Arch::Um | Arch::X86_64 | Arch::I386 => VmArch::X86_64,
        };
        let mut machine = Machine::new(arch, &self.kernel.program);
        machine.has_all_features = true;
        (machine.memory_mib, machine.nodes) = (768, 2);
        (machine.cpus, machine.clock, machine.hotplug) = if self.is_counting {
            (1, Clock::Instructions { sleeps: false }, Hotplug::Slots)
        } else {
            (2, Clock::Host, Hotplug::Modules(512))
        };
        machine.date = Some("2000-01-01");
        machine.initramfs = Some(self.initramfs.to_owned());
        let (serial, more, order) = (arch.serial(), self.parameters, self.order);
        machine.parameters = format!("console={serial} {PARAMETERS} {more} freehold.do={order}");
        machine.limit = Duration::from_secs(self.seconds);
        machine
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
        QemuBoot { kernel: &kernel, initramfs, order, parameters, is_counting, seconds }
            .machine()
            .arguments()
            .unwrap()
            .join(" ")
    }

    #[test]
    fn the_machine_has_two_nodes_and_counts_on_one_cpu_only() {
        let two = arguments(Arch::X86_64, "load,seconds=3", false);
        assert!(
            two.contains("-smp 2") && two.contains("nodeid=1,cpus=1") && !two.contains("-icount"),
            "{two}"
        );
        assert!(two.contains("bzImage -initrd "), "{two}");
        assert!(two.ends_with("online_movable x=1 freehold.do=load,seconds=3"), "{two}");
        let counting = arguments(Arch::X86_64, "hot", true);
        assert!(counting.contains("-icount shift=0,sleep=off -smp 1 -m 768M,slots"), "{counting}");
    }

    #[test]
    fn arm64_has_firmware_only_with_hotpluggable_memory() {
        let two = arguments(Arch::Arm64, "load", false);
        assert!(two.contains("-machine virt") && two.contains("pc-dimm"), "{two}");
        assert!(two.contains("-bios /usr/share") && two.contains("-append console=ttyAMA0 "), "{two}");
        let counting = arguments(Arch::Arm64, "hot", true);
        assert!(counting.contains("-icount") && !counting.contains("-bios"), "{counting}");
    }
}
