//! Reading what the oracle wrote.

use std::io::{self, Read};

use freehold::Era;

use super::word::Word;
use crate::kernel::KernelVersion;
use crate::script::{FORMAT_VERSION, HEADER_BYTES, number};

const MAGIC: &[u8; 8] = b"FHTRANS1";

/// The oracle's behaviour that this reader knows; raised whenever the oracle answers differently.
pub const ORACLE_VERSION: u32 = 1;

/// What is wrong with a transcript.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// Not one at all.
    #[error("these bytes are not a transcript of the oracle (they do not start with FHTRANS1)")]
    NotATranscript,
    /// Written in another format, or by an oracle that behaves differently.
    #[error(
        "the transcript was written with format {format} by oracle version {oracle}, this program reads format \
         {FORMAT_VERSION} of oracle version {ORACLE_VERSION}; make it anew with `cargo xtask oracle`"
    )]
    OtherVersion {
        /// Its format.
        format: u32,
        /// Its oracle.
        oracle: u32,
    },
    /// No era follows this kernel.
    #[error("the transcript is of Linux {0}, which no era of the engine follows")]
    UnknownKernel(String),
    /// The bytes end too early.
    #[error("the transcript was cut short: it ends after {words} words, before its end word")]
    CutShort {
        /// Words that were there.
        words: u64,
    },
    /// A word that means nothing here.
    #[error("word {at} of the transcript is {word:#018x}, which means nothing there")]
    Nonsense {
        /// Which word, from 0.
        at: u64,
        /// The word.
        word: u64,
    },
    /// Something else ran on the real allocator.
    #[error("the transcript is void: the kernel used its allocator for itself at word {at} ({word:?})")]
    Void {
        /// Which word, from 0.
        at: u64,
        /// What was seen.
        word: Word,
    },
    /// The state at the start cannot be set up.
    #[error("the state at the start of the transcript cannot be restored: {0}")]
    BadStart(String),
    /// The engine broke one of its own rules.
    #[error("the engine broke an invariant: {0}")]
    BrokenEngine(String),
    /// The bytes cannot be read.
    #[error("the transcript cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// The words of a transcript, one after the other.
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

    /// The kernel's release, as `uname -r` prints it.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// The era that follows this kernel.
    ///
    /// # Errors
    /// [`TranscriptError::UnknownKernel`].
    pub fn era(&self) -> Result<Era, TranscriptError> {
        KernelVersion::of_release(&self.release)
            .map(KernelVersion::era)
            .ok_or_else(|| TranscriptError::UnknownKernel(self.release.clone()))
    }

    /// How many words were read.
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

    /// The next word.
    ///
    /// # Errors
    /// See [`TranscriptError`]; a foreign use of the allocator is one.
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

    /// Gives a word back, to be read again.
    pub(crate) fn unread(&mut self, word: Word) {
        self.ahead = Some(word);
    }

    /// The text behind a text word.
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

    /// Makes sure that nothing follows.
    pub(crate) fn at_end(&mut self) -> Result<(), TranscriptError> {
        match self.raw() {
            Ok(word) => Err(TranscriptError::Nonsense { at: self.words - 1, word }),
            Err(TranscriptError::CutShort { .. }) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// An error for a word that has no business here.
    pub(crate) fn nonsense(&self, word: Word) -> TranscriptError {
        TranscriptError::Nonsense { at: self.words.saturating_sub(1), word: word.encode() }
    }
}
