//! `freehold import`: turns another tracer's text into a trace.

use freehold_linux::{ImportOptions, TraceSink, import};
use freehold_trace::WriteOptions;

use crate::args::Import;
use crate::exit::Failure;
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &Import) -> Result<(), Failure> {
    let inputs = [&args.text, &args.zoneinfo, &args.pagetypeinfo];
    let inputs = inputs.into_iter().chain(&args.kpageflags).chain(&args.pagetypeinfo_end);
    output::refuse_input(&args.made.output, inputs)?;
    let mut file = FinishedFile::create(&args.made.output, args.made.force)?;
    let name = args.made.name();
    let mut sink = TraceSink::new(&mut file, WriteOptions::new(&name));
    let options = ImportOptions {
        text: args.text.clone(),
        zoneinfo: args.zoneinfo.clone(),
        pagetypeinfo: args.pagetypeinfo.clone(),
        kpageflags: args.kpageflags.clone(),
        pagetypeinfo_end: args.pagetypeinfo_end.clone(),
        kernel_release: args.kernel_release.clone(),
        pfn_radix: args.pfn_radix.into(),
        page_bytes: args.page_size.bytes(),
    };
    let counts = import(&options, &mut sink)?;
    file.keep()?;
    let text = args.text.display();
    output::note(&format!(
        "{name}: {} events from {} lines of {text}; {} lines of other events, {} events lost",
        counts.events, counts.lines, counts.other_lines, counts.lost
    ));
    if counts.cut_off {
        output::note(&format!("{text} ends in the middle of a line, which was left out"));
    }
    Ok(())
}
