//! `freehold top` in a real terminal, which tmux is.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use freehold_needs::has_program;

use crate::common;

/// How long the terminal may take to show something.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the shell prints before a command.
const PROMPT: &str = "ready> ";

/// A terminal with a shell in it, on a tmux server of its own.
struct Tmux {
    socket: String,
    /// For the files of the test.
    folder: tempfile::TempDir,
}

impl Tmux {
    /// A terminal of 80 columns and 24 rows; none where there is no tmux.
    fn start(test: &str) -> Option<Self> {
        if !has_program("tmux", test) {
            return None;
        }
        let tmux =
            Self { socket: format!("freehold-{test}-{}", std::process::id()), folder: common::folder() };
        let shell = format!("env PS1='{PROMPT}' LC_ALL=C.UTF-8 sh -i");
        let start = ["-u", "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &shell];
        tmux.tell(&start);
        tmux.shows(PROMPT.trim());
        Some(tmux)
    }

    fn tell(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket]).args(args).env_remove("TMUX").env_remove("NO_COLOR");
        let output = command.output().expect("tmux can be started");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn press(&self, keys: &[&str]) {
        self.tell(&[&["send-keys"], keys].concat());
    }

    /// Types a command.
    fn enter(&self, command: &str) {
        self.tell(&["send-keys", "-l", command]);
        self.press(&["Enter"]);
    }

    fn page(&self) -> String {
        self.tell(&["capture-pane", "-p"])
    }

    /// The page once it is as it should be.
    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let page = self.page();
            if is_so(&page) {
                return page;
            }
            assert!(start.elapsed() < PATIENCE, "{what}:\n{page}");
            sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    fn shows(&self, text: &str) -> String {
        self.until(&format!("{text:?} does not appear"), |page| page.contains(text))
    }

    /// What a command prints, by way of a file: the terminal is what is tested.
    fn output_of(&self, command: &str) -> String {
        let file = self.folder.path().join("output");
        let done = self.folder.path().join("done");
        self.enter(&format!("{command} > {}; : > {}", file.display(), done.display()));
        let start = Instant::now();
        while !done.exists() {
            assert!(start.elapsed() < PATIENCE, "{command} does not end:\n{}", self.page());
            sleep(Duration::from_millis(20));
        }
        std::fs::remove_file(done).unwrap();
        std::fs::read_to_string(file).unwrap()
    }

    /// Cursor shown, no alternate screen, no mouse.
    fn modes(&self) -> String {
        self.tell(&[
            "display-message",
            "-p",
            "#{cursor_flag} #{alternate_on} #{mouse_any_flag} #{keypad_flag}",
        ])
    }

    /// Starts the page of a fixture and waits for it.
    fn top(&self, args: &str) {
        self.enter(&format!("{} top --root {} {args}", env!("CARGO_BIN_EXE_freehold"), fixture().display()));
        self.shows("q quit");
    }

    /// The process id of the page.
    fn pid(&self) -> String {
        let shell = self.tell(&["display-message", "-p", "#{pane_pid}"]);
        let children =
            Command::new("ps").args(["-o", "pid=,comm=", "--ppid", shell.trim()]).output().unwrap();
        let children = String::from_utf8_lossy(&children.stdout).into_owned();
        let top = children.lines().find(|line| line.contains("freehold"));
        top.and_then(|line| line.split_whitespace().next()).expect("the page's process").to_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures/linux-6.18")
}

/// A terminal with something on it, and all of its state.
struct Before {
    stty: String,
    modes: String,
}

impl Before {
    fn of(tmux: &Tmux) -> Self {
        let stty = tmux.output_of("stty -a");
        tmux.enter("echo what was here before");
        tmux.shows("\nwhat was here before");
        Self { stty, modes: tmux.modes() }
    }

    /// Whether everything is as it was.
    #[track_caller]
    fn is_back(&self, tmux: &Tmux) {
        let page = tmux.until("the page does not go", |page| !page.contains("q quit"));
        assert!(page.contains("\nwhat was here before"), "{page}");
        assert_eq!(tmux.modes(), self.modes);
        assert_eq!(tmux.output_of("stty -a"), self.stty);
    }
}

#[test]
fn keys_and_sizes_do_what_they_should() {
    let Some(tmux) = Tmux::start("keys_and_sizes_do_what_they_should") else { return };
    let before = Before::of(&tmux);
    tmux.top("--sensor procfs --interval 0.2");
    let page = tmux.shows("[0 Normal]");
    assert!(page.lines().count() <= 24 && page.contains("> 9"), "{page}");
    let shown: [(&[&str], &str); 12] = [
        (&["Tab"], "[0 DMA]"),
        (&["Up"], "[0 Normal]"),
        (&["o"], "order 10:"),
        (&["Left"], "order 9:"),
        (&["m"], "no map"),
        (&["r"], "direct reclaims"),
        (&["t"], "Unmov"),
        (&["?"], "Shift-Tab"),
        (&["Escape"], "Unmov"),
        (&["+"], "every 0.5 s"),
        (&["p"], "PAUSED"),
        (&["Space", "-"], "every 0.2 s"),
    ];
    for (keys, text) in shown {
        tmux.press(keys);
        tmux.shows(text);
    }
    tmux.tell(&["resize-window", "-x", "40", "-y", "10"]);
    tmux.shows("needs 60 columns");
    tmux.tell(&["resize-window", "-x", "200", "-y", "60"]);
    tmux.shows("compact_migrate_scanned");
    tmux.tell(&["resize-window", "-x", "80", "-y", "24"]);
    tmux.shows("compact   stall");
    tmux.press(&["q"]);
    before.is_back(&tmux);
}

#[test]
fn signals_give_the_terminal_back() {
    let Some(tmux) = Tmux::start("signals_give_the_terminal_back") else { return };
    let before = Before::of(&tmux);
    for signal in ["TERM", "HUP", "INT"] {
        tmux.top("--interval 60");
        let killed = Command::new("kill").args(["-s", signal, &tmux.pid()]).status().unwrap();
        assert!(killed.success());
        before.is_back(&tmux);
    }
}

#[test]
fn ctrl_z_and_ctrl_c_give_the_terminal_back() {
    let Some(tmux) = Tmux::start("ctrl_z_and_ctrl_c_give_the_terminal_back") else { return };
    let before = Before::of(&tmux);
    tmux.top("");
    tmux.press(&["C-z"]);
    before.is_back(&tmux);
    tmux.enter("fg");
    tmux.shows("q quit");
    tmux.press(&["m"]);
    tmux.shows("no map");
    tmux.press(&["C-c"]);
    before.is_back(&tmux);
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let Some(tmux) = Tmux::start("colours_come_only_where_they_are_wanted") else { return };
    let coloured = [
        ("", "--colour auto", true),
        ("NO_COLOR=1", "", false),
        ("NO_COLOR=1", "--colour always", true),
        ("", "--colour never", false),
        ("TERM=vt220", "", false),
    ];
    for (set, args, has_colours) in coloured {
        tmux.enter("clear");
        let binary = env!("CARGO_BIN_EXE_freehold");
        tmux.enter(&format!("{set} {binary} top --root {} {args}", fixture().display()));
        tmux.shows("q quit");
        let page = tmux.tell(&["capture-pane", "-p", "-e"]);
        assert_eq!(
            page.contains("\u{1b}[38;5") || page.contains(";5;"),
            has_colours,
            "{set} {args}:\n{page}"
        );
        tmux.press(&["q"]);
        tmux.until("the page does not go", |page| !page.contains("q quit"));
    }
}

#[test]
fn a_terminal_that_cannot_place_text_is_refused() {
    let Some(tmux) = Tmux::start("a_terminal_that_cannot_place_text_is_refused") else { return };
    tmux.enter(&format!("TERM=dumb {} top; echo code $?", env!("CARGO_BIN_EXE_freehold")));
    let page = tmux.shows("code 64");
    assert!(page.contains("TERM is \"dumb\"") && page.contains("freehold snapshot"), "{page}");
}

#[test]
fn a_terminal_that_hangs_up_ends_the_page() {
    let Some(tmux) = Tmux::start("a_terminal_that_hangs_up_ends_the_page") else { return };
    // In a session of its own no signal tells it: it has to find out by itself.
    let file = tmux.folder.path().join("pid");
    let binary = env!("CARGO_BIN_EXE_freehold");
    let command = format!("echo $$ > {}; exec {binary} top --root {}", file.display(), fixture().display());
    tmux.enter(&format!("setsid -w sh -c '{command}'"));
    tmux.shows("q quit");
    let pid = std::fs::read_to_string(file).unwrap().trim().to_owned();
    tmux.tell(&["kill-server"]);
    let start = Instant::now();
    while File::open(format!("/proc/{pid}/stat")).is_ok() {
        assert!(start.elapsed() < PATIENCE, "the page goes on without its terminal");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_terminal_that_answers_nothing_is_enough() {
    if !has_program("script", "a_terminal_that_answers_nothing_is_enough") {
        return;
    }
    let page = format!(
        "{} top --sensor procfs --root {}",
        env!("CARGO_BIN_EXE_freehold"),
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures/linux-7.3").display()
    );
    let mut script = Command::new("script");
    script.args(["-qec", &page, "/dev/null"]).env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut keys = child.stdin.take().unwrap();
    for key in [b"\x0c", b"m", b"\x0c", b"q"] {
        sleep(Duration::from_millis(500));
        keys.write_all(key).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{page}");
    assert!(!page.contains("\x1b[6n"), "the position of the cursor was requested: {page}");
}
