//! Reads texts, plain or compressed, line by line in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ParseError};

/// The longest line that is read.
///
/// Units: bytes.
pub const MAX_LINE_BYTES: usize = 64 << 10;

/// The most memory for decompressing xz: the dictionary of `xz -9` takes 65 MiB.
const XZ_MEMORY_BYTES: u64 = 256 << 20;
/// Base-2 logarithm of the largest zstd window, which `zstd --long=27` makes.
const ZSTD_WINDOW_LOG: u32 = 27;
/// The decompressed size up to which the ratio is not checked.
const HARMLESS_BYTES: u64 = 64 << 20;
/// The largest ratio of decompressed to compressed bytes. Real texts reach 50.
const MAX_RATIO: u64 = 500;

/// Opens a file for [`unpack`].
pub(crate) fn open_packed(path: &Path) -> Result<BufReader<File>, Error> {
    let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
    Ok(BufReader::with_capacity(1 << 17, file))
}

/// Reads a text from a file. Its first bytes tell whether it is compressed.
pub(crate) fn unpack(path: &Path, mut file: BufReader<File>) -> Result<Box<dyn BufRead>, Error> {
    let start = file.fill_buf().map_err(|e| Error::io("read", path, e))?;
    let format = if start.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        "xz"
    } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        "zstd"
    } else if start.starts_with(&[0x1f, 0x8b]) {
        "gzip"
    } else {
        return Ok(Box::new(file));
    };
    let archive = |source| Error::Archive { file: path.to_owned(), format, source };
    let packed = Arc::new(AtomicU64::new(0));
    let counted = Counted { inner: file, bytes: Arc::clone(&packed) };
    let unpacked: Box<dyn Read> = match format {
        "xz" => {
            let stream =
                liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_BYTES, liblzma::stream::CONCATENATED)
                    .map_err(|e| archive(io::Error::other(e)))?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(BufReader::new(counted), stream))
        }
        "gzip" => Box::new(flate2::read::MultiGzDecoder::new(counted)),
        _ => {
            let mut decoder = zstd::stream::read::Decoder::new(counted).map_err(archive)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(archive)?;
            Box::new(decoder)
        }
    };
    let unpacked = Unpacked { inner: unpacked, packed, bytes: 0, path: path.to_owned(), format };
    Ok(Box::new(BufReader::with_capacity(1 << 17, unpacked)))
}

/// A reader that counts its bytes.
struct Counted<R> {
    inner: R,
    /// Relaxed: only the same thread reads it.
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A decompressed text whose size is checked against its compressed size.
struct Unpacked {
    inner: Box<dyn Read>,
    packed: Arc<AtomicU64>,
    bytes: u64,
    path: PathBuf,
    format: &'static str,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrap = |source| {
            let error = Error::Archive { file: self.path.clone(), format: self.format, source };
            io::Error::new(io::ErrorKind::InvalidData, error)
        };
        let n = self.inner.read(buffer).map_err(wrap)?;
        self.bytes += n as u64;
        let packed = self.packed.load(Ordering::Relaxed);
        if self.bytes > HARMLESS_BYTES && self.bytes / MAX_RATIO > packed {
            return Err(wrap(io::Error::other(format!(
                "it unpacks to more than {MAX_RATIO} times its size, as no trace text does"
            ))));
        }
        Ok(n)
    }
}

/// Reads the next line, with its end, into `line`. Returns false at the end of the text.
pub(super) fn next_line(
    file: &Path,
    text: &mut dyn BufRead,
    number: u64,
    line: &mut Vec<u8>,
) -> Result<bool, Error> {
    line.clear();
    loop {
        let buffer = match text.fill_buf() {
            Ok(buffer) => buffer,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(read_error(file, e)),
        };
        if buffer.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = memchr::memchr(b'\n', buffer).map_or(buffer.len(), |at| at + 1);
        if line.len() + end > MAX_LINE_BYTES {
            let found = String::from_utf8_lossy(&buffer[..end.min(80)]).into_owned();
            return Err(ParseError::new(number, format!("a line of at most {MAX_LINE_BYTES} bytes"), &found)
                .in_file(file, "Check that the file is a trace text"));
        }
        line.extend_from_slice(&buffer[..end]);
        text.consume(end);
        if line.ends_with(b"\n") {
            return Ok(true);
        }
    }
}

/// Converts an error of a reader; an error of [`Unpacked`] is passed on.
fn read_error(file: &Path, error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(own) => own,
        Err(other) => Error::io("read", file, other),
    }
}
