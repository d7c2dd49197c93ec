//! The proposals, as data.

use clap::ValueEnum;

use super::rows::{self, Row};
use crate::counterfactual::guest::Cpus;
use crate::kernel::KernelVersion;
use crate::series::build::variant::Variant;

/// A mailing-list text whose table is made here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Name {
    /// The remembered fallback mode of a refill
    #[value(name = "001")]
    Mode,
    /// Freeing in batches
    #[value(name = "003")]
    Batches,
    /// Freelist hygiene
    #[value(name = "004")]
    Hygiene,
}

/// What a proposal's table needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    /// The number, which the guest's script is called by.
    pub(super) number: &'static str,
    /// What one side lacks and the other has.
    pub(super) what: &'static str,
    /// The series that takes it out.
    pub(super) series: &'static str,
    /// The kernel.
    pub(super) version: KernelVersion,
    /// The guest's memory in MiB.
    pub(super) memory_mib: u32,
    /// The most seconds of a boot.
    pub(super) seconds: u64,
    /// What is booted, one after the other, in each round of a side.
    pub(super) parts: &'static [Part],
}

/// A machine of a proposal, and the rows that it is booted for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The name, empty if it is the only one.
    pub(super) name: &'static str,
    /// The guest's CPUs.
    pub(super) cpus: Cpus,
    /// The rows.
    pub(super) rows: fn() -> Vec<Row>,
}

/// Without what the proposal is about, and with it: as Linux is.
pub(super) const SIDES: [Variant; 2] = [Variant::Patched, Variant::Vanilla];

/// The fragments of the kernels' configuration.
pub(super) const CONFIG: &[&str] = &["qemu", "qemu-proposals", "qemu-holds"];

impl Name {
    /// Returns what the proposal needs.
    pub(super) fn proposal(self) -> Proposal {
        match self {
            Self::Mode => Proposal {
                number: "001",
                what: "the remembered fallback mode",
                series: "without-remembered-mode",
                version: KernelVersion::V6_12,
                memory_mib: 768,
                seconds: 600,
                parts: &[Part { name: "", cpus: Cpus::Counting, rows: rows::mode }],
            },
            Self::Batches => Proposal {
                number: "003",
                what: "freeing in batches",
                series: "without-batching",
                version: KernelVersion::V7_3,
                memory_mib: 1024,
                seconds: 600,
                parts: &[
                    Part { name: "holds", cpus: Cpus::Counting, rows: rows::batches_holds },
                    Part { name: "waits", cpus: Cpus::Two, rows: rows::batches_waits },
                ],
            },
            Self::Hygiene => Proposal {
                number: "004",
                what: "freelist hygiene",
                series: "without-hygiene",
                version: KernelVersion::V6_12,
                memory_mib: 640,
                seconds: 1500,
                parts: &[Part { name: "", cpus: Cpus::Counting, rows: rows::hygiene }],
            },
        }
    }
}
