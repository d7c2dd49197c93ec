//! What keys can do, and the pages that they can show.

/// What a key does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Ends the program.
    Quit,
    /// Returns from a page to the table; on the table, ends the program.
    Back,
    /// Shows a page, or the table if that page is already shown.
    Show(Page),
    /// Selects the next zone.
    NextZone,
    /// Selects the zone before.
    PreviousZone,
    /// Selects the next larger order.
    LargerOrder,
    /// Selects the next smaller order.
    SmallerOrder,
    /// Takes samples less often.
    Rarer,
    /// Takes samples more often.
    MoreOften,
    /// Stops taking samples, or goes on.
    Pause,
    /// Clears the screen and draws it anew.
    Wipe,
    /// Stops the process and gives the terminal back until the shell continues it.
    Suspend,
}

/// A page, which fills the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Page {
    /// The table of types and orders, and a summary of everything else.
    #[default]
    Table,
    /// What each pageblock holds.
    Map,
    /// Every rate and its meaning.
    Rates,
    /// Everything that could not be read, in full.
    Notes,
    /// The keys.
    Help,
}
