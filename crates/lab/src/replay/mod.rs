//! One replay: a prepared trace and a variant of the allocator come in, measures go out.
//!
//! `follow.rs` replays the events in a `variant.rs`, which may contain a rule under test (`rule.rs`). `ledger` maps
//! traced blocks to replayed ones and knows page cache and moved pages. `daemons.rs` runs kswapd and kcompactd;
//! `budget.rs` limits background moves. `sampling.rs` samples zones, `watch.rs` receives the engine's tracepoints,
//! and `measures.rs` is the result. `agreement.rs` compares answers with those of the machine. `untraced.rs` finds
//! allocations without an event.

mod agreement;
mod alloc_request;
mod budget;
mod clocks;
mod control;
mod daemons;
mod ending;
mod fallback_place;
mod follow;
mod lab;
mod ledger;
mod measures;
mod one_thread;
mod options;
mod pageblock_map;
mod parallel;
mod reclaimed;
mod rule;
mod run;
mod sampling;
mod untraced;
mod variant;
mod watch;

pub use agreement::{Agreed, Agreement, PARTS, Parting};
pub(crate) use budget::CPU_SHARE;
pub(crate) use clocks::{RefreshClock, TidyingClock};
pub use control::Control;
pub(crate) use daemons::EVENTS_PER_WAKE_UP;
pub use fallback_place::FallbackPlace;
pub use lab::Lab;
pub use measures::{Followed, Measures, OverTime, ReplaySample, Timing, ZoneFree, ZoneSample};
pub use options::{Background, Options, SampleDetail};
pub use pageblock_map::{MapCell, ReplayPageblocks};
pub(crate) use parallel::in_parallel;
pub use rule::Rule;
pub use run::{Moment, Replay};
pub(crate) use sampling::Schedule;
pub use variant::{Replaced, Variant, nearest_era};
