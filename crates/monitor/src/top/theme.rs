//! Colours, and the styles that replace them on terminals without colours.
//!
//! Nothing is shown by colour alone: a letter, a number, a mark or a bar always shows the same. The
//! colours are those of Okabe and Ito, which people with colour-blindness can tell apart, at the nearest
//! entries of the palette of 256.

use ratatui::style::{Color, Modifier, Style};

use crate::model::Holds;

const BLACK: Color = Color::Indexed(16);
const SKY_BLUE: Color = Color::Indexed(74);
const BLUE_GREEN: Color = Color::Indexed(36);
const ORANGE: Color = Color::Indexed(172);
const VERMILION: Color = Color::Indexed(166);
const GREY: Color = Color::Indexed(244);

/// The unusable share of a zone's free memory above which it is highlighted.
const MUCH: f64 = 0.5;

/// The unusable share above which it is highlighted more strongly.
const NEARLY_ALL: f64 = 0.9;

/// The styles of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Theme {
    /// True if colours are used; otherwise bold and reverse replace them.
    pub colour: bool,
}

impl Theme {
    fn with(self, colour: Color, plain: Style) -> Style {
        if self.colour { plain.fg(colour) } else { plain }
    }

    /// Returns the style of the first line and the last.
    pub(super) fn bar(self) -> Style {
        if self.colour {
            Style::new().fg(BLACK).bg(SKY_BLUE)
        } else {
            Style::new().add_modifier(Modifier::REVERSED)
        }
    }

    /// Returns the style of warnings.
    pub(super) fn alarm(self) -> Style {
        if self.colour {
            Style::new().fg(BLACK).bg(ORANGE).add_modifier(Modifier::BOLD)
        } else {
            Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
        }
    }

    /// Returns the style of a table's head.
    pub(super) fn head(self) -> Style {
        let plain = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        self.with(SKY_BLUE, plain)
    }

    /// Returns the style of the word before a line's numbers.
    pub(super) fn label(self) -> Style {
        self.with(SKY_BLUE, Style::new().add_modifier(Modifier::BOLD))
    }

    /// Returns the style of what keys have selected.
    pub(super) fn chosen() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of zeros and unknown numbers.
    pub(super) fn faint(self) -> Style {
        if self.colour { Style::new().fg(GREY) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// Returns the style of the unusable share of free memory.
    pub(super) fn unusable(self, share: f64) -> Style {
        if share >= NEARLY_ALL {
            self.with(VERMILION, Style::new().add_modifier(Modifier::BOLD))
        } else if share >= MUCH {
            self.with(ORANGE, Style::new())
        } else {
            Style::new()
        }
    }

    /// Returns the style of a line over time.
    pub(super) fn curve(self) -> Style {
        self.with(BLUE_GREEN, Style::new())
    }

    /// Returns the style of a cell of the map. The letter in the cell shows the same.
    pub(super) fn cell(self, holds: Holds) -> Style {
        let plain = Style::new();
        if self.colour {
            let on = |colour| plain.fg(BLACK).bg(colour);
            return match holds {
                Holds::Absent => plain,
                Holds::Unread => on(GREY),
                Holds::Free | Holds::Listed => on(SKY_BLUE),
                Holds::Movable => on(BLUE_GREEN),
                Holds::Mixed => on(ORANGE),
                Holds::Stuck => on(VERMILION),
            };
        }
        match holds {
            Holds::Unread | Holds::Absent | Holds::Free | Holds::Listed => plain,
            Holds::Movable => plain.add_modifier(Modifier::BOLD),
            Holds::Mixed | Holds::Stuck => plain.add_modifier(Modifier::REVERSED),
        }
    }
}
