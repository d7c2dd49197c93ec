//! Colours, and what stands for them where there are none.
//!
//! Nothing is told by colour alone: a letter, a number, a mark or a bar always says the same. The colours
//! are those of Okabe and Ito, which people who see few colours can tell apart, at their nearest places in
//! the palette of 256.

use ratatui::style::{Color, Modifier, Style};

use crate::model::Holds;

const BLACK: Color = Color::Indexed(16);
const SKY_BLUE: Color = Color::Indexed(74);
const BLUE_GREEN: Color = Color::Indexed(36);
const ORANGE: Color = Color::Indexed(172);
const VERMILION: Color = Color::Indexed(166);
const GREY: Color = Color::Indexed(244);

/// How much of a zone's free memory may be unusable before it is set off.
const MUCH: f64 = 0.5;

/// How much of it is nearly all.
const NEARLY_ALL: f64 = 0.9;

/// How things look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Theme {
    /// True if colours are used; otherwise bold and reverse alone stand for them.
    pub colour: bool,
}

impl Theme {
    fn with(self, colour: Color, plain: Style) -> Style {
        if self.colour { plain.fg(colour) } else { plain }
    }

    /// The first line and the last.
    pub(super) fn bar(self) -> Style {
        if self.colour {
            Style::new().fg(BLACK).bg(SKY_BLUE)
        } else {
            Style::new().add_modifier(Modifier::REVERSED)
        }
    }

    /// What must not be missed.
    pub(super) fn alarm(self) -> Style {
        if self.colour {
            Style::new().fg(BLACK).bg(ORANGE).add_modifier(Modifier::BOLD)
        } else {
            Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
        }
    }

    /// The head of a table.
    pub(super) fn head(self) -> Style {
        let plain = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        self.with(SKY_BLUE, plain)
    }

    /// The word before a line's numbers.
    pub(super) fn label(self) -> Style {
        self.with(SKY_BLUE, Style::new().add_modifier(Modifier::BOLD))
    }

    /// What keys have chosen.
    pub(super) fn chosen() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Numbers that say nothing: zeros, and what is unknown.
    pub(super) fn faint(self) -> Style {
        if self.colour { Style::new().fg(GREY) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// The share of free memory that is unusable.
    pub(super) fn unusable(self, share: f64) -> Style {
        if share >= NEARLY_ALL {
            self.with(VERMILION, Style::new().add_modifier(Modifier::BOLD))
        } else if share >= MUCH {
            self.with(ORANGE, Style::new())
        } else {
            Style::new()
        }
    }

    /// A line over time.
    pub(super) fn curve(self) -> Style {
        self.with(BLUE_GREEN, Style::new())
    }

    /// A cell of the map; the letter in it says the same.
    pub(super) fn cell(self, holds: Holds) -> Style {
        let plain = Style::new();
        if self.colour {
            let on = |colour| plain.fg(BLACK).bg(colour);
            return match holds {
                Holds::Absent => plain,
                Holds::Unread => on(GREY),
                Holds::Free => on(SKY_BLUE),
                Holds::Movable => on(BLUE_GREEN),
                Holds::Mixed => on(ORANGE),
                Holds::Stuck => on(VERMILION),
            };
        }
        match holds {
            Holds::Unread | Holds::Absent | Holds::Free => plain,
            Holds::Movable => plain.add_modifier(Modifier::BOLD),
            Holds::Mixed | Holds::Stuck => plain.add_modifier(Modifier::REVERSED),
        }
    }
}
