//! `freehold serve`: shows this machine's memory to browsers and Prometheus.

use std::path::Path;

use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_linux::sensor::Choice;
use freehold_monitor::serve::{ServeOptions, serve, serve_text};
use freehold_monitor::text::Cap;

use super::kernel_text::{KernelText, TextReader};
use super::needs::needs;
use crate::args::Serve;
use crate::exit::Failure;
use crate::output;

pub(crate) fn run(args: &Serve) -> Result<(), Failure> {
    if let Some(path) = &args.socket {
        return on_socket(args, path);
    }
    let mut sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    sampler.survey_pageblocks(Pace::Served);
    let options = ServeOptions {
        listen: args.listen,
        interval: args.interval,
        needs: needs(&args.needs, &args.sensing.root, sampler.machine())?,
        web_config: args.web_config.clone(),
    };
    serve(options, sampler, &mut |text| output::note(&format!("freehold: {text}")))?;
    Ok(())
}

/// Serves pagetypeinfo's text on a Unix socket. The file itself is read only if required by `--sensor procfs`.
fn on_socket(args: &Serve, path: &Path) -> Result<(), Failure> {
    let choice = match args.sensing.sensor.into() {
        Choice::Auto => Choice::Bpf,
        chosen => chosen,
    };
    let mut reader = TextReader::open(&args.sensing.root, choice, KernelText::Pagetypeinfo, Cap::Kernels)?;
    // What cannot be read at all ends the server before it listens.
    reader.read()?;
    output::notes(&reader.notes());
    let mut tell = |text: &str| output::note(&format!("freehold: {text}"));
    serve_text(path, &mut || reader.read().map_err(|failure| failure.to_string()), &mut tell)?;
    Ok(())
}
