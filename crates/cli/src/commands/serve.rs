//! `freehold serve`: shows this machine's memory to browsers and Prometheus.

use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_monitor::serve::{ServeOptions, serve};

use crate::args::Serve;
use crate::exit::Failure;
use crate::output;

pub(crate) fn run(args: &Serve) -> Result<(), Failure> {
    let mut sampler = Sampler::open(&args.sensing.root, args.sensing.sensor.into())?;
    sampler.survey_pageblocks(Pace::Unseen);
    let options =
        ServeOptions { listen: args.listen, interval: args.interval, web_config: args.web_config.clone() };
    serve(options, sampler, &mut |text| output::note(&format!("freehold: {text}")))?;
    Ok(())
}
