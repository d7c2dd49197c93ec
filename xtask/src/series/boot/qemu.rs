//! Boots a kernel on an emulated x86-64 machine with two CPUs, two nodes and hotpluggable memory.
//!
//! The emulator translates code and needs nothing of the host, so measured times mean nothing. With
//! `-icount` the guest's time stamp counter advances by one with each instruction.

use std::path::Path;

use super::uml::{Ran, watch};
use crate::kernel::process::{command, require};
use crate::series::build::workshop::Built;
use crate::series::error::SeriesResult;

const EMULATOR: &str = "qemu-system-x86_64";

/// The machine: no device except a serial line, and a node for each half of the memory.
const MACHINE: &str = "-nodefaults -no-user-config -display none -no-reboot -machine q35 -cpu max \
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
const PARAMETERS: &str =
    "console=ttyS0 nokaslr oops=panic panic=-1 cma=64M memhp_default_state=online_movable";

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
        require(EMULATOR, "qemu-system-x86")?;
        let mut machine = command(EMULATOR);
        machine.args(self.arguments());
        watch(&machine, self.seconds, &self.name())
    }

    /// Returns the boot's name for errors.
    pub fn name(&self) -> String {
        let Built { version, recipe, .. } = self.kernel;
        format!("Linux {version} ({}) in QEMU with freehold.do={}", recipe.name(), self.order)
    }

    fn arguments(&self) -> Vec<String> {
        let machine = if self.is_counting { COUNTING } else { LOADED };
        let words = MACHINE.split_whitespace().chain(machine.split_whitespace());
        let mut arguments: Vec<_> = words.map(str::to_owned).collect();
        let file = |path: &Path| path.to_string_lossy().into_owned();
        arguments.extend(["-kernel".to_owned(), file(&self.kernel.program)]);
        arguments.extend(["-initrd".to_owned(), file(self.initramfs)]);
        let parameters = format!("{PARAMETERS} {} freehold.do={}", self.parameters, self.order);
        arguments.extend(["-append".to_owned(), parameters]);
        arguments
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::kernel::KernelVersion;
    use crate::series::build::recipe::{Arch, Recipe};
    use crate::series::build::variant::Variant;

    fn arguments(order: &str, is_counting: bool) -> String {
        let recipe = Recipe::new(Arch::X86_64, &["qemu"], Variant::Beside);
        let kernel = Built { recipe, version: KernelVersion::V7_3, program: PathBuf::from("bzImage") };
        let (initramfs, parameters, seconds) = (Path::new("init"), "x=1", 1);
        QemuBoot { kernel: &kernel, initramfs, order, parameters, is_counting, seconds }.arguments().join(" ")
    }

    #[test]
    fn the_machine_has_two_nodes_and_counts_on_one_cpu_only() {
        let two = arguments("load,seconds=3", false);
        assert!(
            two.contains("-smp 2") && two.contains("nodeid=1,cpus=1") && !two.contains("-icount"),
            "{two}"
        );
        assert!(two.contains("-kernel bzImage -initrd init -append console"), "{two}");
        assert!(two.ends_with("online_movable x=1 freehold.do=load,seconds=3"), "{two}");
        let counting = arguments("hot", true);
        assert!(counting.contains("-icount shift=0,sleep=off -smp 1"), "{counting}");
    }
}
