//! `freehold blame --page-owner`: a pasted dump of `page_owner` alone.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, anyhow};
use freehold_linux::blame::read_owner_dump;
use freehold_monitor::blame::OwnerTables;

use crate::args::Blame;
use crate::exit::{Cause, Failure};
use crate::output;

/// The bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Sums up the records of a dump, by pageblock and code.
pub(super) fn run(args: &Blame, dump: &Path) -> Result<(), Failure> {
    let name = if dump == Path::new("-") { "standard input".to_owned() } else { dump.display().to_string() };
    let unreadable = |error: anyhow::Error| Failure::new(Cause::NoInput, error);
    let cannot = || format!("cannot read {name}; name a copy of /sys/kernel/debug/page_owner");
    let mut text = open(dump).with_context(cannot).map_err(unreadable)?;
    let mut tables = OwnerTables::default();
    let counts = read_owner_dump(&mut *text, &mut |record| tables.add(record));
    let counts = counts.with_context(cannot).map_err(unreadable)?;
    if counts.records == 0 {
        let what = anyhow!(
            "{name}: no record of page_owner (`Page allocated via order …`, then `PFN … type … Block … type …`) in {} lines. \
             Pass the contents of /sys/kernel/debug/page_owner",
            counts.lines
        );
        return Err(Failure::new(Cause::Data, what));
    }
    let table = tables.finish(counts);
    if args.json { output::print_json(&table) } else { output::print(&table.text(args.rows)) }
}

fn open(dump: &Path) -> io::Result<Box<dyn BufRead>> {
    if dump == Path::new("-") {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, io::stdin().lock())));
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER, File::open(dump)?)))
}
