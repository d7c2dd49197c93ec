//! Records the engine's events as words.

use std::cell::RefCell;

use freehold::{ExtFrag, Migratetype, Order, Pfn, Tracepoints};

use crate::transcript::Word;

/// Records every event of an engine.
#[derive(Debug, Default)]
pub(crate) struct Witness(RefCell<Vec<Word>>);

impl Witness {
    /// Moves the events since the last call to the end of `words`.
    pub(super) fn take(&self, words: &mut Vec<Word>) {
        words.append(&mut self.0.borrow_mut());
    }

    pub(super) fn note(&self, word: Word) {
        self.0.borrow_mut().push(word);
    }
}

impl Tracepoints for Witness {
    type Since = ();

    fn page_alloc_extfrag(&self, event: ExtFrag) {
        self.note(Word::ExtFrag {
            pfn: event.pfn,
            orders: (event.alloc_order, event.fallback_order),
            types: (event.alloc_migratetype, event.fallback_migratetype),
            change_ownership: event.change_ownership,
        });
    }

    fn page_alloc_zone_locked(&self, pfn: Pfn, order: Order, migratetype: Migratetype) {
        self.note(Word::Taken { order, migratetype, pfn });
    }

    fn page_pcpu_drain(&self, pfn: Pfn, order: Order, migratetype: Migratetype) {
        self.note(Word::Drained { order, migratetype, pfn });
    }
}
