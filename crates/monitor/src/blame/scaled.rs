//! What the watched blocks stand for: what pages are is known in every kept block, who allocated them only in the watched ones.

use std::collections::{BTreeMap, HashMap};

use super::holders::{HolderId, Holders};
use super::kept::Part;
use super::named_blocks::NamedBlocks;

/// Pages, blocks with such pages, and blocks with no others.
pub(super) type Sums = [u64; 3];

/// Sums of all kept blocks, and of the watched ones among them.
#[derive(Clone, Copy, Default)]
struct Counted {
    all: Sums,
    watched: Sums,
}

/// Blocks by what alone tells of them: whether it names some of their pages, and whether it names none of some others.
type NameKind = (bool, bool);

/// The blocks of such a kind.
#[derive(Clone, Copy, Default)]
struct Blocks {
    all: NamedBlocks,
    watched: NamedBlocks,
}

/// The sums of all kept blocks, by what pages are and by who allocated them.
#[derive(Default)]
pub(super) struct Scaled {
    kinds: HashMap<String, Counted>,
    watched: HashMap<HolderId, Sums>,
    names: BTreeMap<NameKind, Blocks>,
}

impl Scaled {
    /// Adds a block. Of one that was not watched no part says who allocated it.
    pub(super) fn add(&mut self, parts: &[Part], holders: &Holders, is_watched: bool) {
        let mut of_block: HashMap<&str, u64> = HashMap::new();
        for part in parts {
            *of_block.entry(&holders.get(part.holder).what).or_default() += u64::from(part.pages);
        }
        let alone = u64::from(of_block.len() == 1);
        for (what, pages) in of_block {
            // Most blocks have what others have: a name is copied for the first.
            if !self.kinds.contains_key(what) {
                self.kinds.insert(what.to_owned(), Counted::default());
            }
            let Some(counted) = self.kinds.get_mut(what) else { continue };
            let sums = [pages, 1, alone];
            add(&mut counted.all, sums);
            if is_watched {
                add(&mut counted.watched, sums);
            }
        }
        if is_watched {
            for part in parts {
                let sums = [part.pages.into(), 1, u64::from(parts.len() == 1)];
                add(self.watched.entry(part.holder).or_default(), sums);
            }
        }
        self.add_name(parts, holders, is_watched);
    }

    fn add_name(&mut self, parts: &[Part], holders: &Holders, is_watched: bool) {
        let itself = parts.iter().filter(|part| holders.get(part.holder).names_itself).count();
        let blocks = self.names.entry((itself > 0, itself < parts.len())).or_default();
        let named = parts.iter().filter(|part| holders.get(part.holder).is_named).count();
        let count = |of: &mut NamedBlocks| match named {
            0 => of.not += 1,
            some if some == parts.len() => of.whole += 1,
            _ => of.partly += 1,
        };
        count(&mut blocks.all);
        if is_watched {
            count(&mut blocks.watched);
        }
    }

    /// Returns each holder's sums, scaled from the watched blocks to as many as all kept blocks have of what it is.
    ///
    /// What no watched block has keeps its sums, under the holder that no code is known of.
    pub(super) fn holders(&self, holders: &Holders) -> Vec<(HolderId, Sums)> {
        let scaled = |id: HolderId, sums: &Sums| {
            let holder = holders.get(id);
            let counted = self.kinds.get(&holder.what).copied().unwrap_or_default();
            let one = |at: usize| match (counted.all[at], counted.watched[at]) {
                (all, 0) if holder.code.is_none() => all,
                (all, watched) => scale(sums[at], all, watched),
            };
            (id, [one(0), one(1), one(2)])
        };
        let unwatched = (0..holders.len() as HolderId).filter_map(|id| {
            let holder = holders.get(id);
            let counted = self.kinds.get(&holder.what)?;
            (holder.code.is_none() && counted.watched == Sums::default()).then_some((id, counted.all))
        });
        self.watched.iter().map(|(id, sums)| scaled(*id, sums)).chain(unwatched).collect()
    }

    /// Returns of how many kept blocks it is known by whom.
    pub(super) fn named(&self) -> NamedBlocks {
        let mut named = NamedBlocks::default();
        for Blocks { all, watched } in self.names.values() {
            let (of, among) = (all.count(), watched.count());
            // A kind that was not watched is known by what alone tells.
            let from = if among == 0 { all } else { watched };
            named.whole += scale(from.whole, of, from.count());
            named.partly += scale(from.partly, of, from.count());
            named.not += scale(from.not, of, from.count());
        }
        named
    }
}

fn add(to: &mut Sums, sums: Sums) {
    for (to, sum) in to.iter_mut().zip(sums) {
        *to += sum;
    }
}

/// Returns `number` of `watched`, scaled to `all`.
fn scale(number: u64, all: u64, watched: u64) -> u64 {
    if all == watched || watched == 0 {
        return number;
    }
    (number as f64 * all as f64 / watched as f64).round() as u64
}
