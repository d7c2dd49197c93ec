//! The comparison of eras: measures of replays and what was recorded come in; tables, sentences and pictures go out.
//!
//! `run.rs` replays and `comparison.rs` is the data, which `tables.rs`, `sentences.rs`, `picture.rs`, `json.rs` and
//! `summary.rs` render. `subjects.rs` names the compared measures, `replicates.rs` has the noise, and `change.rs`
//! compares changes with the noise. `steps.rs` separates the changes of an era; `attributed.rs` applies each alone.
//! `distance.rs` and `trust.rs` compare replay and machine. `hindsight.rs` is the best possible placement,
//! `proactive_baseline.rs` proactive compaction at equal cost.

mod attributed;
mod change;
mod comparison;
mod distance;
mod hindsight;
mod json;
mod measured;
mod measured_row;
#[cfg(feature = "report")]
mod picture;
mod proactive_baseline;
mod replicates;
mod run;
mod screen;
mod sentences;
mod steps;
mod subjects;
mod summary;
mod tables;
mod trust;

pub use attributed::Attributed;
pub use comparison::{CompareOptions, Comparison, UNKNOWN_RELEASE};
pub use distance::{EndDistance, ZoneDistance};
pub use hindsight::{Hindsight, HindsightBound};
pub use measured::Measured;
#[cfg(feature = "report")]
pub(crate) use picture::{Place, unusable_index};
pub use proactive_baseline::ProactiveBaseline;
pub use replicates::{MOST_SHIFTS, Replicates};
pub(crate) use replicates::{shifts, spreads};
pub use screen::SCREEN;
pub use steps::EraStep;
pub(crate) use subjects::values;
pub use summary::{Section, Summary};
pub(crate) use trust::SUBJECTS as TRUST_SUBJECTS;
pub use trust::{Trust, TrustPart, trust_table};
