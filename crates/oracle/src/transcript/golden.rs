//! Golden files: a script and its transcript in one file, so that tests need no kernel.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use super::reader::{Transcript, TranscriptError};
use crate::script::{Script, ScriptError};

/// The zstd level of golden files. They are written once and read often.
const LEVEL: i32 = 19;

/// The error for a golden file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The script is not valid.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The transcript is not valid.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
}

/// A script and its transcript.
#[derive(Debug)]
pub struct Golden {
    /// The script.
    pub script: Script,
    /// The transcript.
    pub transcript: Transcript<Cursor<Vec<u8>>>,
}

impl Golden {
    /// Reads a golden file.
    ///
    /// # Errors
    /// See [`GoldenError`].
    pub fn open(path: &Path) -> Result<Self, GoldenError> {
        let mut bytes = Vec::new();
        zstd::Decoder::new(BufReader::new(File::open(path)?))?.read_to_end(&mut bytes)?;
        let (script, taken) = Script::from_bytes(&bytes)?;
        bytes.drain(..taken);
        let transcript = Transcript::new(Cursor::new(bytes))?;
        Ok(Self { script, transcript })
    }

    /// Packs a script and its transcript into the bytes of a golden file.
    ///
    /// # Errors
    /// Those of the compression.
    pub fn pack(script: &Script, transcript: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = script.to_bytes();
        bytes.extend_from_slice(transcript);
        zstd::encode_all(bytes.as_slice(), LEVEL)
    }

    /// Returns the folder of the golden files, which are `golden/<kernel>/<family>.zst` of this crate.
    pub fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
    }
}
