//! The parts of a tar archive.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::{FILES, MAX_PART_BYTES};

/// The bytes of a header, and of a unit of data.
const BLOCK: usize = 512;

/// Returns true if a file starts as a tar archive does.
pub(super) fn is_header(start: &[u8]) -> bool {
    start.len() >= BLOCK && &start[257..262] == b"ustar"
}

/// Returns the parts of a tar archive by the paths of their files, whatever folder of the archive they are in.
pub(super) fn parts(file: &mut impl Read) -> io::Result<BTreeMap<&'static str, String>> {
    let mut parts = BTreeMap::new();
    let mut header = [0; BLOCK];
    let mut long_path = None;
    while file.read_exact(&mut header).is_ok() && is_header(&header) {
        let Some(size) = octal(&header[124..136]) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a header of the archive is damaged"));
        };
        let path = long_path.take().unwrap_or_else(|| path(&header));
        let padded = size.next_multiple_of(BLOCK as u64);
        let kept = FILES.iter().find(|name| path.ends_with(*name));
        let is_long_path = header[156] == b'L';
        if size > MAX_PART_BYTES as u64 || (kept.is_none() && !is_long_path) {
            io::copy(&mut file.by_ref().take(padded), &mut io::sink())?;
            continue;
        }
        let mut bytes = vec![0; padded as usize];
        file.read_exact(&mut bytes)?;
        bytes.truncate(size as usize);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match kept {
            Some(name) if !is_long_path && !text.is_empty() => {
                parts.entry(*name).or_insert(text);
            }
            _ if is_long_path => long_path = Some(text.trim_end_matches('\0').to_owned()),
            _ => {}
        }
    }
    Ok(parts)
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
    fn damage_is_an_error_and_no_panic() {
        let archive = entry("proc/buddyinfo", &"x".repeat(600));
        assert!(parts(&mut &archive[..700]).is_err());
        let mut damaged = archive.clone();
        damaged[124..136].copy_from_slice(b"zzzzzzzzzzzz");
        assert!(parts(&mut damaged.as_slice()).is_err());
    }
}
