//! The arguments of `freehold dev generate`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use freehold::Era;

use super::common::{parse_era, parse_size};

#[derive(Args, Debug)]
#[command(after_help = "The same seed and options give the same trace, byte for byte.")]
pub(crate) struct Generate {
    /// The workload.
    #[arg(value_parser = [PossibleValue::new("mmap-read").help(
        "Readers of mapped files fill the page cache of a fragmented memory"
    )], value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// The trace to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// The seed of the random numbers.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// The era of the machine's allocator.
    #[arg(long, value_parser = parse_era, default_value = "linux-6.12", value_name = "ERA")]
    pub(crate) era: Era,
    /// Memory of the machine, such as 512MiB or 4GiB.
    #[arg(long, value_parser = parse_pages, default_value = "1GiB", value_name = "SIZE")]
    pub(crate) memory: u64,
    /// CPUs of the machine.
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub(crate) cpus: u16,
    /// Stop after about this many events instead of when the workload is done.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) events: Option<u64>,
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
