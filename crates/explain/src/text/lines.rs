//! A stream of bytes as lines, in bounded memory.

use std::io::{self, BufRead};

/// The most bytes of one line that are kept.
const MAX_LINE_BYTES: usize = 1 << 14;

/// What was read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReadStats {
    /// Bytes of all lines.
    pub(crate) bytes: u64,
    /// Lines, as the file has them.
    pub(crate) lines: u64,
    /// Bytes that no text has: zeros, and others below a blank.
    pub(crate) binary_bytes: u64,
}

/// Reads lines of any length and encoding. A line longer than 16 KiB is cut there.
pub(crate) struct Lines<R> {
    input: R,
    bytes: Vec<u8>,
    stats: ReadStats,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, bytes: Vec::new(), stats: ReadStats::default() }
    }

    pub(crate) fn stats(&self) -> ReadStats {
        self.stats
    }

    /// Reads a line and passes each of the kernel's lines in it to `take`. Returns false at the end.
    ///
    /// A journal has `\x0a` and a syslog `#012` where the kernel ended a line within one message.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn next(&mut self, mut take: impl FnMut(&str, bool)) -> io::Result<bool> {
        if !self.fill()? {
            return Ok(false);
        }
        let text = String::from_utf8_lossy(&self.bytes);
        let mut is_first = true;
        for part in text.split("\\x0a").flat_map(|part| part.split("#012")) {
            take(part, is_first);
            is_first = false;
        }
        Ok(true)
    }

    fn fill(&mut self) -> io::Result<bool> {
        self.bytes.clear();
        let mut read = 0_u64;
        loop {
            let chunk = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let used = part.len() + usize::from(end.is_some());
            let room = MAX_LINE_BYTES.saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(&part[..part.len().min(room)]);
            self.stats.binary_bytes += part.iter().filter(|&&byte| is_binary(byte)).count() as u64;
            self.input.consume(used);
            read += used as u64;
            if end.is_some() || used == 0 {
                break;
            }
        }
        self.stats.bytes += read;
        self.stats.lines += u64::from(read > 0);
        Ok(read > 0)
    }
}

/// Returns true for control characters but tabs, ends of lines, and the escapes of colours.
fn is_binary(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\r' | 0x1b | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_split() {
        let long = "x".repeat(MAX_LINE_BYTES * 3);
        let input = format!("a\\x0ab#012c\r\n{long}\n\0\nlast");
        let mut lines = Lines::new(io::BufReader::with_capacity(7, input.as_bytes()));
        let mut seen = Vec::new();
        while lines.next(|text, is_first| seen.push((text.len(), is_first))).unwrap() {}
        let expected = [(1, true), (1, false), (2, false), (MAX_LINE_BYTES, true), (1, true), (4, true)];
        assert_eq!(seen, expected);
        let stats = lines.stats();
        assert_eq!((stats.lines, stats.bytes, stats.binary_bytes), (4, input.len() as u64, 1));
    }
}
