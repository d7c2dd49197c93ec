//! The arguments of `freehold generate`.

use std::path::PathBuf;

use clap::Args;
use freehold::Era;
use freehold_lab::workload::Workload;

use super::common::{Form, parse_era, parse_size};

const WORKLOADS: &str = "\
Workloads:
  memcache-kbuild-thp  a cache server, parallel builds one after the other, batches of huge page faults
  mmap-read            readers of mapped files fill the page cache of a fragmented memory
  boot-free            a boot that frees more than 2 000 pages at once, a hundred times
  pagealloc            blocks of orders 4 and 0, N at a time, on one CPU
  mix                  requests drawn from the distributions of a recorded trace (--like)

The same seed and options give the same trace, byte for byte.";

#[derive(Args, Debug)]
#[command(after_help = WORKLOADS)]
pub(crate) struct Generate {
    /// Which workload.
    #[arg(value_parser = parse_workload, value_name = "WORKLOAD")]
    pub(crate) workload: Workload,
    /// The trace to write.
    #[arg(short, long, value_name = "FILE", required_unless_present = "table")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Another seed, another trace.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Which generation of the allocator the machine has [default: linux-6.12; of a table, linux-6.1].
    #[arg(long, value_parser = parse_era, value_name = "ERA")]
    pub(crate) era: Option<Era>,
    /// Memory of the machine, such as 512MiB or 4GiB [default: 1GiB; of mix, the recorded machine's].
    #[arg(long, value_parser = parse_pages, value_name = "SIZE")]
    pub(crate) memory: Option<u64>,
    /// CPUs of the machine [default: 4; of mix, the recorded machine's].
    #[arg(long, value_name = "N")]
    pub(crate) cpus: Option<u16>,
    /// Stop after about this many events instead of when the workload is done.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "table")]
    pub(crate) events: Option<u64>,
    /// Builds of memcache-kbuild-thp [default: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) builds: Option<u64>,
    /// The recorded trace that mix draws from.
    #[arg(long, value_name = "TRACE")]
    pub(crate) like: Option<PathBuf>,
    /// Write no trace, and print the table of the hygiene series: memcache-kbuild-thp without
    /// hygiene and with it, beside the series' own figures.
    #[arg(long, conflicts_with_all = ["output", "force"])]
    pub(crate) table: bool,
    #[command(flatten)]
    pub(crate) form: Form,
}

fn parse_workload(name: &str) -> Result<Workload, String> {
    Workload::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Workload::ALL.iter().map(|workload| workload.name()).collect();
        format!("the workloads are {}", known.join(", "))
    })
}

/// Parses a size in bytes and returns it in pages of 4 KiB.
fn parse_pages(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 6] =
        [("MiB", 1 << 8), ("M", 1 << 8), ("GiB", 1 << 18), ("G", 1 << 18), ("TiB", 1 << 28), ("T", 1 << 28)];
    let pages = parse_size(text, &UNITS).filter(|&pages| pages > 0);
    pages.ok_or_else(|| "a size such as 512MiB or 4GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_pages("4GiB"), Ok(1 << 20));
        assert_eq!(parse_pages("64M"), Ok(1 << 14));
        for wrong in ["", "4", "GiB", "-1GiB", "4KiB", "0GiB", "99999999999999999999T", "99999999999TiB"] {
            assert!(parse_pages(wrong).is_err(), "{wrong}");
        }
    }
}
