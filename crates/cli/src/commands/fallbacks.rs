//! `freehold fallbacks`: which types take blocks from which, by the events alone.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::anyhow;
use freehold::Order;
use freehold_lab::analysis::{FallbackCounter, Fallbacks};
use freehold_linux::ftrace_text::TextOptions;
use freehold_linux::procfs::{parse_free_lists, release_numbers};
use freehold_linux::read_events;
use freehold_trace::{Event, KernelTypes};

use crate::args;
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output;

/// The start of an Arrow stream, as traces are.
const ARROW_START: [u8; 4] = [0xff; 4];

/// The first kernel that numbers its types as later ones do.
const TODAYS_TYPES: (u32, u32) = (4, 4);

/// The types of kernels before that, by their numbers.
const OLD_TYPES: [&str; 6] = ["Unmovable", "Reclaimable", "Movable", "Reserve", "CMA", "Isolate"];

pub(crate) fn run(args: &args::Fallbacks) -> Result<(), Failure> {
    let fallbacks = if is_trace(&args.file) { of_trace(&args.file)? } else { of_text(args)? };
    if args.json { output::print_json(&fallbacks) } else { output::print(&fallbacks.text()) }
}

fn is_trace(file: &Path) -> bool {
    let mut start = [0; 4];
    // A pipe is no trace, and what it gives is not lost.
    let read = file.is_file() && File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    read && start == ARROW_START
}

fn of_trace(file: &Path) -> Result<Fallbacks, Failure> {
    let input = args::Input { trace: file.to_owned(), partial: false };
    let mut reader = load::open(&input)?;
    let mut counter = FallbackCounter::default();
    while let Some(batch) = reader.next_batch()? {
        for event in batch {
            counter.add(event);
        }
    }
    load::warn_if_cut_short(&reader, &input);
    Ok(counter.finish())
}

fn of_text(args: &args::Fallbacks) -> Result<Fallbacks, Failure> {
    let options = TextOptions {
        types: types(args)?,
        largest: Order::MAX,
        kernel_release: args.kernel_release.clone(),
        ..TextOptions::default()
    };
    let mut counter = FallbackCounter::default();
    let mut add = |event: Event| {
        counter.add(&event);
        Ok(())
    };
    read_events(&args.file, &options, &mut add)?;
    Ok(counter.finish())
}

/// Returns the kernel's types by their numbers.
fn types(args: &args::Fallbacks) -> Result<KernelTypes, Failure> {
    if let Some(path) = &args.pagetypeinfo {
        let refused = |error: &dyn std::fmt::Display| {
            Failure::new(Cause::Data, anyhow!("{}: {error}. Name a whole copy of the file", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|error| refused(&error))?;
        return Ok(parse_free_lists(&text).map_err(|error| refused(&error))?.types);
    }
    let numbers = release_numbers(&args.kernel_release);
    if numbers.is_some_and(|numbers| numbers < TODAYS_TYPES) {
        return Ok(KernelTypes::from_names(OLD_TYPES).unwrap_or_default());
    }
    Ok(TextOptions::default().types)
}
