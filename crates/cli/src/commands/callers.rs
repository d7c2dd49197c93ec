//! `freehold callers`: who calls for large blocks, and what that costs.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::{Duration, Instant};

use freehold_linux::HeededSignals;
use freehold_linux::blame::Symbols;
use freehold_linux::callers::CallerWatch;
use freehold_monitor::callers::{CallerFold, Callers};

use super::pass_time::pass_time;
use crate::args;
use crate::exit::Failure;
use crate::output::{self, FinishedFile};

/// How often the ring buffers are read.
const TURN: Duration = Duration::from_millis(50);

/// How long without a command and without `--duration`.
const USUAL_DURATION: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &args::Callers) -> Result<(), Failure> {
    // A file that cannot be created is reported before the watch.
    let mut file = args.folded.as_ref().map(|path| FinishedFile::create(path, args.force)).transpose()?;
    // From here on signals end the watch, and not this process without an answer.
    let _heeded = HeededSignals::new();
    let most = args.duration.or_else(|| args.command.is_empty().then_some(USUAL_DURATION));
    let mut watch = CallerWatch::start(args.order)?;
    let mut fold = CallerFold::default();
    let began = Instant::now();
    if io::stderr().is_terminal() {
        let end = most.map_or_else(String::new, |most| format!(" for {} s", most.as_secs_f64()));
        output::note(&format!("watching{end}; Ctrl-C ends it"));
    }
    pass_time(most, &args.command, TURN, || Ok(watch.turn(&mut |event, names| fold.add(event, names))?))?;
    let duration_ns = began.elapsed().as_nanos() as u64;
    let losses = watch.finish(&mut |event, names| fold.add(event, names))?;
    // Modules that were loaded meanwhile are among them. Without names the rest is still worth showing.
    let symbols = Symbols::read(Path::new("/")).unwrap_or_default();
    let stacks = fold.stack_names(&symbols, |stack| watch.stack(stack));
    let block_bytes = (rustix::param::page_size() as u64) << args.order.get();
    let mut callers = Callers::of(&fold, &stacks, losses, (args.order.get(), block_bytes, duration_ns));
    callers.without_symbols = symbols.is_empty();
    if let Some(file) = &mut file {
        file.write_text(&fold.folded(&stacks))?;
    }
    if let Some(file) = file {
        file.keep()?;
    }
    if args.json { output::print_json(&callers) } else { output::print(&callers.text(args.rows)) }
}
