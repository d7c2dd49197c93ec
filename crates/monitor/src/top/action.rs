//! What can be done, and the pages that can be shown.

/// What a key does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Ends.
    Quit,
    /// Leaves a page for the table, and ends there.
    Back,
    /// Shows a page, or the table again where it is shown already.
    Show(Page),
    /// Looks at the next zone.
    NextZone,
    /// Looks at the zone before.
    PreviousZone,
    /// Looks at larger blocks.
    LargerOrder,
    /// Looks at smaller blocks.
    SmallerOrder,
    /// Takes samples less often.
    Rarer,
    /// Takes samples more often.
    MoreOften,
    /// Stops taking samples, or goes on.
    Pause,
    /// Wipes the screen and draws anew.
    Wipe,
    /// Gives the terminal back until the shell says to go on.
    Suspend,
}

/// What fills the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Page {
    /// A bit of everything, above all the table of types and orders.
    #[default]
    Table,
    /// What each pageblock holds.
    Map,
    /// Every rate, with what it means.
    Rates,
    /// What could not be had, in full.
    Notes,
    /// The keys.
    Help,
}
