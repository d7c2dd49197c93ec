//! The answer: how many blocks are kept, of how many it is known by whom, and by whom.

use freehold_linux::blame::{Allocations, Share, Stacks, UnmovablePages};
use serde::Serialize;

use super::holders::HolderId;
use super::kept::{Aged, Kept, Question};
use super::named_blocks::NamedBlocks;
use super::scaled::{Scaled, Sums};

/// What was read of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Readings<'a> {
    /// Unmovable pages, by ascending frames.
    pub unmovable: &'a [UnmovablePages],
    /// Who allocated them, as far as it is known.
    pub made: &'a Allocations,
    /// The stacks of `made`.
    pub stacks: &'a Stacks,
    /// The pageblocks of which `made` is complete.
    pub share: Share,
    /// The order of a pageblock.
    pub pageblock_order: u8,
    /// When `unmovable` was read: nanoseconds since the boot.
    pub now_ns: u64,
    /// Pages that were allocated less than this ago are left out.
    pub older_than_ns: u64,
}

/// Who keeps blocks of a size from becoming free.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Blame {
    /// The order of a block.
    pub order: u8,
    /// Blocks with unmovable pages.
    pub kept: u64,
    /// The part of them of which it was watched who allocated: 1, or as much as the watch kept up with. What pages are is known in all.
    pub share: f64,
    /// How many of them have a name.
    pub named: NamedBlocks,
    /// Holders, first the one that keeps the most blocks alone.
    pub rows: Vec<Row>,
}

/// What one holder keeps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// What its pages are.
    pub what: String,
    /// The function that allocated them, with its module in brackets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Its pages.
    pub pages: u64,
    /// Blocks with such pages.
    pub blocks: u64,
    /// Blocks with no other unmovable pages.
    pub blocks_alone: u64,
    /// The age of half of its pages is at least this, in milliseconds; of those that were seen to be allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_age_ms: Option<u64>,
    /// Pages that were seen to be allocated.
    pub pages_seen: u64,
}

impl Blame {
    /// Blames the holders of blocks of `order`.
    pub fn of(readings: &Readings<'_>, order: u8) -> Self {
        let kept = find(readings, order);
        let (mut all, mut looked_into) = (0_u64, 0_u64);
        let mut scaled = Scaled::default();
        for (block, parts) in kept.blocks() {
            let is_watched = is_watched(readings, order, block);
            all += 1;
            looked_into += u64::from(is_watched);
            scaled.add(parts, &kept.holders, is_watched);
        }
        let share = if all == 0 { 1.0 } else { looked_into as f64 / all as f64 };
        let row = |(id, [pages, blocks, blocks_alone]): (HolderId, Sums)| {
            let holder = kept.holders.get(id);
            let (median_age_ms, seen) = ages(&kept.aged, id);
            Row {
                what: holder.what.clone(),
                code: holder.code.clone(),
                pages,
                blocks,
                blocks_alone,
                median_age_ms,
                pages_seen: seen,
            }
        };
        let mut rows: Vec<_> = scaled.holders(&kept.holders).into_iter().map(row).collect();
        rows.sort_by(|one, other| {
            let size = |row: &Row| (row.blocks_alone, row.blocks, row.pages);
            size(other).cmp(&size(one)).then_with(|| (&one.what, &one.code).cmp(&(&other.what, &other.code)))
        });
        Self { order, kept: all, share, named: scaled.named(), rows }
    }
}

/// Returns the kept blocks of `order`.
pub(super) fn find(readings: &Readings<'_>, order: u8) -> Kept {
    let Readings { unmovable, made, stacks, now_ns, older_than_ns, .. } = *readings;
    Kept::of(&Question { unmovable, made, stacks, order, now_ns, older_than_ns })
}

/// Returns true if every pageblock that a block of `order` has a part of was watched.
pub(super) fn is_watched(readings: &Readings<'_>, order: u8, block: u64) -> bool {
    let pageblock_order = readings.pageblock_order;
    let (first, last) = (block << order >> pageblock_order, (((block + 1) << order) - 1) >> pageblock_order);
    (first..=last).all(|pageblock| readings.share.has(pageblock))
}

/// Returns the median of the ages of a holder's pages in milliseconds, and how many pages have one.
fn ages(aged: &[Aged], holder: u32) -> (Option<u64>, u64) {
    let mut own: Vec<_> = aged.iter().filter(|aged| aged.holder == holder).collect();
    own.sort_unstable_by_key(|aged| aged.age_ns);
    let all: u64 = own.iter().map(|aged| u64::from(aged.pages)).sum();
    let mut left = all.div_ceil(2);
    for one in own {
        left = left.saturating_sub(one.pages.into());
        if left == 0 {
            return (Some(one.age_ns / 1_000_000), all);
        }
    }
    (None, all)
}

#[cfg(test)]
mod tests {
    use freehold_linux::blame::{Allocation, What};

    use super::*;

    fn run(pfn: u64, pages: u32, what: What) -> UnmovablePages {
        UnmovablePages { pfn, pages, what }
    }

    #[test]
    fn owners_of_unmovable_pages_keep_a_block() {
        let mut stacks = Stacks::default();
        let pipe = stacks.keep(vec!["__alloc_pages_noprof".to_owned(), "pipe_write".to_owned()]);
        let made = |pfn, time_ns| Allocation { pfn, order: 0, time_ns, stack: Some(pipe) };
        let made = Allocations::new(vec![
            made(512, 1_000_000_000),
            made(513, 2_000_000_000),
            made(1030, 9_900_000_000),
        ]);
        let dentry = || What::Slab(Some("dentry".into()));
        let unmovable = [
            run(3, 2, dentry()),
            run(512, 1, What::Kernel),
            run(513, 1, What::Kernel),
            run(600, 4, dentry()),
            run(1030, 1, What::Kernel),
            run(1535, 2, What::PageTable),
            run(2048, 1, What::Kernel),
        ];
        let readings = Readings {
            unmovable: &unmovable,
            made: &made,
            stacks: &stacks,
            share: Share::ALL,
            pageblock_order: 9,
            now_ns: 10_000_000_000,
            older_than_ns: 1_000_000_000,
        };
        let blame = Blame::of(&readings, 9);
        assert_eq!((blame.kept, blame.named), (5, NamedBlocks { whole: 4, partly: 0, not: 1 }));
        let rows: Vec<_> = blame
            .rows
            .iter()
            .map(|row| {
                (
                    row.what.as_str(),
                    row.code.as_deref(),
                    row.pages,
                    row.blocks,
                    row.blocks_alone,
                    row.median_age_ms,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("page tables", None, 2, 2, 2, None),
                ("slab dentry", None, 6, 2, 1, None),
                ("kernel pages", None, 1, 1, 1, None),
                ("kernel pages", Some("pipe_write"), 2, 1, 0, Some(8000)),
            ]
        );
        let pairs = Blame::of(&readings, 10);
        assert_eq!((pairs.kept, pairs.named), (3, NamedBlocks { whole: 2, partly: 0, not: 1 }));
        let pages = Blame::of(&readings, 0);
        assert_eq!(pages.kept, 11, "one page is younger than a second");
    }

    #[test]
    fn a_share_stands_for_all() {
        let unmovable: Vec<_> = (0..4000).map(|block| run(block * 512, 1, What::PageTable)).collect();
        let (made, stacks) = (Allocations::default(), Stacks::default());
        let readings = Readings {
            unmovable: &unmovable,
            made: &made,
            stacks: &stacks,
            share: Share::ALL.half(),
            pageblock_order: 9,
            now_ns: 0,
            older_than_ns: 0,
        };
        let blame = Blame::of(&readings, 9);
        assert_eq!((blame.kept, blame.rows[0].blocks, blame.rows[0].pages), (4000, 4000, 4000));
        assert!(blame.share > 0.45 && blame.share < 0.55, "{}", blame.share);
        assert_eq!(Blame::of(&Readings { unmovable: &[], ..readings }, 9).kept, 0);
    }

    #[test]
    fn only_the_code_is_scaled() {
        let mut stacks = Stacks::default();
        let code = stacks.keep(vec!["d_alloc".to_owned()]);
        let share = Share::ALL.half().half();
        let mut unmovable = Vec::new();
        for block in 0..1000 {
            let (pfn, is_old) = (block * 512, block >= 700);
            unmovable.push(run(pfn, 1, if block % 7 == 0 { What::Kernel } else { What::PageTable }));
            unmovable.extend(
                (block < 900)
                    .then(|| run(pfn + 8, if is_old { 8 } else { 4 }, What::Slab(Some("dentry".into())))),
            );
        }
        let mut unwatched = (1000..).filter(|block| !share.has(*block)).map(|block| block * 512);
        unmovable.push(run(unwatched.next().unwrap(), 3, What::Hugetlb));
        unmovable.push(run(unwatched.next().unwrap(), 2, What::KernelStack));
        unmovable.insert(1, run(1, 5, What::KernelStack));
        let dentries = (0..700).filter(|block| share.has(*block));
        let made = dentries.map(|block| Allocation {
            pfn: block * 512 + 8,
            order: 2,
            time_ns: 0,
            stack: Some(code),
        });
        let made = Allocations::new(made.collect());
        let readings = Readings {
            unmovable: &unmovable,
            made: &made,
            stacks: &stacks,
            share,
            pageblock_order: 9,
            now_ns: 1,
            older_than_ns: 0,
        };
        let blame = Blame::of(&readings, 9);
        let sums = |what: &str| -> [u64; 3] {
            let rows: Vec<_> = blame.rows.iter().filter(|row| row.what == what).collect();
            [
                rows.iter().map(|row| row.pages).sum(),
                rows.iter().map(|row| row.blocks).sum(),
                rows.len() as u64,
            ]
        };
        assert_eq!(sums("slab dentry"), [700 * 4 + 200 * 8, 900, 2]);
        assert_eq!(sums("hugetlb pages"), [3, 1, 1], "no watched block has any");
        let stacks = blame.rows.iter().find(|row| row.what == "kernel stacks").unwrap();
        assert_eq!(
            (stacks.pages, stacks.blocks, stacks.blocks_alone),
            (7, 2, 1),
            "alone where nothing was watched"
        );
        assert_eq!((sums("page tables"), sums("kernel pages")), ([857, 857, 1], [143, 143, 1]));
        let coded = blame.rows.iter().find(|row| row.code.is_some()).unwrap();
        assert!((2650..2950).contains(&coded.pages), "{} of 2800", coded.pages);
        // Kernel pages have no name; by what alone it is known which blocks have some.
        let without_dentries = (900..1000).filter(|block| block % 7 == 0).count() as u64;
        assert_eq!(
            blame.named,
            NamedBlocks { whole: 859, partly: 143 - without_dentries, not: without_dentries }
        );
    }
}
