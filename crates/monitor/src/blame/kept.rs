//! The blocks that unmovable pages keep.

use freehold_linux::blame::{Allocations, Stacks, UnmovablePages};

use super::holders::{HolderId, Holders};

/// Pages of one holder in one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) holder: HolderId,
    pub(super) pages: u32,
}

/// The age of a holder's pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Aged {
    pub(super) holder: HolderId,
    pub(super) pages: u32,
    pub(super) age_ns: u64,
}

/// The blocks that unmovable pages keep, and who these pages are of.
pub(super) struct Kept {
    pub(super) holders: Holders,
    /// For each kept block, in the order of their addresses, its number and where its parts begin in `parts`.
    blocks: Vec<(u64, usize)>,
    parts: Vec<Part>,
    pub(super) aged: Vec<Aged>,
}

/// What tells kept blocks.
pub(super) struct Question<'a> {
    pub(super) unmovable: &'a [UnmovablePages],
    pub(super) made: &'a Allocations,
    pub(super) stacks: &'a Stacks,
    pub(super) order: u8,
    pub(super) now_ns: u64,
    pub(super) older_than_ns: u64,
}

impl Kept {
    /// Finds the blocks. Pages that were allocated less than `older_than_ns` ago keep none.
    pub(super) fn of(question: &Question<'_>) -> Self {
        let mut kept =
            Self { holders: Holders::default(), blocks: Vec::new(), parts: Vec::new(), aged: Vec::new() };
        for run in question.unmovable {
            let made = question.made.of(run.pfn);
            let age_ns = made.map(|made| question.now_ns.saturating_sub(made.time_ns));
            if age_ns.is_some_and(|age| age < question.older_than_ns) {
                continue;
            }
            let holder = kept.holders.of(run, made, question.stacks);
            if let Some(age_ns) = age_ns {
                kept.aged.push(Aged { holder, pages: run.pages, age_ns });
            }
            kept.add(run, holder, question.order);
        }
        kept
    }

    /// Adds the pages of a run to the blocks that they are in.
    fn add(&mut self, run: &UnmovablePages, holder: HolderId, order: u8) {
        let (mut pfn, end) = (run.pfn, run.pfn + u64::from(run.pages));
        while pfn < end {
            let block = pfn >> order;
            let here = end.min((block + 1) << order) - pfn;
            pfn += here;
            if self.blocks.last().is_none_or(|(last, _)| *last != block) {
                self.blocks.push((block, self.parts.len()));
            }
            let first = self.blocks.last().map_or(0, |(_, first)| *first);
            match self.parts[first..].iter_mut().find(|part| part.holder == holder) {
                Some(part) => part.pages += here as u32,
                None => self.parts.push(Part { holder, pages: here as u32 }),
            }
        }
    }

    /// Returns the number of each kept block (its first frame's, divided by its pages), and its parts.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, &[Part])> {
        let ends = self.blocks.iter().skip(1).map(|(_, first)| *first).chain([self.parts.len()]);
        self.blocks.iter().zip(ends).map(|(&(block, first), end)| (block, &self.parts[first..end]))
    }
}
