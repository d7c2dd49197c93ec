//! The comparison of eras: measures of replays and what was recorded go in; tables, sentences and pictures come out.

mod chance;
mod comparison;
mod distance;
mod hindsight;
mod picture;
mod sentences;
mod switched_off;
mod tables;
mod trust;

pub use chance::{Chance, MOST_SHIFTS};
pub use comparison::{CompareOptions, Comparison, UNTOLD};
pub use distance::{EndDistance, ZoneDistance};
pub use hindsight::{Bound, Hindsight};
pub(crate) use picture::{Place, unusable_index};
pub use switched_off::Without;
pub use trust::{Trust, TrustPart, trust_table};
