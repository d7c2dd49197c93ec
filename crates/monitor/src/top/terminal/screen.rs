//! The terminal while the program uses it, and its restoration.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::style::{ResetColor, force_color_output};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use ratatui::{Frame, Terminal};
use rustix::process::{Signal, kill_current_process_group};

/// The size of the output buffer, enough for one page.
const PAGE_BYTES: usize = 1 << 16;

/// The most reads in a row without a complete key: the bytes of one key may arrive one by one.
const FRUITLESS: u32 = 8;

/// Where pages are written.
type Output = CrosstermBackend<BufWriter<Stdout>>;

/// True while the program uses the terminal; the panic hook reads it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal in use. Dropping it, or a panic, restores the terminal.
pub(super) struct Screen {
    terminal: Terminal<Output>,
    /// The file that keys are read from; `None` means standard input.
    keyboard: Option<File>,
    /// Reads in a row that found input but no complete key.
    fruitless: u32,
}

impl Screen {
    /// Prepares the terminal for pages.
    pub(super) fn enter(colour: bool) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                give_back();
                report(info);
            }));
        });
        // The caller decides about colours; the library would read the environment again.
        force_color_output(colour);
        let keyboard = if io::stdin().is_terminal() { None } else { Some(File::open("/dev/tty")?) };
        take()?;
        match blank() {
            Ok(terminal) => Ok(Self { terminal, keyboard, fruitless: 0 }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Draws a page.
    pub(super) fn draw(&mut self, page: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(page).map(|_| ())
    }

    /// Clears the screen and forgets its contents.
    ///
    /// The library's own function asks the terminal for the cursor position. It waits up to two
    /// seconds, and fails if the terminal does not answer or the answer is mixed with typed keys.
    pub(super) fn wipe(&mut self) -> io::Result<()> {
        self.terminal = blank()?;
        self.terminal.backend_mut().clear()
    }

    /// Prepares the terminal again after another program used it.
    pub(super) fn retake(&mut self) -> io::Result<()> {
        give_back();
        take()?;
        self.wipe()
    }

    /// Restores the terminal and stops the process group until the shell continues it.
    ///
    /// The whole process group stops, as after Ctrl-Z: a `sudo` may be part of it. The kernel does
    /// not stop an orphaned process group.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        kill_current_process_group(Signal::TSTP)?;
        take()?;
        self.wipe()
    }

    /// Returns the file that keys are read from.
    pub(super) fn keyboard(&self) -> BorrowedFd<'_> {
        match &self.keyboard {
            Some(file) => file.as_fd(),
            None => rustix::stdio::stdin(),
        }
    }

    /// Returns the pressed keys and changes of size. `readable` says that the keyboard has input.
    pub(super) fn events(&mut self, readable: bool) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        while event::poll(Duration::ZERO)? {
            events.push(event::read()?);
        }
        self.fruitless = if readable && events.is_empty() { self.fruitless + 1 } else { 0 };
        if self.fruitless == FRUITLESS {
            // The library is woken by new bytes only. It may leave some bytes of a long paste
            // unread, which would make every later wait return at once.
            self.fruitless = 0;
            rustix::io::read(self.keyboard(), &mut [0_u8; 4096])?;
        }
        Ok(events)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Returns a terminal whose screen is taken to be empty.
fn blank() -> io::Result<Terminal<Output>> {
    Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(PAGE_BYTES, io::stdout())))
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let entered = execute!(io::stdout(), EnterAlternateScreen, Hide);
    if entered.is_err() {
        give_back();
    }
    entered
}

/// Restores the terminal once. Failures are ignored, as no terminal is left to show them on.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = queue!(out, ResetColor, LeaveAlternateScreen, Show);
        let _ = out.flush();
        let _ = disable_raw_mode();
    }
}
