//! The comparison of eras: measures of replays and what was recorded go in; tables, sentences and pictures come out.

mod attributed;
mod chance;
mod change;
mod comparison;
mod distance;
mod hindsight;
mod json;
mod measured;
mod measured_row;
#[cfg(feature = "report")]
mod picture;
mod rival;
mod run;
mod screen;
mod sentences;
mod steps;
mod subjects;
mod summary;
mod tables;
mod trust;

pub use attributed::Attributed;
pub use chance::{Chance, MOST_SHIFTS};
pub(crate) use chance::{shifts, spreads};
pub use comparison::{CompareOptions, Comparison, UNTOLD};
pub use distance::{EndDistance, ZoneDistance};
pub use hindsight::{Bound, Hindsight};
pub use measured::Measured;
#[cfg(feature = "report")]
pub(crate) use picture::{Place, unusable_index};
pub use rival::Rival;
pub use screen::SCREEN;
pub use steps::EraStep;
pub(crate) use subjects::values;
pub use summary::{Section, Summary};
pub(crate) use trust::SUBJECTS as TRUST_SUBJECTS;
pub use trust::{Trust, TrustPart, trust_table};
