//! What the engine did under its locks, in words.

use std::cell::RefCell;

use freehold::{ExtFrag, Migratetype, Order, Pfn, Tracepoints};

use crate::transcript::Word;

thread_local! {
    static SEEN: RefCell<Vec<Word>> = const { RefCell::new(Vec::new()) };
}

/// Notes every event of this thread's engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Witness;

impl Witness {
    /// Moves what was seen since the last call to the end of `words`.
    pub(super) fn take(words: &mut Vec<Word>) {
        SEEN.with_borrow_mut(|seen| words.append(seen));
    }

    fn note(word: Word) {
        SEEN.with_borrow_mut(|seen| seen.push(word));
    }
}

impl Tracepoints for Witness {
    fn page_alloc_extfrag(event: ExtFrag) {
        Self::note(Word::ExtFrag {
            pfn: event.pfn,
            orders: (event.alloc_order, event.fallback_order),
            types: (event.alloc_migratetype, event.fallback_migratetype),
            change_ownership: event.change_ownership,
        });
    }

    fn page_alloc_zone_locked(pfn: Pfn, order: Order, migratetype: Migratetype) {
        Self::note(Word::Taken { order, migratetype, pfn });
    }

    fn page_pcpu_drain(pfn: Pfn, order: Order, migratetype: Migratetype) {
        Self::note(Word::Drained { order, migratetype, pfn });
    }
}
