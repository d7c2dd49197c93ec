//! Errors of reading the kernel's own fields by BPF.

use std::path::PathBuf;

/// Why a BPF program could not read free blocks.
///
/// Every message says what is missing or wrong and what to do about it. After any of these errors
/// `/proc/pagetypeinfo` and `/proc/buddyinfo` can still be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BpfError {
    /// This build contains no BPF programs.
    #[error(
        "this freehold was built without the bpf feature. Build it with `--features bpf` (needs clang, libelf \
         and zlib), or use `--sensor procfs`"
    )]
    NotBuilt,
    /// The root folder is not that of the running machine.
    #[error("{root} is not the root of the running machine, and BPF reads no other. Use `--sensor procfs`")]
    NotLive {
        /// The root folder.
        root: PathBuf,
    },
    /// The kernel has no type information (BTF).
    #[error(
        "{path} is missing, so the kernel's structures are unknown. Boot a kernel with CONFIG_DEBUG_INFO_BTF=y"
    )]
    NoBtf {
        /// The file that is missing.
        path: &'static str,
    },
    /// The kernel does not let this process load BPF programs.
    #[error(
        "the kernel does not let this process load a BPF program ({detail}). Run as root, or with the \
         capabilities CAP_BPF and CAP_PERFMON; a locked-down kernel (see /sys/kernel/security/lockdown) \
         allows it to nobody"
    )]
    NotPermitted {
        /// The kernel's answer.
        detail: String,
    },
    /// The kernel rejected the program.
    #[error(
        "the kernel refused the BPF program ({detail}). It takes Linux 5.17 or newer, with CONFIG_BPF_SYSCALL=y"
    )]
    Refused {
        /// The kernel's answer.
        detail: String,
    },
    /// This build does not know the layout of the kernel's free lists.
    #[error("this kernel's free lists are unknown: {detail}. Report it with the kernel's version")]
    Layout {
        /// The difference.
        detail: String,
    },
    /// A zone was not found in the kernel.
    #[error(
        "zone {name} of node {node} was not found: none of {nodes} kswapd threads led to it. Read the zones \
         again if memory was just plugged in or out, and report it otherwise"
    )]
    NoZone {
        /// NUMA node.
        node: u32,
        /// Name of the zone.
        name: String,
        /// The kswapd threads that were found.
        nodes: u64,
    },
    /// A zone in the kernel differs from the zone in `/proc/zoneinfo`.
    #[error(
        "zone {name} of node {node} has {what} {found} in the kernel and {expected} in /proc/zoneinfo. Read the \
         zones again if memory was just plugged in or out, and report it otherwise"
    )]
    WrongZone {
        /// NUMA node.
        node: u32,
        /// Name of the zone.
        name: String,
        /// The number that differs.
        what: &'static str,
        /// The number in the kernel.
        found: u64,
        /// The number in `/proc/zoneinfo`.
        expected: u64,
    },
    /// The address of the kernel's `struct page` table could not be determined.
    #[error(
        "the place of the kernel's `struct page` is unknown ({detail}). Counts can still be read, but not \
         frame numbers"
    )]
    NoPageTable {
        /// The obstacle.
        detail: String,
    },
    /// Free blocks were found outside all zones.
    #[error(
        "{blocks} free blocks are at frames where they cannot be, so frame numbers are not to be believed. Read \
         the zones again if memory was just plugged in or out, and report it otherwise"
    )]
    OutsideZones {
        /// The number of such blocks.
        blocks: u64,
    },
    /// There are more free blocks than a trace has room for.
    #[error("there are {blocks} free blocks, more than the {most} that a trace has room for")]
    TooManyBlocks {
        /// The number of blocks.
        blocks: u64,
        /// The most that there is room for.
        most: u64,
    },
    /// The order of a pageblock is unknown.
    #[error("the order of a pageblock is unknown. Name it when the sensor is opened")]
    NoPageblockOrder,
    /// This build does not know the layout of the kernel's slabs.
    #[error("this kernel's types do not identify slabs. Report it with the kernel's version")]
    NoSlabs,
    /// A loaded program did not run.
    #[error("the BPF program `{program}` failed: {detail}. Report it with the kernel's version")]
    Run {
        /// The program.
        program: &'static str,
        /// The kernel's answer.
        detail: String,
    },
}
