//! The arguments of `freehold predict`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use freehold::{Era, Switch};
use freehold_lab::sweep::{Knob, Value};

use super::common::{parse_era, parse_knob, parse_switch, parse_value};

pub(super) const LONG_ABOUT: &str = "\
Foretell from recordings under one setting what each measure would be under another: each recording is \
replayed as it was recorded, in the era nearest to its kernel, and with the change, several times with the \
daemons' looks shifted. With --against, hold that against recordings of the same work under the change: did \
the direction come, and the size?

Five recordings a side are a good number: a difference is told only if its 99 % confidence interval leaves out 0.";

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("change").args(["set", "era", "with", "without"]).required(true).multiple(true))]
pub(crate) struct Predict {
    /// Recordings of one work under one setting.
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// A setting with its new value, such as counts=on; `freehold sweep --help` lists them.
    #[arg(long, value_parser = parse_set, value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<(Knob, Value)>,
    /// Another generation of the allocator.
    #[arg(long, value_parser = parse_era, value_name = "ERA")]
    pub(crate) era: Option<Era>,
    /// Turn a system or a rule on.
    #[arg(long = "with", value_parser = parse_switch, value_name = "SYSTEM")]
    pub(crate) with: Vec<Switch>,
    /// Turn a system or a rule off.
    #[arg(long = "without", value_parser = parse_switch, value_name = "SYSTEM")]
    pub(crate) without: Vec<Switch>,
    /// Recordings of the same work under the change.
    #[arg(long, num_args = 1.., value_name = "TRACE")]
    pub(crate) against: Vec<PathBuf>,
    /// Replays of each recording, without and with the change, the daemons' looks shifted.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=i64::from(freehold_lab::MOST_SHIFTS)), value_name = "N")]
    pub(crate) replicates: u32,
    /// What moving a page takes on this machine, in nanoseconds; what each recording tells where not given, and 4000 where it
    /// tells nothing.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), value_name = "NS")]
    pub(crate) page_move_ns: Option<u64>,
    /// Use what is readable of a trace that ends in the middle of a record.
    #[arg(long)]
    pub(crate) partial: bool,
    /// Replays at the same time; as many as there are processors where not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub(crate) threads: Option<u16>,
    /// Print every measure, and why recordings cannot tell.
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Predict {
    /// What is changed, as knobs of the sweep with their values.
    pub(crate) fn turned(&self) -> Vec<(Knob, Value)> {
        let word = |name: &str, word: &str| Some((Knob::from_name(name)?, Value::Word(word.to_owned())));
        let era = self.era.and_then(|era| word("era", era.name()));
        let with = self.with.iter().filter_map(|switch| word(switch.name(), "on"));
        let without = self.without.iter().filter_map(|switch| word(switch.name(), "off"));
        era.into_iter().chain(with).chain(without).chain(self.set.iter().cloned()).collect()
    }
}

fn parse_set(text: &str) -> Result<(Knob, Value), String> {
    let (knob, value) = parse_knob(text, "VALUE")?;
    Ok((knob, parse_value(knob, value)?))
}
