//! `freehold import`: turns what another tracer wrote into a trace.

use freehold_linux::ftrace_text::TextCounts;
use freehold_linux::{ImportOptions, Imported, TraceSink, import};
use freehold_trace::WriteOptions;

use crate::args::Import;
use crate::exit::Failure;
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &Import) -> Result<(), Failure> {
    let inputs = [&args.source, &args.zoneinfo, &args.pagetypeinfo];
    let inputs = inputs.into_iter().chain(&args.kpageflags).chain(&args.pagetypeinfo_end);
    output::refuse_input(&args.made.output, inputs)?;
    let mut file = FinishedFile::create(&args.made.output, args.made.force)?;
    let name = args.made.name();
    let mut sink = TraceSink::new(&mut file, WriteOptions::new(&name));
    let options = ImportOptions {
        source: args.source.clone(),
        zoneinfo: args.zoneinfo.clone(),
        pagetypeinfo: args.pagetypeinfo.clone(),
        kpageflags: args.kpageflags.clone(),
        pagetypeinfo_end: args.pagetypeinfo_end.clone(),
        kernel_release: args.kernel_release.clone(),
        pfn_radix: args.pfn_radix.into(),
        page_bytes: args.page_size.bytes(),
    };
    let imported = import(&options, &mut sink)?;
    file.keep()?;
    let source = args.source.display();
    match imported {
        Imported::Text(counts) => {
            output::note(&format!(
                "{name}: {} events from {} lines of {source}; {} lines of other events, {} events lost",
                counts.events, counts.lines, counts.other_lines, counts.lost
            ));
            for note in notes_of(&counts) {
                output::note(&note);
            }
            if counts.cut_off {
                output::note(&format!("{source} ends in the middle of a line, which was left out"));
            }
        }
        Imported::PerfData(counts) => output::note(&format!(
            "{name}: {} events from {} records of {source}; {} samples of other events, {} records lost",
            counts.events, counts.records, counts.other_samples, counts.lost
        )),
    }
    Ok(())
}

/// Returns what a user should know of the text's flags and frees, a sentence each.
fn notes_of(counts: &TextCounts) -> Vec<String> {
    let mut notes = Vec::new();
    let events = match counts.numeric_flags {
        1 => "1 event".to_owned(),
        many => format!("{many} events"),
    };
    if counts.numeric_flags > 0 && counts.knows_bits {
        notes.push(format!("the flags of {events} are numbers, read by the bits of --kernel-release"));
    } else if counts.numeric_flags > 0 {
        notes.push(format!(
            "the flags of {events} are numbers without names and remain unknown: name the kernel by --kernel-release, which \
             tells the bits of Linux 6.10 and later"
        ));
    }
    let left_out = "as kernels before 2.6.34 print them, and left out";
    match counts.repeated_frees {
        0 => {}
        1 => notes.push(format!("1 free repeats the line before it, {left_out}")),
        many => notes.push(format!("{many} frees repeat the lines before them, {left_out}")),
    }
    notes
}
