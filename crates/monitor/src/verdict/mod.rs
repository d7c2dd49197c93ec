//! Verdicts: a machine's readings and a request come in; out goes whether it can be served now, after compaction, after reclaim, or
//! not at all.
//!
//! [`judge`] is the entry point, and [`standing`] judges a sample for page, `top`, metrics and `watch`. `compaction.rs` walks the
//! pageblocks as the kernel's two scanners do; `listed.rs` and `cpu_lists.rs` predict CPUs' lists; `supply.rs` subtracts watermarks
//! and reserves. `holders.rs` ranks owners, `doubt.rs` names what is uncertain, `sentences.rs` says it. `plan.rs` chooses the steps
//! of `repair`, and `relief.rs` says who must free memory. Blocks above the largest order are contiguous ranges ([`RangeMap`],
//! `range_rules.rs`). `rehearsal` judges the requests of a launch one after another.

mod action;
mod answer;
mod blocks;
mod compaction;
mod counted;
mod cpu_lists;
mod doubt;
mod evidence;
mod extra_steps;
mod forecast;
mod highest_zone;
mod holders;
mod judge;
mod listed;
mod plan;
mod predictor;
mod range_map;
mod range_rules;
mod range_sentences;
mod ranges;
mod rehearsal;
mod relief;
mod request;
mod reserves;
mod sampled;
mod sentences;
mod size;
mod standing;
mod step;
mod supply;
mod words;

pub use answer::{NodeVerdict, State, Verdict};
pub use blocks::{Block, blocks_of};
pub use compaction::{Bound, Compacted, Fate, Limits, Mobility, PredictedBlock, compact, likely_type};
pub use counted::pages_on_lists;
pub use cpu_lists::CpuLists;
pub use doubt::Doubt;
pub use evidence::{Evidence, Names, SlabShare};
pub use forecast::{Forecast, ForecastInputs, Requester};
pub use highest_zone::HighestZone;
pub use holders::{Holder, HolderKind, Named};
pub use judge::judge;
pub use range_map::{RangeHolder, RangeMap};
pub use range_rules::RangeRules;
pub use ranges::{Range, RangePages, RangeState};
pub use rehearsal::{
    Amount, Demand, DemandError, DemandKind, DemandLine, LaunchRequest, LineOutcome, Rehearsal, Start,
    rehearse,
};
pub use request::BlockRequest;
pub use sampled::{Estimate, QuickVerdict, SampleTally, Sampled, judge_quick};
pub use size::{SizeError, SizeText, largest_range, order_of_size, parse_bytes};
pub use standing::{NeededBlocks, Standing, standing};
pub use step::{RepairPlan, RepairStep, RepairWork};
pub use supply::{Supply, ZoneSupply};
