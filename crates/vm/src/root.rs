//! The root file system of a guest: paths, modes and bytes come in; an initramfs goes out.

use crate::error::{VmError, VmResult};

/// A file or folder of an initramfs.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    path: &'a str,
    mode: u32,
    content: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Returns a folder. Its parent folder must come before it.
    pub const fn folder(path: &'a str) -> Self {
        Self { path, mode: 0o040_755, content: &[] }
    }

    /// Returns a file that everyone may read.
    pub const fn file(path: &'a str, content: &'a [u8]) -> Self {
        Self { path, mode: 0o100_644, content }
    }

    /// Returns a file that everyone may run.
    pub const fn program(path: &'a str, content: &'a [u8]) -> Self {
        Self { path, mode: 0o100_755, content }
    }
}

/// Returns an archive of entries in cpio's format `newc`. Linux unpacks it as the root.
///
/// # Errors
/// If a file has 4 GiB or more.
pub fn archive(entries: &[Entry<'_>]) -> VmResult<Vec<u8>> {
    let size: usize = entries.iter().map(|entry| entry.content.len() + 256).sum();
    let mut archive = Vec::with_capacity(size);
    let end = Entry { path: "TRAILER!!!", mode: 0, content: &[] };
    for (number, entry) in (1..).zip(entries.iter().chain([&end])) {
        add(&mut archive, number, entry)?;
    }
    Ok(archive)
}

/// Adds an entry: thirteen numbers of eight digits, the path, and the content, each aligned to four bytes.
fn add(archive: &mut Vec<u8>, number: u32, &Entry { path, mode, content }: &Entry<'_>) -> VmResult<()> {
    let size = u32::try_from(content.len()).map_err(|_| VmError::TooLarge { path: path.to_owned() })?;
    archive.extend(b"070701");
    for field in [number, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, path.len() as u32 + 1, 0] {
        archive.extend(format!("{field:08X}").bytes());
    }
    for part in [[path.as_bytes(), &[0]].concat().as_slice(), content] {
        archive.extend(part);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_entries_are_aligned_to_four_bytes() {
        let archive = archive(&[Entry::folder("dev"), Entry::program("init", b"ELF!!")]).unwrap();
        assert_eq!(archive.len() % 4, 0);
        let heads: Vec<_> = (0..archive.len()).filter(|&at| archive[at..].starts_with(b"070701")).collect();
        assert_eq!(heads.len(), 3);
        assert!(heads.iter().all(|at| at % 4 == 0));
        assert_eq!(&archive[heads[0] + 14..heads[0] + 22], b"000041ED");
        let init = heads[1];
        assert_eq!(&archive[init + 14..init + 22], b"000081ED");
        assert_eq!(&archive[init + 54..init + 62], b"00000005");
        assert_eq!(&archive[init + 110..init + 115], b"init\0");
        assert_eq!(&archive[init + 116..init + 121], b"ELF!!");
        assert!(archive[heads[2] + 110..].starts_with(b"TRAILER!!!\0"));
    }
}
