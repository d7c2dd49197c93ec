//! The console of a booted kernel, parsed.

use serde_json::Value;

/// The prefix of the guest process's own lines.
const SAYS: &str = "freehold: ";

/// Texts that a kernel prints only if something is wrong.
const ALARMS: [&str; 17] = [
    "WARNING:",
    "BUG:",
    "KASAN:",
    "KCSAN:",
    "UBSAN:",
    "INFO: possible",
    "INFO: suspicious",
    "INFO: trying",
    "INFO: task",
    "rcu: INFO:",
    "Oops",
    "general protection",
    "Kernel panic",
    "Call Trace",
    "Out of memory",
    "page allocation failure",
    "not ok ",
];

/// The ends of KCSAN's lines about Linux's own races, which are unrelated to the series: Linux reads a counter of
/// shared memory while another CPU adds to it, and checks again under its lock.
const RACES_OF_LINUX: [&str; 1] =
    ["BUG: KCSAN: data-race in __percpu_counter_limited_add / __percpu_counter_limited_add"];

/// The parsed text of a console.
#[derive(Clone, Debug)]
pub struct Console {
    /// The objects that the process printed, in order, without the final one.
    pub said: Vec<Value>,
    /// The lines that report a problem.
    pub alarms: Vec<Alarm>,
    /// The error of the guest's process, if it printed one.
    pub error: Option<String>,
    /// True if the process reached its end.
    pub is_whole: bool,
}

/// A line that reports a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alarm {
    /// The number of the line, from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
}

impl Console {
    /// Parses a console's text.
    pub fn read(text: &str) -> Self {
        let mut console = Self { said: Vec::new(), alarms: Vec::new(), error: None, is_whole: false };
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_end();
            let object = line.split_once(SAYS).and_then(|(_, object)| serde_json::from_str(object).ok());
            match object {
                Some(object) => console.take(object),
                None if is_alarm(line) => {
                    console.alarms.push(Alarm { line: number + 1, text: line.to_owned() });
                }
                None => {}
            }
        }
        console
    }

    fn take(&mut self, object: Value) {
        if object["done"] == true {
            self.is_whole = true;
        } else if let Some(error) = object["error"].as_str() {
            self.error = Some(error.to_owned());
        } else {
            self.said.push(object);
        }
    }
}

/// Returns true if a line reports a problem. The kernel's copy of its command line and the
/// [`RACES_OF_LINUX`] do not count.
fn is_alarm(line: &str) -> bool {
    let is_known = line.contains("ommand line:") || RACES_OF_LINUX.iter().any(|race| line.ends_with(race));
    !is_known && ALARMS.iter().any(|alarm| line.contains(alarm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_among_the_kernels_lines() {
        let text = "[    0.1] Command line: freehold.do=x,BUG:\r\n\
                    [    0.2] Kernel up\r\n\
                    \r\nfreehold: {\"test\":\"hot\",\"order\":4}\r\n\
                    freehold: {\"test\":\r\n\
                    [    1.0] xfreehold: {\"test\":\"late\"}\r\n\
                    freehold: {\"done\":true}\r\n";
        let console = Console::read(text);
        assert_eq!(console.said.len(), 2);
        assert_eq!(console.said[0]["order"], 4);
        assert!(console.is_whole && console.alarms.is_empty() && console.error.is_none());
    }

    #[test]
    fn only_known_races_of_linux_are_no_alarm() {
        let text = "[ 1.0] BUG: KCSAN: data-race in __percpu_counter_limited_add / __percpu_counter_limited_add\n\
                    [ 1.1] BUG: KCSAN: data-race in __percpu_counter_limited_add / free_counts_add\n";
        let lines: Vec<_> = Console::read(text).alarms.iter().map(|alarm| alarm.line).collect();
        assert_eq!(lines, [2]);
    }

    #[test]
    fn alarms_are_found_with_their_lines() {
        let text = "fine\n[  3.1] WARNING: CPU: 1 PID: 9 at mm/x.c:7\n[  3.1] kasan: initialized\n\
                    # not ok 3 free_counts\nfreehold: {\"error\":\"no such file\"}\n";
        let console = Console::read(text);
        assert_eq!(console.alarms.iter().map(|alarm| alarm.line).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(console.error.as_deref(), Some("no such file"));
        assert!(!console.is_whole);
    }
}
