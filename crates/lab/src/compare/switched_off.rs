//! The newest era without each of its systems and rules, one at a time.

use freehold::{Era, Switch};
use serde::Serialize;

use crate::replay::Measures;

/// The era whose systems and rules are turned off one at a time. It has all of them.
pub(super) const BASE: Era = Era::Freehold;

/// Returns the switches that are turned off one at a time: the four systems, then the rules of placement.
pub(super) fn turned_off() -> impl Iterator<Item = Switch> {
    Switch::ALL.into_iter().chain(Switch::PLACEMENT)
}

/// What a replay measured without one system or rule.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Without {
    /// The name of the system or rule.
    pub switch: &'static str,
    /// The measures without it.
    pub measures: Measures,
}
