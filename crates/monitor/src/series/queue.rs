//! A queue whose clones share their contents.

use std::collections::VecDeque;
use std::iter;
use std::mem;
use std::sync::Arc;

/// Values of a full chunk.
const CHUNK: usize = 64;

/// A first-in, first-out queue.
///
/// A clone copies a pointer for each full chunk and the values of the unfinished one.
#[derive(Clone, Debug)]
pub(super) struct Queue<T> {
    /// Full chunks, oldest first; they never change.
    full: VecDeque<Arc<[T]>>,
    /// How many values of the oldest full chunk were removed.
    gone: usize,
    /// The newest values, which do not fill a chunk yet.
    open: Vec<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { full: VecDeque::new(), gone: 0, open: Vec::new() }
    }
}

impl<T: Clone> Queue<T> {
    pub(super) fn len(&self) -> usize {
        self.full.len() * CHUNK - self.gone + self.open.len()
    }

    pub(super) fn push_back(&mut self, value: T) {
        self.open.push(value);
        if self.open.len() == CHUNK {
            self.full.push_back(mem::take(&mut self.open).into());
        }
    }

    /// Removes and returns the oldest value.
    pub(super) fn pop_front(&mut self) -> Option<T> {
        let Some(chunk) = self.full.front() else {
            return (!self.open.is_empty()).then(|| self.open.remove(0));
        };
        let value = chunk[self.gone].clone();
        self.gone += 1;
        if self.gone == CHUNK {
            self.full.pop_front();
            self.gone = 0;
        }
        Some(value)
    }

    /// Returns the newest value.
    pub(super) fn back(&self) -> Option<&T> {
        self.open.last().or_else(|| self.full.back()?.last())
    }

    /// Returns all values, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let gone = iter::once(self.gone).chain(iter::repeat(0));
        let full = self.full.iter().zip(gone.take(self.full.len()).collect::<Vec<_>>());
        full.flat_map(|(chunk, gone)| &chunk[gone..]).chain(&self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_queue() {
        let mut queue = Queue::default();
        let mut model = VecDeque::new();
        // The queue grows to three chunks, shrinks to none, and repeats.
        for step in 0..2000_usize {
            if step / 200 % 2 == 0 {
                queue.push_back(step);
                model.push_back(step);
            } else {
                assert_eq!(queue.pop_front(), model.pop_front());
            }
            assert_eq!((queue.len(), queue.back()), (model.len(), model.back()));
            assert!(queue.iter().eq(&model) && queue.iter().rev().eq(model.iter().rev()));
        }
    }

    #[test]
    fn a_copy_shares_full_chunks_and_does_not_change() {
        let mut queue = Queue::default();
        (0..1000).for_each(|value| queue.push_back(value));
        let copy = queue.clone();
        assert!(copy.full.iter().zip(&queue.full).all(|(one, other)| Arc::ptr_eq(one, other)));
        assert!(copy.open.len() < CHUNK);
        assert!((0..500).all(|value| queue.pop_front() == Some(value)));
        queue.push_back(1000);
        assert!(copy.iter().copied().eq(0..1000) && queue.iter().copied().eq(500..1001));
    }
}
