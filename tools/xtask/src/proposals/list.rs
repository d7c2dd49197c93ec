//! The proposals, as data.

use clap::ValueEnum;

use super::rows::{self, Row};
use crate::counterfactual::guest::Cpus;
use crate::kernel::KernelVersion;
use crate::series::build::variant::Variant;

/// A proposal for Linux whose table is reproduced here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Name {
    /// Remember the fallback mode of a refill
    #[value(name = "001")]
    Mode,
    /// Free pages in batches
    #[value(name = "003")]
    Batches,
    /// Keep each block on the free list of its pageblock's type
    #[value(name = "004")]
    Hygiene,
}

/// The inputs of a proposal's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    /// The number, which is part of the name of the guest's script.
    pub(super) number: &'static str,
    /// The proposal's change, as a noun phrase.
    pub(super) what: &'static str,
    /// The series that reverts it.
    pub(super) series: &'static str,
    /// The kernel.
    pub(super) version: KernelVersion,
    /// The guest's memory in MiB.
    pub(super) memory_mib: u32,
    /// The time limit of a boot in seconds.
    pub(super) seconds: u64,
    /// The machines that boot one after the other in each round of a side.
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

/// The two kernels: with the change reverted, and unchanged Linux.
pub(super) const SIDES: [Variant; 2] = [Variant::Patched, Variant::Vanilla];

/// The fragments of the kernels' configuration.
pub(super) const CONFIG: &[&str] = &["qemu", "qemu-proposals", "qemu-holds"];

impl Name {
    /// Returns the inputs of the proposal's table.
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
