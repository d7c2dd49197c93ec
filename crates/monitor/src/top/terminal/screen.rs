//! The terminal while it is ours, and as it was afterwards.

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

/// The bytes of a page that are written at once.
const PAGE_BYTES: usize = 1 << 16;

/// How often that may be so: the parts of one key may come one by one.
const FRUITLESS: u32 = 8;

/// Where pages are written to.
type Output = CrosstermBackend<BufWriter<Stdout>>;

/// True while the terminal is ours: the hook of panics needs to know.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is ours. Dropping it, and a panic, give it back as it was.
pub(super) struct Screen {
    terminal: Terminal<Output>,
    /// Where keys come from if not from standard input.
    keyboard: Option<File>,
    /// How many times in a row there was something to read, and no key came of it.
    fruitless: u32,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn enter(colour: bool) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                give_back();
                report(info);
            }));
        });
        // The page decides; the library would ask the environment again.
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

    /// Shows a page.
    pub(super) fn draw(&mut self, page: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(page).map(|_| ())
    }

    /// Forgets what is on the screen.
    ///
    /// The library's own way asks the terminal where the cursor is, waits for up to two seconds, and fails
    /// where no answer comes, as from a terminal that has none or amid keys that are typed.
    pub(super) fn wipe(&mut self) -> io::Result<()> {
        self.terminal = blank()?;
        self.terminal.backend_mut().clear()
    }

    /// Takes the terminal again from whoever had it meanwhile.
    pub(super) fn retake(&mut self) -> io::Result<()> {
        give_back();
        take()?;
        self.wipe()
    }

    /// Gives the terminal back and stops until the shell says to go on.
    ///
    /// The whole process group stops, as it would by Ctrl-Z without us: there may be a `sudo` in it. Where no
    /// shell could ever say to go on, the kernel does not stop it.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        kill_current_process_group(Signal::TSTP)?;
        take()?;
        self.wipe()
    }

    /// Where keys come from.
    pub(super) fn keyboard(&self) -> BorrowedFd<'_> {
        match &self.keyboard {
            Some(file) => file.as_fd(),
            None => rustix::stdio::stdin(),
        }
    }

    /// The keys that were pressed, and changes of size; `readable` is whether the keyboard had something to
    /// read.
    pub(super) fn events(&mut self, readable: bool) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        while event::poll(Duration::ZERO)? {
            events.push(event::read()?);
        }
        self.fruitless = if readable && events.is_empty() { self.fruitless + 1 } else { 0 };
        if self.fruitless == FRUITLESS {
            // The library is told of bytes that come, not of bytes that are there. Of a long text that is pasted
            // it may leave some unread, and these would keep us awake for ever.
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

/// A page of which nothing is on the screen yet.
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

/// Gives the terminal back, once. Where that fails there is nobody left to tell.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = queue!(out, ResetColor, LeaveAlternateScreen, Show);
        let _ = out.flush();
        let _ = disable_raw_mode();
    }
}
