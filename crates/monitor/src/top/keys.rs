//! The keys: one table both for what they do and for the help page.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::action::{Action, Page};

/// Keys with the same action.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The keys.
    pub keys: &'static [Key],
    /// The text on the help page.
    pub does: &'static str,
    /// The word in the last line of the screen; empty if the line does not show it.
    pub hint: &'static str,
    /// The action.
    pub action: Action,
}

/// A key, alone or with Ctrl.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// Alone. Shift is in the character.
    Plain(KeyCode),
    /// With Ctrl.
    Ctrl(char),
}

use Key::{Ctrl, Plain};

const fn char(character: char) -> Key {
    Plain(KeyCode::Char(character))
}

const fn binding(keys: &'static [Key], action: Action, hint: &'static str, does: &'static str) -> Binding {
    Binding { keys, does, hint, action }
}

/// Every binding, in the order of the help page.
pub const BINDINGS: [Binding; 16] = [
    binding(&[char('q'), Ctrl('c')], Action::Quit, "quit", "quit"),
    binding(&[char('?'), char('h')], Action::Show(Page::Help), "help", "this page"),
    binding(&[Plain(KeyCode::Tab), Plain(KeyCode::Down)], Action::NextZone, "zone", "the next zone"),
    binding(&[Plain(KeyCode::BackTab), Plain(KeyCode::Up)], Action::PreviousZone, "", "the zone before"),
    binding(
        &[char('o'), Plain(KeyCode::Right)],
        Action::LargerOrder,
        "order",
        "larger blocks: the order whose index and trend are shown",
    ),
    binding(&[char('O'), Plain(KeyCode::Left)], Action::SmallerOrder, "", "smaller blocks"),
    binding(&[char('t')], Action::Show(Page::Table), "table", "free blocks by type and order"),
    binding(&[char('m')], Action::Show(Page::Map), "map", "what each pageblock holds"),
    binding(&[char('r')], Action::Show(Page::Rates), "rates", "every rate, with its total and what it means"),
    binding(&[char('n')], Action::Show(Page::Notes), "notes", "what could not be had, in full"),
    binding(&[char('p'), char(' ')], Action::Pause, "pause", "stop taking samples, or go on"),
    binding(&[char('+'), char('=')], Action::Rarer, "rarer", "samples less often, up to 60 s apart"),
    binding(&[char('-')], Action::MoreOften, "oftener", "samples more often, down to 0.1 s apart"),
    binding(&[Plain(KeyCode::Esc)], Action::Back, "", "back to the table; quit from there"),
    binding(&[Ctrl('l')], Action::Wipe, "", "draw the screen anew"),
    binding(&[Ctrl('z')], Action::Suspend, "", "give the terminal back until `fg`"),
];

/// Returns the action of a key event, or `None` if the key has none.
pub fn action(event: &KeyEvent) -> Option<Action> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let pressed = match event.code {
        KeyCode::Char(letter) if event.modifiers.contains(KeyModifiers::CONTROL) => {
            Ctrl(letter.to_ascii_lowercase())
        }
        _ if event.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER) => return None,
        code => Plain(code),
    };
    BINDINGS.iter().find(|binding| binding.keys.contains(&pressed)).map(|binding| binding.action)
}

impl Key {
    /// Returns the label of the key.
    pub fn name(self) -> String {
        match self {
            Ctrl(letter) => format!("Ctrl-{}", letter.to_ascii_uppercase()),
            Plain(KeyCode::Char(' ')) => "Space".to_owned(),
            Plain(KeyCode::Char(letter)) => letter.to_string(),
            Plain(KeyCode::BackTab) => "Shift-Tab".to_owned(),
            Plain(code) => format!("{code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
        action(&KeyEvent::new(code, modifiers))
    }

    #[test]
    fn no_key_stands_for_two_things() {
        let keys: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.keys).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key:?}");
        }
        assert!(BINDINGS.iter().all(|binding| !binding.keys.is_empty() && !binding.does.is_empty()));
    }

    #[test]
    fn keys_differ_by_ctrl_and_case() {
        let plain = |letter| press(KeyCode::Char(letter), KeyModifiers::NONE);
        assert_eq!((plain('q'), plain('c')), (Some(Action::Quit), None));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('q'), KeyModifiers::CONTROL), None);
        assert_eq!(press(KeyCode::Char('q'), KeyModifiers::ALT), None);
        assert_eq!(plain('o'), Some(Action::LargerOrder));
        assert_eq!(press(KeyCode::Char('O'), KeyModifiers::SHIFT), Some(Action::SmallerOrder));
        assert_eq!(press(KeyCode::BackTab, KeyModifiers::SHIFT), Some(Action::PreviousZone));
        let mut release = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        release.kind = KeyEventKind::Release;
        assert_eq!(action(&release), None);
    }

    #[test]
    fn keys_have_names() {
        let names: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.keys).map(|key| key.name()).collect();
        for name in ["q", "Ctrl-C", "Tab", "Shift-Tab", "Space", "Esc", "Right", "+"] {
            assert!(names.iter().any(|known| known == name), "{name} is not in {names:?}");
        }
    }
}
