//! The processors of the release.

use clap::ValueEnum;
use freehold_vm::Arch;

/// A processor.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processor {
    /// 64-bit PCs
    #[value(name = "x86-64")]
    X86_64,
    /// 64-bit ARM
    #[value(name = "arm64")]
    Arm64,
}

impl Processor {
    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86-64",
            Self::Arm64 => "arm64",
        }
    }

    /// Returns true if this machine has it.
    pub const fn is_this_machine(self) -> bool {
        match self {
            Self::X86_64 => cfg!(target_arch = "x86_64"),
            Self::Arm64 => cfg!(target_arch = "aarch64"),
        }
    }

    /// Returns the name of the compiler's target with musl.
    pub const fn target(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-musl",
            Self::Arm64 => "aarch64-unknown-linux-musl",
        }
    }

    /// Returns Debian's name.
    pub const fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Returns the prefix of the names of GNU's programs.
    pub const fn gnu(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux",
            Self::Arm64 => "aarch64-linux",
        }
    }

    /// Returns the architecture of emulated guests.
    pub const fn arch(self) -> Arch {
        match self {
            Self::X86_64 => Arch::X86_64,
            Self::Arm64 => Arch::Arm64,
        }
    }

    /// Returns false for a program that is compiled for another processor.
    pub fn runs(self, program: &[u8]) -> bool {
        let machine: u16 = match self {
            Self::X86_64 => 62,
            Self::Arm64 => 183,
        };
        !program.starts_with(b"\x7fELF") || program.get(18..20) == Some(&machine.to_le_bytes())
    }

    /// Returns the Debian package of the C compiler.
    pub const fn compiler_package(self) -> &'static str {
        match self {
            Self::X86_64 => "gcc",
            Self::Arm64 => "gcc-aarch64-linux-gnu",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_for_this_processor_only() {
        let this = std::fs::read("/proc/self/exe").expect("this program");
        for processor in Processor::value_variants() {
            assert_eq!(processor.runs(&this), processor.is_this_machine(), "{processor:?}");
            assert!(processor.runs(b"#!/bin/sh\n"), "{processor:?}");
        }
    }
}
