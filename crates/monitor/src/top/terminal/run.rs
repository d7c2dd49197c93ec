//! The loop: sample, draw, wait for a key or the time of the next sample.

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use freehold_linux::pageblocks::Pace;
use freehold_linux::sample::Sampler;
use freehold_linux::sensor::Choice;
use ratatui::crossterm::event::Event;

use super::screen::Screen;
use super::signals::{SignalRequest, Signals};
use crate::model::Model;
use crate::series::Monitor;
use crate::top::keys;
use crate::top::page::draw;
use crate::top::theme::Theme;
use crate::top::view::{Effect, View};
use crate::verdict::NeededBlocks;

/// What `freehold top` reads, and how it starts.
#[derive(Clone, Debug)]
pub struct TopOptions {
    /// The folder that contains the machine's `/proc` and `/sys`.
    pub root: PathBuf,
    /// The requested sensor.
    pub sensor: Choice,
    /// Time between samples, until a key changes it.
    pub interval: Duration,
    /// The numbers of blocks that verdicts are about.
    pub needs: Vec<NeededBlocks>,
    /// When to use colours.
    pub colour: Colour,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Colour {
    /// Unless `NO_COLOR` is set or the terminal is known to have no colours.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Why the page cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TopError {
    /// Standard output is a file or a pipe.
    #[error(
        "standard output is not a terminal, and `freehold top` is a page for one. `freehold snapshot` prints \
         the same numbers once"
    )]
    NotATerminal,
    /// The terminal cannot place text (`TERM=dumb`).
    #[error(
        "the terminal cannot place text (TERM is {0:?}), which `freehold top` needs. `freehold snapshot` prints \
         the same numbers once; in a terminal that can, set TERM to its name, such as xterm-256color"
    )]
    Dumb(String),
    /// The terminal failed.
    #[error(
        "the terminal cannot be used: {0}. `freehold check` prints the verdict once, and `freehold snapshot` the free blocks"
    )]
    Terminal(#[from] io::Error),
    /// The machine cannot be read.
    #[error(transparent)]
    Machine(#[from] freehold_linux::Error),
}

/// Shows pages until a key or a signal ends the program. A signal then has its default effect on the
/// process.
///
/// # Errors
/// If there is no usable terminal, or if the first reading of the machine fails. Later failures are shown
/// on the page and tried again.
pub fn run(options: &TopOptions) -> Result<(), TopError> {
    if !io::stdout().is_terminal() {
        return Err(TopError::NotATerminal);
    }
    let term = env::var("TERM").unwrap_or_default();
    if ["", "dumb", "unknown"].contains(&term.as_str()) {
        return Err(TopError::Dumb(term));
    }
    let mut top = Top::new(options, &term)?;
    let signals = Signals::watch()?;
    let mut screen = Screen::enter(top.view.theme.colour)?;
    let ended = top.until_the_end(&mut screen, &signals);
    drop(screen);
    // If the terminal hung up, the signal is the better explanation.
    if let Some(SignalRequest::End(signal)) = signals.request() {
        Signals::die_of(signal)?;
    }
    ended
}

/// The machine, its model and history, and the view.
struct Top {
    sampler: Sampler,
    monitor: Monitor,
    model: Model,
    view: View,
    due: Instant,
}

impl Top {
    fn new(options: &TopOptions, term: &str) -> Result<Self, TopError> {
        let mut sampler = Sampler::open(&options.root, options.sensor)?;
        sampler.survey_pageblocks(Pace::Watched);
        let mut monitor = Monitor::new(sampler.machine().clone()).with_needs(options.needs.clone());
        let model = monitor.take(sampler.sample()?);
        let theme = Theme { colour: has_colours(options.colour, term) };
        let view = View { interval: options.interval, theme, ascii: !speaks_utf8(), ..View::default() };
        Ok(Self { sampler, monitor, model, view, due: Instant::now() + options.interval })
    }

    /// Draws and waits until a key or a signal ends the program.
    fn until_the_end(&mut self, screen: &mut Screen, signals: &Signals) -> Result<(), TopError> {
        loop {
            screen.draw(|frame| draw(frame, &self.model, self.monitor.history(), &self.view))?;
            let wait = if self.view.paused {
                None
            } else {
                Some(self.due.saturating_duration_since(Instant::now()))
            };
            let readable = signals.wait(screen, wait)?;
            match signals.request() {
                Some(SignalRequest::End(_)) => return Ok(()),
                // Another program may have changed the terminal meanwhile.
                Some(SignalRequest::GoOn) => screen.retake()?,
                None => {}
            }
            for event in screen.events(readable)? {
                if self.handle(&event, screen, signals)? == Effect::Quit {
                    return Ok(());
                }
            }
            if !self.view.paused && Instant::now() >= self.due {
                self.sample();
            }
        }
    }

    fn handle(&mut self, event: &Event, screen: &mut Screen, signals: &Signals) -> io::Result<Effect> {
        let Event::Key(key) = event else { return Ok(Effect::Draw) };
        let Some(action) = keys::action(key) else { return Ok(Effect::Draw) };
        let before = self.view.interval;
        let effect = self.view.apply(action, &self.model);
        if self.view.interval != before {
            self.due = self.due.min(Instant::now() + self.view.interval);
        }
        match effect {
            Effect::Suspend => {
                screen.suspend()?;
                signals.forget_to_go_on();
            }
            Effect::Wipe => screen.wipe()?,
            Effect::Draw | Effect::Quit => {}
        }
        Ok(effect)
    }

    /// Takes a sample. If it fails, keeps the last numbers and notes that they are old.
    fn sample(&mut self) {
        match self.sampler.sample() {
            Ok(sample) => self.model = self.monitor.take(sample),
            Err(error) => {
                let note = format!("{STALE} {error}");
                self.model.notes.retain(|note| !note.starts_with(STALE));
                self.model.notes.insert(0, note);
            }
        }
        // Samples that were missed while the machine was busy are not repeated.
        self.due = (self.due + self.view.interval).max(Instant::now());
    }
}

/// The start of the note about a failed sample.
const STALE: &str = "these numbers are old, the last reading failed:";

/// Returns true if the page has colours.
fn has_colours(request: Colour, term: &str) -> bool {
    match request {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let has_none = term.starts_with("vt") || term.ends_with("-m") || term.ends_with("-mono");
            !refused && !has_none
        }
    }
}

/// Returns true if the locale's characters are UTF-8.
fn speaks_utf8() -> bool {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
