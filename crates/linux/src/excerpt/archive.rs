//! The parts of a tar archive.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::part::{FILES, MAX_PART_BYTES, is_log};

/// The bytes of a header, and of a unit of data.
const BLOCK: usize = 512;

/// The most bytes of a path.
const MAX_PATH_BYTES: u64 = 1 << 16;

/// Returns true if a file starts as a tar archive does.
pub(super) fn is_header(start: &[u8]) -> bool {
    start.len() >= BLOCK && &start[257..262] == b"ustar"
}

/// The header of a file in an archive.
struct Entry {
    path: String,
    size: u64,
}

impl Entry {
    /// Reads the next header, and the long path that may stand before it; `None` at the end of the archive.
    fn next(file: &mut impl Read) -> io::Result<Option<Self>> {
        let mut long_path = None;
        while let Some(header) = header(file)? {
            let size = octal(&header[124..136]).ok_or_else(damaged)?;
            if header[156] != b'L' {
                let path = long_path.unwrap_or_else(|| path(&header));
                return Ok(Some(Self { path, size }));
            }
            let text = Self { path: String::new(), size: size.min(MAX_PATH_BYTES) }.text(file)?;
            long_path = Some(text.trim_end_matches('\0').to_owned());
        }
        Ok(None)
    }

    /// Reads the contents.
    fn text(&self, file: &mut impl Read) -> io::Result<String> {
        let mut bytes = vec![0; self.size.next_multiple_of(BLOCK as u64) as usize];
        file.read_exact(&mut bytes)?;
        bytes.truncate(self.size as usize);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn skip(&self, file: &mut impl Read) -> io::Result<()> {
        let padded = self.size.checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX);
        let skipped = io::copy(&mut file.take(padded), &mut io::sink())?;
        if skipped < padded { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

/// Reads a header; `None` at the end of the archive, which blocks of zeros mark.
fn header(file: &mut impl Read) -> io::Result<Option<[u8; BLOCK]>> {
    let mut header = Vec::with_capacity(BLOCK);
    file.take(BLOCK as u64).read_to_end(&mut header)?;
    if header.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let header: [u8; BLOCK] = header.try_into().map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))?;
    if is_header(&header) { Ok(Some(header)) } else { Err(damaged()) }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a header of the archive is damaged")
}

/// Returns the parts of a tar archive by the paths of their files, whatever folder of the archive they are in.
pub(super) fn parts(file: &mut impl Read) -> io::Result<BTreeMap<&'static str, String>> {
    let mut parts = BTreeMap::new();
    while let Some(entry) = Entry::next(file)? {
        let name = FILES.iter().find(|name| entry.path.ends_with(*name));
        let Some(name) = name.filter(|_| entry.size <= MAX_PART_BYTES as u64) else {
            entry.skip(file)?;
            continue;
        };
        let text = entry.text(file)?;
        if !text.is_empty() {
            parts.entry(*name).or_insert(text);
        }
    }
    Ok(parts)
}

/// The kernel logs of an archive, one after the other.
pub(super) struct ArchivedLogs<R> {
    file: R,
    /// The rest of the log that is being read, and of the padding behind it.
    left: u64,
    padding: u64,
}

impl<R: Read> ArchivedLogs<R> {
    pub(super) fn new(file: R) -> Self {
        Self { file, left: 0, padding: 0 }
    }

    /// Goes on to the next log. Returns false at the end of the archive.
    fn next(&mut self) -> io::Result<bool> {
        io::copy(&mut self.file.by_ref().take(self.padding), &mut io::sink())?;
        self.padding = 0;
        while let Some(entry) = Entry::next(&mut self.file)? {
            if is_log(&entry.path) && entry.size > 0 {
                self.left = entry.size;
                self.padding =
                    entry.size.checked_next_multiple_of(BLOCK as u64).map_or(0, |all| all - entry.size);
                return Ok(true);
            }
            entry.skip(&mut self.file)?;
        }
        Ok(false)
    }
}

impl<R: Read> Read for ArchivedLogs<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.next()? {
            return Ok(0);
        }
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.file.read(&mut buffer[..room])?;
        self.left = if read == 0 { 0 } else { self.left - read as u64 };
        Ok(read)
    }
}

/// Returns the path of a header: its prefix and its name.
fn path(header: &[u8; BLOCK]) -> String {
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or_default()).into_owned()
    };
    format!("{}/{}", text(&header[345..500]), text(&header[..100]))
}

fn octal(bytes: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(bytes).ok()?.trim_matches(['\0', ' ']);
    u64::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, text: &str) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        bytes[124..136].copy_from_slice(format!("{:011o}\0", text.len()).as_bytes());
        bytes[156] = b'0';
        bytes[257..262].copy_from_slice(b"ustar");
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    #[test]
    fn files_are_found_in_any_folder() {
        let mut archive = entry("sosreport-x/etc/hosts", &"x".repeat(700));
        archive.extend(entry("sosreport-x/proc/buddyinfo", "Node 0, zone DMA 1 \n"));
        archive.extend(vec![0; 2 * BLOCK]);
        assert!(is_header(&archive));
        let found = parts(&mut archive.as_slice()).unwrap();
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [("proc/buddyinfo", "Node 0, zone DMA 1 \n".to_owned())]
        );
    }

    #[test]
    fn logs_are_read_one_after_the_other() {
        let mut archive = entry("s/var/log/messages", "one\n");
        archive.extend(entry("s/proc/buddyinfo", "Node\n"));
        archive.extend(entry("s/sos_commands/kernel/dmesg", "two\n"));
        archive.extend(vec![0; 2 * BLOCK]);
        let mut text = String::new();
        ArchivedLogs::new(archive.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\ntwo\n");
        let mut cut = ArchivedLogs::new(&archive[..1100]);
        assert!(cut.read_to_end(&mut Vec::new()).is_err());
    }

    #[test]
    fn damage_is_an_error_and_no_panic() {
        let archive = entry("proc/buddyinfo", &"x".repeat(600));
        assert!(parts(&mut &archive[..700]).is_err());
        let mut damaged = archive.clone();
        damaged[124..136].copy_from_slice(b"zzzzzzzzzzzz");
        assert!(parts(&mut damaged.as_slice()).is_err());
    }
}
