//! One line of a log, and what stands before the kernel's own text.

/// A line of the kernel's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line<'t> {
    /// When it was printed, in the log's own form.
    pub(crate) time: Option<&'t str>,
    /// The task or CPU that printed it, as `T1` or `C0`, where the kernel says so.
    pub(crate) caller: Option<&'t str>,
    /// The kernel's text.
    pub(crate) text: &'t str,
}

/// The most prefixes that are taken off a line.
const MAX_PREFIXES: usize = 8;
/// How far into a line the word `kernel:` of a syslog may stand. Units: bytes.
const SYSLOG_HEAD: usize = 160;

impl<'t> Line<'t> {
    /// Takes the prefixes of mail, syslog, journal and dmesg off a line.
    pub(crate) fn read(raw: &'t str) -> Self {
        let mut line = Self { time: None, caller: None, text: raw.trim() };
        for _ in 0..MAX_PREFIXES {
            let before = line.text;
            line.strip_once();
            if line.text == before {
                break;
            }
            line.text = line.text.trim_start();
        }
        line
    }

    fn strip_once(&mut self) {
        let text = self.text;
        if text.starts_with(['>', '|', '"']) {
            // A mail may be quoted more often than other prefixes are.
            self.text = text.trim_start_matches(['>', '|', '"', ' ']);
        } else if let Some(rest) = source(text) {
            self.text = rest;
        } else if let Some(rest) = level(text) {
            self.text = rest;
        } else if let Some((inside, rest)) = bracketed(text) {
            self.take_bracket(inside, rest);
        } else if let Some((fields, rest)) = kmsg_record(text) {
            self.time = self.time.or(fields.split(',').nth(2));
            self.caller = self.caller.or(fields.split("caller=").nth(1));
            self.text = rest;
        } else if let Some((head, rest)) = syslog(text, self.time.is_some()) {
            self.time = self.time.or(clock_of(head));
            self.text = rest;
        } else if let Some((head, rest)) = container(text) {
            self.time = self.time.or(clock_of(head));
            self.text = rest;
        } else if let Some((stamp, rest)) = behind_any(text) {
            self.time = self.time.or(Some(stamp));
            self.text = rest;
        } else if let Some((stamp, rest)) = iso_stamp(text) {
            self.time = self.time.or(Some(stamp));
            self.text = rest;
        } else if let Some(rest) = numbered(text) {
            self.text = rest;
        }
    }

    fn take_bracket(&mut self, inside: &'t str, rest: &'t str) {
        let inside = inside.trim();
        if is_caller(inside) {
            (self.caller, self.text) = (self.caller.or(Some(inside)), rest);
        } else if is_cpu_and_task(inside) {
            self.text = rest;
        } else if is_time(inside) {
            (self.time, self.text) = (self.time.or(Some(inside)), rest);
        }
    }
}

/// Returns the text behind a word for the source: `kernel:`, the field of a journal, or the CPU of Android, as `(0)` or `c0`.
fn source(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("kernel:").or_else(|| text.strip_prefix("MESSAGE=")) {
        return Some(rest);
    }
    let is_number =
        |part: &str| !part.is_empty() && part.len() <= 6 && part.bytes().all(|b| b.is_ascii_digit());
    if let Some((cpu, rest)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        return (is_number(cpu) && rest.starts_with('[')).then_some(rest);
    }
    let (cpu, rest) = text.strip_prefix(['c', 'C'])?.split_once(' ')?;
    is_number(cpu).then(|| rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Returns true for the task that Android's kernels print: `123:kswapd0` or `0: kswapd0: 123`.
fn is_cpu_and_task(inside: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let Some((first, rest)) = inside.split_once(':') else { return false };
    let last = rest.rsplit_once(':').map_or(rest, |(_, last)| last).trim();
    let is_clock = is_number(last) && rest.split(':').all(|part| is_number(part.trim()));
    is_number(first.trim_start_matches(['c', 'C']))
        && !is_clock
        && rest.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Returns the text behind a log level: `<4>`, or `kern  :warn  :` of `dmesg -x`.
fn level(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('<') {
        let (number, rest) = rest.split_once('>')?;
        return (number.len() <= 3 && number.bytes().all(|b| b.is_ascii_digit())).then_some(rest);
    }
    let mut parts = text.splitn(3, ':');
    let (facility, level, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let is_word = |word: &str| word.len() <= 8 && word.trim_end().bytes().all(|b| b.is_ascii_lowercase());
    (facility.trim_end() == "kern" && is_word(level)).then_some(rest)
}

/// Returns the inside of `[…]` at the start, and the text behind it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']').filter(|(inside, _)| inside.len() <= 40)
}

fn is_caller(inside: &str) -> bool {
    let number = inside.strip_prefix(['T', 'C']).unwrap_or("");
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// Returns true for seconds since boot and for dates, which are made of digits, marks and names of days.
fn is_time(inside: &str) -> bool {
    let digits = inside.bytes().filter(u8::is_ascii_digit).count();
    let letters = inside.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 2 && letters <= 8 && inside.bytes().any(|b| matches!(b, b'.' | b',' | b':'))
}

/// Returns the fields and the text of a record of `/dev/kmsg`: `4,339,5140900,-;text`.
fn kmsg_record(text: &str) -> Option<(&str, &str)> {
    let (fields, rest) = text.split_once(';')?;
    let numbers = fields.split(',').take(3).filter(|part| part.parse::<u64>().is_ok()).count();
    (fields.len() <= 80 && numbers == 3).then_some((fields, rest))
}

/// Returns what stands before `kernel:` in a line of a syslog or a journal, and what stands behind. If the time is known, the
/// host alone may stand there.
fn syslog(text: &str, has_time: bool) -> Option<(&str, &str)> {
    let at = text.find(" kernel")?;
    let rest = &text[at + " kernel".len()..];
    let rest = match rest.strip_prefix('[') {
        Some(pid) => pid.split_once(']')?.1,
        None => rest,
    };
    let rest = rest.trim_start().strip_prefix(':').or_else(|| rest.strip_prefix(" - - -"))?;
    let head = &text[..at];
    let is_host = has_time && !head.is_empty() && !head.contains([' ', ':', '(']);
    let is_head = is_host || head.bytes().any(|b| b.is_ascii_digit());
    (at <= SYSLOG_HEAD && is_head).then_some((head, rest))
}

/// Returns the time that `dmesg --time-format iso` writes, and the text behind it: `2024-11-12T03:14:15,100000+01:00 text`.
fn iso_stamp(text: &str) -> Option<(&str, &str)> {
    let (stamp, rest) = text.split_once(' ')?;
    let (date, clock) = stamp.split_once('T')?;
    let is_date = date.len() == 10 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let is_clock = clock.len() >= 8
        && clock.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b',' | b'.' | b'+' | b'-' | b'Z'));
    (is_date && is_clock).then_some((stamp, rest))
}

/// Returns what stands before a container's text in the log of its runtime, and the text: `2024-01-01T00:00:00Z stdout F text`.
fn container(text: &str) -> Option<(&str, &str)> {
    let (head, rest) = ["stdout", "stderr"].iter().find_map(|name| text.split_once(name))?;
    let rest = rest.strip_prefix(" F ").or_else(|| rest.strip_prefix(" P "))?;
    (head.len() <= 40 && head.starts_with(|c: char| c.is_ascii_digit())).then_some((head, rest))
}

/// Returns the text behind the number of a line: `grep -n` writes `12:text`, a list of a web page `12. <4>text`.
fn numbered(text: &str) -> Option<&str> {
    let (number, rest) = text.split_once(['.', ':'])?;
    let is_number = !number.is_empty() && number.len() <= 7 && number.bytes().all(|b| b.is_ascii_digit());
    let is_list =
        text.as_bytes().get(number.len()) == Some(&b':') || rest.trim_start().starts_with(['<', '[']);
    (is_number && is_list).then_some(rest)
}

/// Returns the seconds since boot that the kernel itself prints, and the text behind them, whatever stands before: a virtual
/// machine's monitor, a container's shipper and others have prefixes of their own.
fn behind_any(text: &str) -> Option<(&str, &str)> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let stamp = |at: usize| {
        let (inside, rest) = text[at + 1..].split_once(']')?;
        let (seconds, fraction) = inside.trim_start().split_once('.')?;
        let is_stamp = is_number(seconds) && fraction.len() == 6 && is_number(fraction);
        is_stamp.then_some((inside.trim_start(), rest))
    };
    memchr::memchr_iter(b'[', text.as_bytes()).take_while(|&at| at <= SYSLOG_HEAD).find_map(stamp)
}

/// Returns the time at the start of a syslog's line: a word that starts with a digit, or `Nov 15 17:08:06`.
fn clock_of(head: &str) -> Option<&str> {
    if head.starts_with(|c: char| c.is_ascii_digit()) {
        // A date and a clock may be two words; the version of a protocol is none of them.
        let is_time = |word: &&str| word.len() > 1 && word.bytes().any(|b| matches!(b, b':' | b'-'));
        return head.split_whitespace().find(is_time).or_else(|| head.split_whitespace().next());
    }
    let colon = head.find(':')?;
    let end = head[colon..].find(' ').map_or(head.len(), |end| colon + end);
    head.get(..end).filter(|time| time.len() <= 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_taken_off() {
        for (raw, time, caller) in [
            ("Mem-Info:", None, None),
            ("[   14.017956][    T1] Mem-Info:", Some("14.017956"), Some("T1")),
            ("> > [  +0.000001] Mem-Info:", Some("+0.000001"), None),
            ("<4>[   89.8] Mem-Info:", Some("89.8"), None),
            (">>>>>>> > >>> [   89.8] Mem-Info:", Some("89.8"), None),
            ("[Thu Nov 15 17:08:06 2022] Mem-Info:", Some("Thu Nov 15 17:08:06 2022"), None),
            ("kern  :warn  : [  1.5] Mem-Info:", Some("1.5"), None),
            ("4,339,5140900,-;Mem-Info:", Some("5140900"), None),
            ("Nov 15 17:08:06 host kernel: Mem-Info:", Some("Nov 15 17:08:06"), None),
            ("kernel: [  1.5] Mem-Info:", Some("1.5"), None),
            ("MESSAGE=Mem-Info:", None, None),
            (
                "2023-12-04T10:49:30Z In(05) vcpu-5 - Guest: <6>[   12.345678] Mem-Info:",
                Some("12.345678"),
                None,
            ),
            ("W/kernel  (    0): [   12.345678] [ T77] Mem-Info:", Some("12.345678"), Some("T77")),
            ("  12. <4>[  1.5] Mem-Info:", Some("1.5"), None),
            ("12:[  1.5] Mem-Info:", Some("1.5"), None),
            ("12:Mem-Info:", None, None),
            ("2024-01-01T00:00:00.5Z stdout F Mem-Info:", Some("2024-01-01T00:00:00.5Z"), None),
            ("01-01 12:00:00.000     0     0 W kernel  : Mem-Info:", Some("01-01"), None),
            ("2024-11-12T03:14:15,100000+01:00 Mem-Info:", Some("2024-11-12T03:14:15,100000+01:00"), None),
            ("[90211.500000] web kernel: Mem-Info:", Some("90211.500000"), None),
            ("[  +0,000004] Mem-Info:", Some("+0,000004"), None),
            ("<4>[ 12.5]  (0)[78:kswapd0]Mem-Info:", Some("12.5"), None),
            ("<4>[ 12.5] [1:  kworker/1:1:   78] Mem-Info:", Some("12.5"), None),
            ("<4>[ 12.5] c1    78 Mem-Info:", Some("12.5"), None),
            (
                "<4>1 2024-01-01T00:00:00Z host kernel - - - [ 12.5] Mem-Info:",
                Some("2024-01-01T00:00:00Z"),
                None,
            ),
            ("Nov 15 17:08:06 host kernel: [ 9.25] Mem-Info:", Some("Nov 15 17:08:06"), None),
            (
                "2024-09-18T10:00:00.1+02:00 host kernel[1]: Mem-Info:",
                Some("2024-09-18T10:00:00.1+02:00"),
                None,
            ),
        ] {
            assert_eq!(Line::read(raw), Line { time, caller, text: "Mem-Info:" }, "{raw}");
        }
    }

    #[test]
    fn what_is_no_prefix_stays() {
        for text in [
            "task: page allocation failure: order:1",
            "lowmem_reserve[]: 0 0",
            "[drm] 3 rings",
            "a;b",
            "web kernel: a",
            "2024-11-12Today a",
        ] {
            assert_eq!(Line::read(text).text, text);
        }
    }
}
