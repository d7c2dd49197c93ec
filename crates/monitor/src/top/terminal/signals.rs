//! Signals, and waiting for a signal, a key or a time.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::{flag, low_level};

use super::screen::Screen;

/// Signals that end the program.
const ENDS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// What a signal asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SignalRequest {
    /// End by this signal.
    End(i32),
    /// Continue after a stop.
    GoOn,
}

/// The signals that have arrived.
pub(super) struct Signals {
    /// The signal that ends the program, or 0.
    end: Arc<AtomicUsize>,
    go_on: Arc<AtomicBool>,
    /// Readable once a signal has arrived, so that a wait cannot miss it.
    woken: UnixStream,
}

impl Signals {
    /// Starts to watch signals.
    pub(super) fn watch() -> io::Result<Self> {
        let end = Arc::new(AtomicUsize::new(0));
        let go_on = Arc::new(AtomicBool::new(false));
        let second = Arc::new(AtomicBool::new(false));
        let (woken, wake) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        for signal in ENDS {
            // If the first signal is not handled, a second one ends the program.
            flag::register_conditional_default(signal, Arc::clone(&second))?;
            flag::register(signal, Arc::clone(&second))?;
            flag::register_usize(signal, Arc::clone(&end), signal as usize)?;
        }
        flag::register(SIGCONT, Arc::clone(&go_on))?;
        for signal in ENDS.into_iter().chain([SIGCONT, SIGWINCH]) {
            low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        Ok(Self { end, go_on, woken })
    }

    /// Returns the requests of signals since the last call. The request to end remains.
    pub(super) fn request(&self) -> Option<SignalRequest> {
        match self.end.load(Ordering::SeqCst) {
            0 => self.go_on.swap(false, Ordering::SeqCst).then_some(SignalRequest::GoOn),
            signal => Some(SignalRequest::End(signal as i32)),
        }
    }

    /// Forgets a request to continue that the caller has already handled.
    pub(super) fn forget_to_go_on(&self) {
        self.go_on.store(false, Ordering::SeqCst);
    }

    /// Waits for a signal or a key, for at most `most`. Returns true if the keyboard has input.
    ///
    /// # Errors
    /// If the terminal hung up; a read of keys would then wait for ever.
    pub(super) fn wait(&self, screen: &Screen, most: Option<Duration>) -> io::Result<bool> {
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        let keyboard = screen.keyboard();
        let mut sources = [
            PollFd::new(&keyboard, PollFlags::IN),
            PollFd::from_borrowed_fd(self.woken.as_fd(), PollFlags::IN),
        ];
        match poll(&mut sources, most.as_ref()) {
            // A signal interrupted the wait; the pipe is readable then.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let hung_up = sources[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        let readable = sources[0].revents().contains(PollFlags::IN);
        let mut wakes = [0; 64];
        while matches!((&self.woken).read(&mut wakes), Ok(read) if read > 0) {}
        if hung_up && self.end.load(Ordering::SeqCst) == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up"));
        }
        Ok(readable)
    }

    /// Ends the process by the signal's default action.
    pub(super) fn die_of(signal: i32) -> io::Result<()> {
        low_level::emulate_default_handler(signal)
    }
}
