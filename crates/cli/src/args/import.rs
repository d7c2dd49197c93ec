//! The arguments of `freehold import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use freehold_linux::ftrace_text::PfnRadix;

use super::common::NewTrace;

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// A text of ftrace, trace-cmd, perf or bpftrace (plain, .gz, .xz, .zst), or perf.data.
    pub(crate) source: PathBuf,
    /// A copy of /proc/zoneinfo from the start.
    #[arg(long, value_name = "FILE")]
    pub(crate) zoneinfo: PathBuf,
    /// A copy of /proc/pagetypeinfo from the start.
    #[arg(long, value_name = "FILE")]
    pub(crate) pagetypeinfo: PathBuf,
    /// A copy of /proc/kpageflags from the start.
    #[arg(long, value_name = "FILE")]
    pub(crate) kpageflags: Option<PathBuf>,
    /// A copy of /proc/pagetypeinfo from the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) pagetypeinfo_end: Option<PathBuf>,
    /// The `uname -r` of the recorded machine, which selects the era; perf.data has it.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "RELEASE")]
    pub(crate) kernel_release: String,
    /// How frame numbers without 0x are read in a text.
    #[arg(long, value_enum, default_value_t = Radix::Auto)]
    pub(crate) pfn_radix: Radix,
    /// The page size of the recorded machine (`getconf PAGESIZE`); perf.data has it.
    #[arg(long, value_enum, default_value_t = PageSize::Kib4)]
    pub(crate) page_size: PageSize,
    #[command(flatten)]
    pub(crate) made: NewTrace,
}

/// The sizes of pages that Linux has.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PageSize {
    /// 4096 bytes.
    #[value(name = "4K")]
    Kib4,
    /// 16384 bytes.
    #[value(name = "16K")]
    Kib16,
    /// 65536 bytes.
    #[value(name = "64K")]
    Kib64,
}

impl PageSize {
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Kib4 => 4 << 10,
            Self::Kib16 => 16 << 10,
            Self::Kib64 => 64 << 10,
        }
    }
}

/// How frame numbers without 0x are read.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Radix {
    /// Detected from the text.
    Auto,
    /// As decimal numbers, which kernels before 5.8 print.
    Decimal,
    /// As hexadecimal numbers.
    Hex,
}

impl From<Radix> for PfnRadix {
    fn from(radix: Radix) -> Self {
        match radix {
            Radix::Auto => Self::Auto,
            Radix::Decimal => Self::Decimal,
            Radix::Hex => Self::Hex,
        }
    }
}
