//! A stream of bytes as lines, in bounded memory.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::needles::{LONGEST, Needles};

/// The bytes that are read and searched at a time, and the most of one line.
const BLOCK_BYTES: usize = 1 << 18;
/// The bytes at the start of a file that tell whether it is text.
const START_BYTES: u64 = 1 << 22;

/// What was read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReadStats {
    /// Bytes of all lines.
    pub(crate) bytes: u64,
    /// Lines, as the file has them.
    pub(crate) lines: u64,
    /// Bytes that no text has, of the first 4 MiB: zeros, and others below a blank.
    binary_bytes: u64,
}

impl ReadStats {
    /// Returns true if the start of the file is no text.
    pub(crate) fn is_binary(self) -> bool {
        self.binary_bytes > self.bytes.min(START_BYTES) / 64
    }
}

/// Reads lines of any length and encoding. A line longer than a block is cut into several.
pub(crate) struct Lines<R> {
    input: R,
    block: Vec<u8>,
    /// The part of the block that was read and not yet taken.
    at: usize,
    end: usize,
    is_over: bool,
    is_utf16: bool,
    needles: Needles,
    stats: ReadStats,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            block: vec![0; BLOCK_BYTES],
            at: 0,
            end: 0,
            is_over: false,
            is_utf16: false,
            needles: Needles::new(),
            stats: ReadStats::default(),
        }
    }

    pub(crate) fn stats(&self) -> ReadStats {
        self.stats
    }

    /// Returns what was read and not yet taken, and reads if that is nothing.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.fill()?;
        }
        Ok(&self.block[self.at..self.end])
    }

    /// Takes a line. Returns `None` at the end.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut end = memchr(b'\n', &self.block[self.at..self.end]);
        while end.is_none() && self.end - self.at < BLOCK_BYTES && self.fill()? {
            end = memchr(b'\n', &self.block[self.at..self.end]);
        }
        let used = end.map_or(self.end - self.at, |end| end + 1);
        let line = self.at..self.at + end.unwrap_or(used);
        self.take(used);
        Ok((used > 0).then(|| &self.block[line]))
    }

    /// Takes all lines up to the next that has a word of reports.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn skip(&mut self) -> io::Result<()> {
        loop {
            let text = &self.block[..self.end];
            let Some(found) = self.needles.find(text, self.at) else {
                let is_full = self.end - self.at == BLOCK_BYTES;
                let whole = memrchr(b'\n', &text[self.at..]).map(|end| end + 1);
                // The end of a very long line, but for what may be the start of a word.
                let part = if is_full || self.is_over { self.end - self.at } else { 0 };
                self.take(whole.unwrap_or(part.saturating_sub(LONGEST)));
                if !self.fill()? {
                    return Ok(());
                }
                continue;
            };
            let start = memrchr(b'\n', &text[self.at..found]).map_or(0, |end| end + 1);
            self.take(start);
            return Ok(());
        }
    }

    fn take(&mut self, used: usize) {
        let taken = &self.block[self.at..self.at + used];
        if self.stats.bytes < START_BYTES {
            self.stats.binary_bytes += taken.iter().filter(|&&byte| is_binary(byte)).count() as u64;
        }
        self.stats.bytes += used as u64;
        self.stats.lines += memchr_iter(b'\n', taken).count() as u64;
        self.at += used;
    }

    /// Takes the zeros out of text in UTF-16, as Windows writes it, which leaves ASCII. Returns how many bytes are left.
    fn plain(&mut self, read: usize) -> usize {
        let new = &mut self.block[self.end..self.end + read];
        self.is_utf16 |= self.stats.bytes == 0
            && self.at == 0
            && self.end == 0
            && (new.starts_with(b"\xff\xfe") || new.starts_with(b"\xfe\xff"));
        if !self.is_utf16 {
            return read;
        }
        let mut kept = 0;
        for number in 0..new.len() {
            if new[number] != 0 {
                new[kept] = new[number];
                kept += 1;
            }
        }
        kept
    }

    /// Reads more behind what is not yet taken. Returns false if there is no more, or no room.
    fn fill(&mut self) -> io::Result<bool> {
        if self.is_over {
            return Ok(false);
        }
        self.block.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        self.needles.forget();
        let before = self.end;
        while self.end < BLOCK_BYTES {
            match self.input.read(&mut self.block[self.end..]) {
                Ok(0) => {
                    self.is_over = true;
                    // A last line without an end counts.
                    self.stats.lines += u64::from(self.end > 0 && self.block[self.end - 1] != b'\n');
                    break;
                }
                Ok(read) => self.end += self.plain(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.end > before)
    }
}

/// Returns true for control characters but tabs, ends of lines, and the escapes of colours.
fn is_binary(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\r' | b'\n' | 0x1b | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a few bytes at a time.
    struct Slow<'t>(&'t [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = buffer.len().min(7_001);
            self.0.read(&mut buffer[..size])
        }
    }

    #[test]
    fn lines_are_bounded() {
        let long = "x".repeat(BLOCK_BYTES * 3);
        let input = format!("a\r\n{long}\n\0\nlast");
        let mut lines = Lines::new(Slow(input.as_bytes()));
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push(line.len());
        }
        assert_eq!(seen, [2, BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES, 0, 1, 4]);
        let stats = lines.stats();
        assert_eq!((stats.lines, stats.bytes, stats.binary_bytes), (4, input.len() as u64, 1));
    }

    #[test]
    fn text_of_windows_is_read() {
        let wide: Vec<u8> = "\u{feff}Mem-Info:\r\nb\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut lines = Lines::new(Slow(&wide));
        assert_eq!(lines.next().unwrap(), Some(b"\xff\xfeMem-Info:\r".as_slice()));
        assert_eq!(lines.next().unwrap(), Some(b"b".as_slice()));
    }

    #[test]
    fn lines_without_words_are_skipped() {
        let noise = "nothing of interest\n".repeat(40_000);
        let long = "y".repeat(BLOCK_BYTES * 2);
        let input = format!("{noise}a Tainted: b\n{noise}{long}Mem-Info:\n{noise}PFNs busy");
        let mut lines = Lines::new(Slow(input.as_bytes()));
        let mut seen = Vec::new();
        loop {
            lines.skip().unwrap();
            let Some(line) = lines.next().unwrap() else { break };
            let text = String::from_utf8_lossy(line);
            seen.push(text.trim_start_matches('y').to_owned());
        }
        assert_eq!(seen, ["a Tainted: b", "Mem-Info:", "PFNs busy"]);
        assert_eq!(lines.stats().bytes, input.len() as u64);
        assert_eq!(lines.stats().lines, input.lines().count() as u64);
    }
}
