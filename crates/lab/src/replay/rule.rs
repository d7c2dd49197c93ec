//! A placement rule under test in replays.

use std::fmt;
use std::sync::Arc;

use freehold::{Chore, FallbackRequest, Offers, PageblockUse, PlacementChoice, PlacementRule};

type Make = dyn Fn() -> Box<dyn PlacementRule> + Send + Sync;

/// A named placement rule. Each replay creates its own instance, so that the state of a rule belongs to one replay.
#[derive(Clone)]
pub struct Rule {
    name: Arc<str>,
    make: Arc<Make>,
}

impl Rule {
    /// Returns a rule. `make` creates an instance for each replay, on the thread of the replay.
    pub fn new<R: PlacementRule + 'static>(name: &str, make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        Self { name: name.into(), make: Arc::new(move || Box::new(make())) }
    }

    /// Returns the name of the rule.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl PartialEq for Rule {
    /// Rules are equal if they are clones of one rule.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rule").field(&self.name).finish()
    }
}

/// The placement rule of one replay, if there is one.
pub(super) struct Ruling(Option<Box<dyn PlacementRule>>);

impl Ruling {
    /// No rule: the era decides.
    pub(super) const NONE: Self = Self(None);

    pub(super) fn new(rule: Option<&Rule>) -> Self {
        Self(rule.map(|rule| (rule.make)()))
    }
}

impl PlacementRule for Ruling {
    fn claim(&self, wanted: FallbackRequest, offers: Offers<'_>) -> PlacementChoice {
        self.0.as_ref().map_or(PlacementChoice::AsEra, |rule| rule.claim(wanted, offers))
    }

    fn steal(&self, wanted: FallbackRequest, offers: Offers<'_>) -> PlacementChoice {
        self.0.as_ref().map_or(PlacementChoice::AsEra, |rule| rule.steal(wanted, offers))
    }

    fn tidies(&self) -> bool {
        self.0.as_ref().is_some_and(|rule| rule.tidies())
    }

    fn chore(&self, pageblock: &PageblockUse, pages: u32) -> Chore {
        self.0.as_ref().map_or(Chore::AsEra, |rule| rule.chore(pageblock, pages))
    }
}
