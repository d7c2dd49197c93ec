//! Splits a stream into messages, and checks every length.
//!
//! A message is `FF FF FF FF`, the length of its metadata (4 bytes, little-endian), the metadata (a flatbuffer,
//! verified here before use) and a body. The metadata has the length of the body. A metadata length of 0 ends the
//! stream.

use std::io::{self, Read};

use crate::format::{MAX_BODY_BYTES, MAX_METADATA_BYTES, Place, TraceError};

const CONTINUATION: [u8; 4] = [0xff; 4];

/// A reader of messages.
pub(super) struct Messages<R> {
    source: R,
    metadata: Vec<u8>,
    body: Vec<u8>,
    /// Bytes read from the source.
    bytes: u64,
    /// The checksum of all messages before the current one.
    crc_before: crc32fast::Hasher,
    crc: crc32fast::Hasher,
}

/// The result of reading a message.
pub(super) enum Next {
    /// A message, which [`Messages::current`] returns.
    Message,
    /// The end-of-stream marker.
    EndOfStream,
    /// The source ended between two messages.
    EndOfFile,
    /// The source ended within a message.
    Truncated,
    /// Bytes that are not a message; the first four of them.
    Foreign([u8; 4]),
}

impl<R: Read> Messages<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            metadata: Vec::new(),
            body: Vec::new(),
            bytes: 0,
            crc_before: crc32fast::Hasher::new(),
            crc: crc32fast::Hasher::new(),
        }
    }

    /// Reads the next message.
    pub(super) fn advance(&mut self, place: Place<'_>) -> Result<Next, TraceError> {
        self.crc_before = self.crc.clone();
        let mut word = [0; 4];
        match self.read_word(&mut word).map_err(|e| place.io(e))? {
            0 => return Ok(Next::EndOfFile),
            4 if word != CONTINUATION => return Ok(Next::Foreign(word)),
            4 => {}
            got if word[..got] == CONTINUATION[..got] => return Ok(Next::Truncated),
            _ => return Ok(Next::Foreign(word)),
        }
        if self.read_word(&mut word).map_err(|e| place.io(e))? < 4 {
            return Ok(Next::Truncated);
        }
        let length = u32::from_le_bytes(word) as usize;
        if length == 0 {
            return Ok(Next::EndOfStream);
        }
        if length > MAX_METADATA_BYTES {
            return Err(place.corrupt(format!("message metadata of {length} bytes")));
        }
        if !self.read_part(length, Part::Metadata).map_err(|e| place.io(e))? {
            return Ok(Next::Truncated);
        }
        let body_length = self.current(place)?.bodyLength();
        let length = usize::try_from(body_length).ok().filter(|&length| length <= MAX_BODY_BYTES);
        let length = length.ok_or_else(|| place.corrupt(format!("message body of {body_length} bytes")))?;
        if !self.read_part(length, Part::Body).map_err(|e| place.io(e))? {
            return Ok(Next::Truncated);
        }
        Ok(Next::Message)
    }

    /// Returns the metadata of the message that [`Self::advance`] read.
    pub(super) fn current(&self, place: Place<'_>) -> Result<arrow_ipc::Message<'_>, TraceError> {
        let message = arrow_ipc::root_as_message(&self.metadata);
        message.map_err(|e| place.corrupt(format!("message metadata: {}", first_line(&e.to_string()))))
    }

    /// Returns the body of the message that [`Self::advance`] read.
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Returns the bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the CRC-32 of every byte before the current message.
    pub(super) fn crc_before(&self) -> u32 {
        self.crc_before.clone().finalize()
    }

    /// Fills `word` unless the source ends. Returns the number of bytes read.
    fn read_word(&mut self, word: &mut [u8; 4]) -> io::Result<usize> {
        let mut got = 0;
        while got < word.len() {
            match self.source.read(&mut word[got..]) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.bytes += got as u64;
        self.crc.update(&word[..got]);
        Ok(got)
    }

    /// Reads `length` bytes. Returns false if the source ends earlier. Memory use grows with the bytes read, and not
    /// with `length`.
    fn read_part(&mut self, length: usize, part: Part) -> io::Result<bool> {
        let into = match part {
            Part::Metadata => &mut self.metadata,
            Part::Body => &mut self.body,
        };
        into.clear();
        self.source.by_ref().take(length as u64).read_to_end(into)?;
        self.bytes += into.len() as u64;
        self.crc.update(into);
        Ok(into.len() == length)
    }
}

#[derive(Clone, Copy)]
enum Part {
    Metadata,
    Body,
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns the probable type of a file that is not a trace, and the remedy.
pub(super) fn guess(start: [u8; 4]) -> &'static str {
    match start {
        [0x1f, 0x8b, ..] => "gzip data: decompress it first",
        [0x28, 0xb5, 0x2f, 0xfd] => "zstd data: decompress it first",
        [0xfd, b'7', b'z', b'X'] => "xz data: decompress it first",
        [b'A', b'R', b'R', b'O'] => {
            "an Arrow file (Feather): traces are Arrow IPC streams; write it as a stream"
        }
        [b'P', b'A', b'R', b'1'] => "a Parquet file: give it the trace that it was made from",
        [0x17, 0x08, 0x44, b't'] => "a trace-cmd file: import the text of `trace-cmd report`",
        [b'P', b'E', b'R', b'F'] => "a perf.data file: import it first",
        [b'#', b' ', b't', b'r'] => "the text of tracefs: import it first",
        _ => "something else: give it a file that `freehold record` or `freehold import` wrote",
    }
}
