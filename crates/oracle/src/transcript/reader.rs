//! The reader of transcripts.

use std::io::{self, Read};

use freehold::Era;

use super::word::Word;
use crate::kernel::KernelVersion;
use crate::script::{FORMAT_VERSION, HEADER_BYTES, number};

const MAGIC: &[u8; 8] = b"FHTRANS1";

/// The version of the oracle's behaviour. It increases whenever the oracle's results change.
pub const ORACLE_VERSION: u32 = 1;

/// The error for a transcript that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// The file is not a transcript.
    #[error("these bytes are not a transcript of the oracle (they do not start with FHTRANS1)")]
    NotATranscript,
    /// The transcript has another format, or is from another version of the oracle.
    #[error(
        "the transcript was written with format {format} by oracle version {oracle}, this program reads format \
         {FORMAT_VERSION} of oracle version {ORACLE_VERSION}; make it anew with `cargo xtask oracle`"
    )]
    OtherVersion {
        /// The format version of the file.
        format: u32,
        /// The version of the oracle that wrote it.
        oracle: u32,
    },
    /// No era of the engine follows this kernel.
    #[error("the transcript is of Linux {0}, which no era of the engine follows")]
    UnknownKernel(String),
    /// The bytes end too early.
    #[error("the transcript was cut short: it ends after {words} words, before its end word")]
    CutShort {
        /// The number of words in the file.
        words: u64,
    },
    /// A word is not valid at its place.
    #[error("word {at} of the transcript is {word:#018x}, which means nothing there")]
    Nonsense {
        /// Index of the word.
        at: u64,
        /// The word.
        word: u64,
    },
    /// Another user of the allocator disturbed the script.
    #[error("the transcript is void: the kernel used its allocator for itself at word {at} ({word:?})")]
    Void {
        /// The index of the word.
        at: u64,
        /// The word that records the other use.
        word: Word,
    },
    /// The start state cannot be restored.
    #[error("the state at the start of the transcript cannot be restored: {0}")]
    BadStart(String),
    /// The engine violated an invariant.
    #[error("the engine broke an invariant: {0}")]
    BrokenEngine(String),
    /// The bytes cannot be read.
    #[error("the transcript cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// A reader of a transcript's words.
#[derive(Debug)]
pub struct Transcript<R> {
    bytes: R,
    release: String,
    words: u64,
    ahead: Option<Word>,
}

impl<R: Read> Transcript<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// See [`TranscriptError`].
    pub fn new(mut bytes: R) -> Result<Self, TranscriptError> {
        let mut header = [0; HEADER_BYTES];
        bytes.read_exact(&mut header).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => TranscriptError::NotATranscript,
            _ => error.into(),
        })?;
        if !header.starts_with(MAGIC) {
            return Err(TranscriptError::NotATranscript);
        }
        let (format, oracle) = (number(&header, 8, 4) as u32, number(&header, 12, 4) as u32);
        if format != FORMAT_VERSION || oracle != ORACLE_VERSION {
            return Err(TranscriptError::OtherVersion { format, oracle });
        }
        let release = String::from_utf8_lossy(&header[16..]).trim_end_matches('\0').to_owned();
        Ok(Self { bytes, release, words: 0, ahead: None })
    }

    /// Returns the kernel's release, as `uname -r` prints it.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Returns the engine's era for this kernel.
    ///
    /// # Errors
    /// [`TranscriptError::UnknownKernel`].
    pub fn era(&self) -> Result<Era, TranscriptError> {
        KernelVersion::of_release(&self.release)
            .map(KernelVersion::era)
            .ok_or_else(|| TranscriptError::UnknownKernel(self.release.clone()))
    }

    /// Returns the number of words read so far.
    pub fn position(&self) -> u64 {
        self.words
    }

    fn raw(&mut self) -> Result<u64, TranscriptError> {
        let mut bytes = [0; 8];
        self.bytes.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => TranscriptError::CutShort { words: self.words },
            _ => error.into(),
        })?;
        self.words += 1;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Returns the next word.
    ///
    /// # Errors
    /// See [`TranscriptError`]. [`TranscriptError::Void`] if another user of the allocator disturbed the script.
    pub fn word(&mut self) -> Result<Word, TranscriptError> {
        if let Some(word) = self.ahead.take() {
            return Ok(word);
        }
        let raw = self.raw()?;
        let at = self.words - 1;
        match Word::decode(raw) {
            None => Err(TranscriptError::Nonsense { at, word: raw }),
            Some(word @ Word::Foreign { .. }) => Err(TranscriptError::Void { at, word }),
            Some(word) => Ok(word),
        }
    }

    /// Puts a word back, so that the next call reads it again.
    pub(crate) fn unread(&mut self, word: Word) {
        self.ahead = Some(word);
    }

    /// Returns the text behind a text word.
    ///
    /// # Errors
    /// See [`TranscriptError`].
    pub fn text(&mut self, bytes: u64) -> Result<Vec<u8>, TranscriptError> {
        let mut text = Vec::new();
        for _ in 0..bytes.div_ceil(8) {
            text.extend_from_slice(&self.raw()?.to_le_bytes());
        }
        text.truncate(bytes as usize);
        Ok(text)
    }

    /// Fails unless the transcript has ended.
    pub(crate) fn at_end(&mut self) -> Result<(), TranscriptError> {
        match self.raw() {
            Ok(word) => Err(TranscriptError::Nonsense { at: self.words - 1, word }),
            Err(TranscriptError::CutShort { .. }) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Returns the error for a word that is not valid here.
    pub(crate) fn nonsense(&self, word: Word) -> TranscriptError {
        TranscriptError::Nonsense { at: self.words.saturating_sub(1), word: word.encode() }
    }
}
