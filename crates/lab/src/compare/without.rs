//! The newest era without one of its systems and rules each.

use freehold::{Era, Switch};
use serde::Serialize;

use crate::replay::Measures;

/// The era whose systems are turned off one at a time: it has them all.
pub(super) const BASE: Era = Era::Freehold;

/// What is turned off one at a time: the four systems, then the rules of placement.
pub(super) fn turned_off() -> impl Iterator<Item = Switch> {
    Switch::ALL.into_iter().chain(Switch::PLACEMENT)
}

/// What the replay measures without one system or rule.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Without {
    /// Name of the system or rule.
    pub switch: &'static str,
    /// Without it.
    pub measures: Measures,
}
