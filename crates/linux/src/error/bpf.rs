//! Why the kernel's own numbers could not be read.

use std::path::PathBuf;

/// Why free blocks could not be read by a BPF program.
///
/// Every message says what is missing or wrong and what to do about it. Whoever gets one can still read
/// `/proc/pagetypeinfo` and `/proc/buddyinfo`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BpfError {
    /// This build has no BPF program in it.
    #[error(
        "this freehold was built without the bpf feature. Build it with `--features bpf` (needs clang, libelf \
         and zlib), or use `--sensor procfs`"
    )]
    NotBuilt,
    /// What is asked about is not the machine that this runs on.
    #[error("{root} is not the root of the running machine, and BPF reads no other. Use `--sensor procfs`")]
    NotLive {
        /// Where the other machine's files are.
        root: PathBuf,
    },
    /// The kernel does not describe its own types.
    #[error(
        "{path} is missing, so the kernel's structures are unknown. Boot a kernel with CONFIG_DEBUG_INFO_BTF=y"
    )]
    NoBtf {
        /// Where it was looked for.
        path: &'static str,
    },
    /// The kernel keeps BPF from this process.
    #[error(
        "the kernel does not let this process load a BPF program ({detail}). Run as root, or with the \
         capabilities CAP_BPF and CAP_PERFMON; a locked-down kernel (see /sys/kernel/security/lockdown) \
         allows it to nobody"
    )]
    NotPermitted {
        /// What the kernel answered.
        detail: String,
    },
    /// The kernel does not accept the program.
    #[error(
        "the kernel refused the BPF program ({detail}). It takes Linux 5.17 or newer, with CONFIG_BPF_SYSCALL=y"
    )]
    Refused {
        /// What the kernel answered.
        detail: String,
    },
    /// The kernel's free lists are not what this build knows.
    #[error("this kernel's free lists are unknown: {detail}. Report it with the kernel's version")]
    Layout {
        /// What is new about them.
        detail: String,
    },
    /// A zone could not be found in the kernel.
    #[error(
        "zone {name} of node {node} was not found: none of {nodes} kswapd threads led to it. Read the zones \
         again if memory was just plugged in or out, and report it otherwise"
    )]
    NoZone {
        /// NUMA node.
        node: u32,
        /// Name of the zone.
        name: String,
        /// How many kswapd threads there are.
        nodes: u64,
    },
    /// What was found in the kernel is not the zone that `/proc/zoneinfo` tells of.
    #[error(
        "zone {name} of node {node} has {what} {found} in the kernel and {expected} in /proc/zoneinfo. Read the \
         zones again if memory was just plugged in or out, and report it otherwise"
    )]
    WrongZone {
        /// NUMA node.
        node: u32,
        /// Name of the zone.
        name: String,
        /// Which number differs.
        what: &'static str,
        /// What the kernel has.
        found: u64,
        /// What `/proc/zoneinfo` has.
        expected: u64,
    },
    /// It could not be told where the kernel describes its pages.
    #[error(
        "where the kernel keeps `struct page` could not be told ({detail}). Counts can still be read, but not \
         frame numbers"
    )]
    NoPageTable {
        /// What was in the way.
        detail: String,
    },
    /// Free blocks were found where no zone is.
    #[error(
        "{blocks} free blocks are at frames where they cannot be, so frame numbers are not to be believed. Read \
         the zones again if memory was just plugged in or out, and report it otherwise"
    )]
    OutsideZones {
        /// How many.
        blocks: u64,
    },
    /// Nobody said how large a pageblock is.
    #[error("the order of a pageblock is unknown. Name it when the sensor is opened")]
    NoPageblockOrder,
    /// The kernel's slabs are not what this build knows.
    #[error("this kernel's slabs cannot be told from its types. Report it with the kernel's version")]
    NoSlabs,
    /// A program that was loaded did not run.
    #[error("the BPF program `{program}` failed: {detail}. Report it with the kernel's version")]
    Run {
        /// Which one.
        program: &'static str,
        /// What the kernel answered.
        detail: String,
    },
}
