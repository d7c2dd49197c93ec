//! `freehold replay`: replays one trace through one era, in depth.

use freehold_lab::{Options, Variant};
use serde::Serialize;

use crate::args::Replay;
use crate::exit::Failure;
use crate::load;
use crate::output::{self, csv};

/// The JSON of a replay.
#[derive(Serialize)]
struct Report<'a> {
    start: &'a freehold_lab::StartReport,
    replay: &'a freehold_lab::Replay,
    tables: Vec<freehold_measure::Table>,
    gaps: &'a freehold_lab::Gaps,
}

pub(crate) fn run(args: &Replay) -> Result<(), Failure> {
    let loaded = load::whole(&args.input)?;
    let lab = load::lab(&loaded)?;
    let variant =
        Variant { with: args.with.clone(), without: args.without.clone(), ..Variant::new(args.era) };
    let options = Options { runs: args.timing_rounds, ..Options::default() };
    let replay = lab.replay(&variant, options).map_err(|error| load::failure(&loaded.name, error))?;
    if args.pagetypeinfo {
        return output::print(&replay.pagetypeinfo);
    }
    let mut tables = lab.describe(&replay);
    tables.push(replay.measures.agreement.table());
    let gaps = lab.gaps();
    if args.form.json {
        output::print_json(&Report { start: lab.start_report(), replay: &replay, tables, gaps: &gaps })
    } else if args.form.csv {
        output::print(&csv(&tables))
    } else {
        let tables: Vec<_> = tables.iter().map(freehold_measure::Table::to_text).collect();
        let uncertain = gaps.sentences(&replay.measures.followed);
        let uncertain: Vec<_> = uncertain.iter().map(|sentence| format!("{sentence}\n")).collect();
        output::print(&format!(
            "{}\n{}\nevent by event: {}\n{}\n{}",
            loaded.headline(),
            lab.start_report().summary(),
            replay.measures.agreement,
            uncertain.concat(),
            tables.join("\n\n")
        ))
    }
}
