//! A page of this process: its frame number is in `/proc/self/pagemap`, its `struct page` by a BPF program.
//!
//! Unsafe island: a mapping, for which no safe interface is in use here.
#![expect(unsafe_code, reason = "mmap has no safe form here")]

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr;

use rustix::fs::{MemfdFlags, memfd_create};

/// Bytes of an entry of `/proc/self/pagemap`.
const ENTRY_BYTES: usize = 8;

/// The bit of an entry whose page is present.
const PRESENT: u64 = 1 << 63;

/// The bits of an entry that are the frame number; all zero for a process that may not know it.
const FRAME: u64 = (1 << 55) - 1;

/// A file of one page in memory, and its mapping.
#[derive(Debug)]
pub(super) struct OwnPage {
    file: File,
    address: *mut libc::c_void,
    bytes: usize,
}

impl OwnPage {
    /// Makes the page, which is then present.
    ///
    /// # Errors
    /// If the kernel refuses the file or the mapping.
    pub(super) fn new() -> io::Result<Self> {
        let mut file = File::from(memfd_create("freehold", MemfdFlags::CLOEXEC)?);
        file.write_all(&[1])?;
        let bytes = rustix::param::page_size();
        let (how, kind) = (libc::PROT_READ, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: the kernel chooses the place of a new mapping, which only this value knows and whose memory it
        // never reads or writes.
        let address = unsafe { libc::mmap(ptr::null_mut(), bytes, how, kind, file.as_raw_fd(), 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { file, address, bytes })
    }

    /// Returns the file's descriptor.
    pub(super) fn descriptor(&self) -> u64 {
        self.file.as_raw_fd() as u64
    }

    /// Returns the frame number, or `None` if this process may not know it.
    pub(super) fn pfn(&self) -> Option<u64> {
        let mut entry = [0; ENTRY_BYTES];
        let at = self.address as u64 / self.bytes as u64 * ENTRY_BYTES as u64;
        File::open("/proc/self/pagemap").ok()?.read_exact_at(&mut entry, at).ok()?;
        let entry = u64::from_ne_bytes(entry);
        Some(entry & FRAME).filter(|&pfn| entry & PRESENT != 0 && pfn != 0)
    }
}

impl Drop for OwnPage {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, of this length, and nothing refers to its memory.
        unsafe { libc::munmap(self.address, self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pages_have_two_frames() {
        let (one, other) = (OwnPage::new().unwrap(), OwnPage::new().unwrap());
        assert_ne!(one.descriptor(), other.descriptor());
        match (one.pfn(), other.pfn()) {
            (Some(one), Some(other)) => assert_ne!(one, other),
            other => assert_eq!(other, (None, None), "frames are shown for both pages or for none"),
        }
    }
}
