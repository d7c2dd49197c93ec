//! Parses the start of a line: event, task, CPU and time.
//!
//! Spellings:
//!
//! - ftrace: `comm-pid [cpu] flags secs.micros: event: fields`, with `( tgid)` before `[cpu]` if
//!   `record-tgid` is set;
//! - `trace-cmd report`: the same, flags optional;
//! - `perf script`: `comm pid [cpu] secs.micros: kmem:event: fields`, or `pid/tid`;
//! - `contrib/bpftrace/freehold.bt`: `pid [cpu] secs.nanos: event: fields`, behind a line of its own and the
//!   kernel's description of `mm_page_alloc`.
//!
//! A comm may contain blanks, dashes and brackets. The CPU is therefore the first `[cpu]` with a pid
//! before it and a time behind it.

use memchr::memmem;

use crate::events::{every_event, every_group};

/// The kind of a line.
pub(super) enum Line<'a> {
    /// A page event.
    Event(Head<'a>),
    /// Events of a CPU are missing here; 0 if the text does not say how many.
    Lost { cpu: u16, count: u64 },
    /// The first line of `contrib/bpftrace/freehold.bt`.
    Bpftrace,
    /// The format by which the kernel prints an event, which names the bits of flags.
    PrintFormat(&'a [u8]),
    /// Anything else.
    Other,
}

/// The start of a page event's line; its fields are not parsed yet.
pub(super) struct Head<'a> {
    pub(super) cpu: u16,
    pub(super) pid: i32,
    pub(super) time_ns: u64,
    /// The event's name without `kmem:` and its like.
    pub(super) event: &'a [u8],
    /// The text behind the name.
    pub(super) fields: &'a [u8],
}

/// Parts of the names of page events, the most frequent first.
const HINTS: [&[u8]; 6] =
    [b"mm_page_", b"mm_compaction_", b"mm_vmscan_", b"test_pages_", b"cma_", b"mm_pagevec_free"];

/// The names of frees in kernels before 3.3: of single callers, and of vectors of pages.
pub(super) const OLD_FREES: [&[u8]; 2] = [b"mm_page_free_direct", b"mm_pagevec_free"];

/// Parses the start of a line. The error says what a damaged line of a page event should contain.
pub(super) fn classify(line: &[u8]) -> Result<Line<'_>, String> {
    if let Some(lost) = lost(line) {
        return Ok(lost);
    }
    if line == b"# freehold.bt 1" {
        return Ok(Line::Bpftrace);
    }
    if let Some(format) = line.strip_prefix(b"print fmt: ") {
        return Ok(Line::PrintFormat(format));
    }
    if line.first() == Some(&b'#') || !mentions_page_event(line) {
        return Ok(Line::Other);
    }
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'[', &line[from..]) {
        let at = from + at;
        if let Some((cpu, time_ns, rest)) = after_bracket(&line[at + 1..])
            && let Some(pid) = pid_before(&line[..at])
        {
            return Ok(event(cpu, pid, time_ns, rest));
        }
        from = at + 1;
    }
    if every_event().any(|name| named(line, name.as_bytes())) {
        return Err("`task-pid [cpu] … seconds.fraction: event: fields`".to_owned());
    }
    Ok(Line::Other)
}

/// Returns false for most lines of other events, at little cost.
fn mentions_page_event(line: &[u8]) -> bool {
    HINTS.iter().any(|hint| memmem::find(line, hint).is_some())
}

/// Returns true if the line has `name` in the place of an event's name.
fn named(line: &[u8], name: &[u8]) -> bool {
    memmem::find_iter(line, name).any(|at| {
        line[at + name.len()..].starts_with(b":")
            && line[..at].last().is_some_and(|b| matches!(b, b' ' | b':' | b'\t'))
            && memmem::find(&line[at..], b"pfn=").is_some()
    })
}

fn event(cpu: u16, pid: i32, time_ns: u64, rest: &[u8]) -> Line<'_> {
    let rest = rest.trim_ascii_start();
    let without = every_group().find_map(|group| rest.strip_prefix(group.as_bytes())?.strip_prefix(b":"));
    let rest = without.unwrap_or(rest);
    let end = rest.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(rest.len());
    let (event, fields) = rest.split_at(end);
    match fields.strip_prefix(b":") {
        Some(fields)
            if OLD_FREES.contains(&event) || every_event().any(|known| known.as_bytes() == event) =>
        {
            Line::Event(Head { cpu, pid, time_ns, event, fields })
        }
        _ => Line::Other,
    }
}

/// Parses `001] d..2. 941.013459: event…`; returns CPU, time and the rest.
fn after_bracket(text: &[u8]) -> Option<(u16, u64, &[u8])> {
    let (cpu, rest) = digits(text)?;
    let rest = rest.strip_prefix(b"]")?;
    let cpu = u16::try_from(cpu).ok()?;
    let rest = rest.trim_ascii_start();
    if let Some((time_ns, rest)) = time(rest) {
        return Some((cpu, time_ns, rest));
    }
    // The flags, such as `d..2.`, are one word.
    let end = memchr::memchr2(b' ', b'\t', rest)?;
    let (time_ns, rest) = time(rest[end..].trim_ascii_start())?;
    Some((cpu, time_ns, rest))
}

/// Parses `941.013459:`; returns the nanoseconds and the rest.
fn time(text: &[u8]) -> Option<(u64, &[u8])> {
    let (seconds, rest) = digits(text)?;
    let rest = rest.strip_prefix(b".")?;
    let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if !(1..=9).contains(&length) {
        return None;
    }
    let (fraction, _) = digits(&rest[..length])?;
    let rest = rest[length..].strip_prefix(b":")?;
    let nanos = fraction * 10_u64.pow(9 - length as u32);
    Some((seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?, rest))
}

/// Parses the pid at the end of `comm-123 `, `comm 123/124 ` or `comm-123 ( 99) `.
fn pid_before(text: &[u8]) -> Option<i32> {
    let mut text = text.trim_ascii_end();
    if text.ends_with(b")") {
        text = text[..memchr::memrchr(b'(', text)?].trim_ascii_end();
    }
    let start = text.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |at| at + 1);
    let pid = digits(&text[start..])?.0;
    // Perf prints -1 for a task that has ended, where ftrace has the task's name before the dash.
    if text[start..] == *b"1" && text[..start].strip_suffix(b"-").is_some_and(|before| before.ends_with(b" "))
    {
        return Some(0);
    }
    // The pid follows a dash, a blank or a slash, or starts the line.
    let before = text[..start].last();
    if before.is_some_and(|b| !matches!(b, b'-' | b' ' | b'/' | b'\t')) {
        return None;
    }
    i32::try_from(pid).ok()
}

/// Parses `CPU:3 [LOST 123 EVENTS]` or `CPU:3 [123 EVENTS DROPPED]`, whose number may be missing, and bpftrace's
/// `Lost 123 events`, which does not tell the CPU.
fn lost(line: &[u8]) -> Option<Line<'_>> {
    if let Some(rest) = line.strip_prefix(b"Lost ") {
        let (count, rest) = digits(rest)?;
        return (rest == b" events").then_some(Line::Lost { cpu: 0, count });
    }
    let rest = line.trim_ascii_start();
    let rest = rest.strip_prefix(b"CPU:").or_else(|| rest.strip_prefix(b"cpu:"))?;
    let (cpu, rest) = digits(rest)?;
    let rest = rest.trim_ascii().strip_prefix(b"[")?;
    let rest = rest.strip_prefix(b"LOST ").unwrap_or(rest);
    let (count, rest) = digits(rest).unwrap_or((0, rest));
    let rest = rest.trim_ascii_start();
    (rest.starts_with(b"EVENTS]") || rest.starts_with(b"EVENTS DROPPED]"))
        .then_some(Line::Lost { cpu: u16::try_from(cpu).ok()?, count })
}

/// Parses a decimal number at the start; returns it and the rest.
pub(super) fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    if length == 0 {
        return None;
    }
    let mut value = 0_u64;
    for digit in &text[..length] {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    Some((value, &text[length..]))
}
