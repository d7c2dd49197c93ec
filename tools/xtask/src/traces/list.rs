//! The recipes of the traces: the work and the machine of each.

use super::works::{
    CACHED, CRUNCH, FORKS, FREE_MUCH, HOLES, HUGE_PAGES, IDLE, MARKS, MEMORY_FILES, NAMES, PIPES,
    SERVE_CACHE, SWAPPED, Work,
};
use crate::dist::processor::Processor;

/// The recipe of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceRecipe {
    /// The name of the trace.
    pub name: &'static str,
    /// The recorded machine.
    pub machine: Machine,
    /// The recorded work.
    pub work: &'static Work,
}

impl TraceRecipe {
    /// Returns the command that makes the trace.
    pub fn command(&self) -> String {
        format!("cargo xtask traces {}", self.name)
    }
}

/// An emulated machine of two CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The kernel's release series. A package in the cache is used, otherwise the newest one.
    pub series: &'static str,
    /// Debian's name for the kernel's flavour, which ends in the architecture and the size of pages.
    pub flavour: &'static str,
    /// The memory in MiB.
    pub memory_mib: u32,
    /// 1, or 2, each with a half of the memory and one CPU.
    pub nodes: u32,
    /// More parameters of the kernel.
    pub parameters: &'static str,
}

impl Machine {
    /// Returns the processor of the kernel's flavour.
    pub fn arch(&self) -> Processor {
        if self.flavour.contains("arm64") { Processor::Arm64 } else { Processor::X86_64 }
    }

    const fn of_two_nodes(self) -> Self {
        Self { nodes: 2, ..self }
    }

    const fn with(self, parameters: &'static str) -> Self {
        Self { parameters, ..self }
    }
}

const fn machine(series: &'static str, flavour: &'static str, memory_mib: u32) -> Machine {
    Machine { series, flavour, memory_mib, nodes: 1, parameters: "" }
}

/// An x86-64 machine. Its kernel has disk drivers built in, and CMA from 7.3 on.
const fn x86(series: &'static str, memory_mib: u32) -> Machine {
    machine(series, "cloud-amd64", memory_mib)
}

/// An arm64 machine with pages of 4 KiB and 64 MiB of CMA. Its kernel has disk drivers built in.
const fn arm(series: &'static str, memory_mib: u32) -> Machine {
    machine(series, "cloud-arm64", memory_mib)
}

/// An arm64 machine with pages of 16 KiB and 64 MiB of CMA. Its kernel has no disk driver built in.
const fn arm_16k(series: &'static str, memory_mib: u32) -> Machine {
    machine(series, "arm64-16k", memory_mib)
}

const fn recipe_of(name: &'static str, machine: Machine, work: &'static Work) -> TraceRecipe {
    TraceRecipe { name, machine, work }
}

/// The recipes of all scripted traces.
pub static RECIPES: [TraceRecipe; 40] = [
    recipe_of("x86-6.1-512m-idle", x86("6.1", 512), &IDLE),
    recipe_of("x86-6.1-512m-forks", x86("6.1", 512), &FORKS),
    recipe_of("x86-6.1-512m-cached", x86("6.1", 512), &CACHED),
    recipe_of("x86-6.1-512m-pipes", x86("6.1", 512), &PIPES),
    recipe_of("x86-6.1-1g-huge-pages", x86("6.1", 1024), &HUGE_PAGES),
    recipe_of("x86-6.1-2g-2n-names", x86("6.1", 2048).of_two_nodes(), &NAMES),
    recipe_of("x86-6.1-8g-crunch", x86("6.1", 8192), &CRUNCH),
    recipe_of("x86-6.12-512m-marks", x86("6.12", 512), &MARKS),
    recipe_of("x86-6.12-512m-holes", x86("6.12", 512), &HOLES),
    recipe_of("x86-6.12-512m-free-much", x86("6.12", 512), &FREE_MUCH),
    recipe_of("x86-6.12-1g-2n-cached", x86("6.12", 1024).of_two_nodes(), &CACHED),
    recipe_of("x86-6.12-1g-huge-pages", x86("6.12", 1024), &HUGE_PAGES),
    recipe_of("x86-6.12-4g-2n-memory-files", x86("6.12", 4096).of_two_nodes(), &MEMORY_FILES),
    recipe_of("x86-6.12-16g-idle", x86("6.12", 16384), &IDLE),
    recipe_of("x86-6.18-512m-pipes", x86("6.18", 512), &PIPES),
    recipe_of("x86-6.18-512m-swapped", x86("6.18", 512), &SWAPPED),
    recipe_of("x86-6.18-1g-serve-cache", x86("6.18", 1024), &SERVE_CACHE),
    recipe_of("x86-6.18-2g-crunch", x86("6.18", 2048), &CRUNCH),
    recipe_of("x86-6.18-4g-2n-forks", x86("6.18", 4096).of_two_nodes(), &FORKS),
    recipe_of("x86-7.3-512m-cached", x86("7.3", 512), &CACHED),
    recipe_of("x86-7.3-512m-free-much", x86("7.3", 512), &FREE_MUCH),
    recipe_of("x86-7.3-512m-holes", x86("7.3", 512), &HOLES),
    recipe_of("x86-7.3-1g-cma-memory-files", x86("7.3", 1024).with("cma=256M"), &MEMORY_FILES),
    recipe_of("x86-7.3-1g-huge-pages", x86("7.3", 1024), &HUGE_PAGES),
    recipe_of("x86-7.3-1g-2n-pipes", x86("7.3", 1024).of_two_nodes(), &PIPES),
    recipe_of("x86-7.3-16g-2n-idle", x86("7.3", 16384).of_two_nodes(), &IDLE),
    recipe_of("arm-6.1-512m-idle", arm("6.1", 512), &IDLE),
    recipe_of("arm-6.1-512m-cached", arm("6.1", 512), &CACHED),
    recipe_of("arm-6.1-1g-2n-forks", arm("6.1", 1024).of_two_nodes(), &FORKS),
    recipe_of("arm-6.12-512m-pipes", arm("6.12", 512), &PIPES),
    recipe_of("arm-6.12-1g-cma-memory-files", arm("6.12", 1024).with("cma=256M"), &MEMORY_FILES),
    recipe_of("arm-6.12-1g-huge-pages", arm("6.12", 1024), &HUGE_PAGES),
    recipe_of("arm-6.12-16k-1g-forks", arm_16k("6.12", 1024), &FORKS),
    recipe_of("arm-6.18-512m-marks", arm("6.18", 512), &MARKS),
    recipe_of("arm-6.18-16k-1g-holes", arm_16k("6.18", 1024), &HOLES),
    recipe_of("arm-6.18-16k-2g-names", arm_16k("6.18", 2048), &NAMES),
    recipe_of("arm-7.3-512m-cma-cached", arm("7.3", 512).with("cma=128M"), &CACHED),
    recipe_of("arm-7.3-8g-2n-crunch", arm("7.3", 8192).of_two_nodes(), &CRUNCH),
    recipe_of("arm-7.3-16k-1g-marks", arm_16k("7.3", 1024), &MARKS),
    recipe_of("arm-7.3-16k-4g-2n-serve-cache", arm_16k("7.3", 4096).of_two_nodes(), &SERVE_CACHE),
];

/// Returns the recipe of this name.
pub fn recipe(name: &str) -> Option<&'static TraceRecipe> {
    RECIPES.iter().find(|recipe| recipe.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::traces::works::Disk;

    #[test]
    fn names_are_unique_and_describe_the_machine() {
        let names: BTreeSet<_> = RECIPES.iter().map(|recipe| recipe.name).collect();
        assert_eq!(names.len(), RECIPES.len());
        for TraceRecipe { name, machine, .. } in &RECIPES {
            let words: Vec<_> = name.split('-').collect();
            let memory = match machine.memory_mib {
                mib if mib < 1024 => format!("{mib}m"),
                mib => format!("{}g", mib / 1024),
            };
            let is_said = |word: &str| words.contains(&word);
            assert!(is_said(machine.series) && is_said(&memory), "{name}");
            assert_eq!(is_said("arm"), machine.arch() == Processor::Arm64, "{name}");
            assert_eq!(is_said("16k"), machine.flavour.ends_with("16k"), "{name}");
            assert_eq!(is_said("2n"), machine.nodes == 2, "{name}");
            assert_eq!(is_said("cma"), machine.parameters.contains("cma="), "{name}");
        }
    }

    #[test]
    fn recipes_with_a_disk_use_kernels_with_its_driver() {
        for TraceRecipe { name, machine, work } in &RECIPES {
            assert!(work.disk == Disk::None || machine.flavour.starts_with("cloud-"), "{name}");
        }
    }
}
