//! Bits of `/proc/kpageflags`, which are the kernel's ABI (`kernel-page-flags.h`).

pub(crate) const UPTODATE: u64 = 1 << 3;
pub(crate) const DIRTY: u64 = 1 << 4;
pub(crate) const LRU: u64 = 1 << 5;
pub(crate) const SLAB: u64 = 1 << 7;
pub(crate) const WRITEBACK: u64 = 1 << 8;
pub(crate) const BUDDY: u64 = 1 << 10;
pub(crate) const MMAP: u64 = 1 << 11;
pub(crate) const ANON: u64 = 1 << 12;
pub(crate) const SWAPBACKED: u64 = 1 << 14;
pub(crate) const COMPOUND_HEAD: u64 = 1 << 15;
pub(crate) const COMPOUND_TAIL: u64 = 1 << 16;
pub(crate) const HUGE: u64 = 1 << 17;
pub(crate) const UNEVICTABLE: u64 = 1 << 18;
pub(crate) const HWPOISON: u64 = 1 << 19;
pub(crate) const NOPAGE: u64 = 1 << 20;
pub(crate) const OFFLINE: u64 = 1 << 23;
pub(crate) const PGTABLE: u64 = 1 << 26;
pub(crate) const RESERVED: u64 = 1 << 32;
