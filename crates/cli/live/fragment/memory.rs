//! Anonymous memory with holes: the one part of the fragmenter that safe Rust cannot say.
#![allow(unsafe_code, reason = "mappings of anonymous memory; listed in docs/design/unsafe-code.md")]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ptr;

use rustix::fd::OwnedFd;
use rustix::io_uring::{IoringRegisterOp, io_uring_params, io_uring_register, io_uring_setup, iovec};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap, mmap_anonymous, munmap};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};

/// Returns the bytes of a page.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// A private anonymous mapping; it goes when it is dropped.
pub(crate) struct Anonymous {
    start: *mut c_void,
    len: usize,
}

impl Anonymous {
    /// Maps `pages` pages; none is filled yet.
    pub(crate) fn map(pages: usize) -> io::Result<Self> {
        let len = pages * page_bytes();
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags)? };
        Ok(Self { start, len })
    }

    /// Maps a file and reads each page of it.
    #[allow(dead_code, reason = "only one example maps files")]
    pub(crate) fn of_file(file: &File, len: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let start = unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, 0)? };
        let mapped = Self { start, len };
        for page in 0..len / page_bytes() {
            let (at, _) = mapped.range(page, 1);
            // SAFETY: the page lies inside the mapping, which is readable.
            let _ = unsafe { at.cast::<u8>().read_volatile() };
        }
        Ok(mapped)
    }

    /// Returns the first page at an address that is a multiple of so many bytes.
    #[allow(dead_code, reason = "only one example needs aligned memory")]
    pub(crate) fn first_at(&self, bytes: usize) -> usize {
        let start = self.start.addr();
        (start.next_multiple_of(bytes) - start) / page_bytes()
    }

    /// Asks for transparent huge pages, or for none.
    pub(crate) fn huge(&self, wanted: bool) -> io::Result<()> {
        let advice = if wanted { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // SAFETY: the range is the mapping's own, and the advice changes no contents.
        unsafe { madvise(self.start, self.len, advice) }?;
        Ok(())
    }

    /// Writes to a page, so that there is memory behind it.
    pub(crate) fn touch(&mut self, page: usize) {
        assert!(page < self.len / page_bytes());
        // SAFETY: the page lies inside the mapping, which is writable and borrowed by nobody else.
        unsafe { self.start.cast::<u8>().add(page * page_bytes()).write_volatile(1) };
    }

    /// Gives the memory behind `count` pages from `page` on back.
    pub(crate) fn punch(&mut self, page: usize, count: usize) -> io::Result<()> {
        let (start, len) = self.range(page, count);
        // SAFETY: the range lies inside the mapping; nobody holds a reference into it.
        unsafe { madvise(start, len, Advice::LinuxDontNeed) }?;
        Ok(())
    }

    /// Locks `count` pages from `page` on.
    pub(crate) fn lock(&mut self, page: usize, count: usize) -> io::Result<()> {
        let (start, len) = self.range(page, count);
        // SAFETY: the range lies inside the mapping.
        unsafe { mlock(start, len) }?;
        Ok(())
    }

    /// Has a pipe refer to a page. Returns false if the pipe is full.
    pub(crate) fn give_to_pipe(&self, page: usize, pipe: &OwnedFd) -> io::Result<bool> {
        let (start, len) = self.range(page, 1);
        // SAFETY: the page lies inside the mapping; what is read from the pipe later is of no interest.
        let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) };
        // SAFETY: as above; the page is not given away (`SPLICE_F_GIFT`).
        match unsafe { vmsplice(pipe, &[IoSliceRaw::from_slice(bytes)], SpliceFlags::NONBLOCK) } {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::AGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Registers pages as buffers of `io_uring`, which pins them until what is returned is closed.
    pub(crate) fn register(&self, pages: &[usize]) -> io::Result<OwnedFd> {
        let buffers: Vec<_> = pages.iter().map(|&page| self.range(page, 1)).collect();
        let buffers: Vec<_> =
            buffers.into_iter().map(|(iov_base, iov_len)| iovec { iov_base, iov_len }).collect();
        // SAFETY: the ring is never entered, so that nothing is read or written by it.
        let ring = unsafe { io_uring_setup(1, &mut io_uring_params::default())? };
        let operation = IoringRegisterOp::RegisterBuffers;
        // SAFETY: the buffers lie inside the mapping, which the kernel keeps even if it is unmapped.
        unsafe { io_uring_register(&ring, operation, buffers.as_ptr().cast(), buffers.len() as u32)? };
        Ok(ring)
    }

    fn range(&self, page: usize, count: usize) -> (*mut c_void, usize) {
        assert!(page + count <= self.len / page_bytes());
        // SAFETY: the offset lies inside the mapping.
        (unsafe { self.start.byte_add(page * page_bytes()) }, count * page_bytes())
    }
}

impl Drop for Anonymous {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start, self.len) };
    }
}
