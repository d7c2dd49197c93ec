//! The contents of pages: stamps that show whether another owner wrote to a block.
#![expect(unsafe_code, reason = "pages by their physical address")]

use core::ptr;

use freehold::{Order, Pfn};

use crate::start_info::PAGE_BYTES;

fn first_word(pfn: Pfn) -> *mut u64 {
    ptr::with_exposed_provenance_mut((pfn.0 * PAGE_BYTES) as usize)
}

/// Writes a word to the first and to the last page of a block that the caller owns.
pub(crate) fn stamp(pfn: Pfn, order: Order, word: u64) {
    for page in [pfn, pfn.add(order.pages() - 1)] {
        // SAFETY: mapped memory that the allocator has handed to the caller.
        unsafe { first_word(page).write_volatile(word) }
    }
}

/// Returns true if the first and the last page of a block have the word.
pub(crate) fn has_stamp(pfn: Pfn, order: Order, word: u64) -> bool {
    [pfn, pfn.add(order.pages() - 1)].into_iter().all(|page| read(page) == word)
}

/// Returns the first word of a page, which may have any owner.
pub(crate) fn read(pfn: Pfn) -> u64 {
    // SAFETY: mapped memory; another CPU may write to it, so the read is volatile.
    unsafe { first_word(pfn).read_volatile() }
}

/// Copies a page. The caller owns both.
pub(crate) fn copy(from: Pfn, to: Pfn) {
    // SAFETY: two pages of mapped memory that the allocator has handed to the caller.
    unsafe { ptr::copy_nonoverlapping(first_word(from), first_word(to), PAGE_BYTES as usize / 8) }
}
