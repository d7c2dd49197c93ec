//! The differences between allocator generations, as data.

/// The differences between allocator generations, one field for each.
///
/// Every field is one change to Linux or to Freehold. A replay can turn each on
/// or off. An [`Era`] is a set of switches that one generation has together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub struct Switches {
    /// A free page is only on the free list of its pageblock's type, and a claim converts a whole pageblock or nothing.
    /// Source: freelist hygiene series, Linux 6.10.
    pub hygiene: bool,
    /// A bulk refill continues at the fallback level that last succeeded.
    /// Source: "speed up fallbacks in `rmqueue_bulk`", Linux 6.15 and 6.12 stable.
    pub remembered_mode: bool,
    /// Two counts of a pageblock decide whether it is claimed; if off, a scan of its pages decides. No effect without
    /// [`Switches::hygiene`].
    /// Source: Freehold.
    pub claims_by_counts: bool,
    /// The decay of a per-CPU list frees one batch a lock hold.
    /// Source: "`mm/page_alloc`: batch page freeing in `decay_pcp_high`", Linux 6.19, 6.18.7 and 6.12.67.
    pub batched_decay: bool,
    /// Freeing above a per-CPU list's high frees one batch a lock hold.
    /// Source: "Batch callers of `free_pcppages_bulk`", Linux 6.19.
    pub batched_free: bool,
    /// Draining a whole per-CPU list frees one batch a lock hold; if off, 32 batches.
    /// Source: Freehold.
    pub batched_drain: bool,
    /// Free blocks are counted per order and migratetype. The counts can be read without the lock.
    /// Source: per-migratetype counts series, not in Linux.
    pub counts: bool,
    /// The number of free blocks of an order is computed as the sum of the counts per migratetype; if off, it is kept
    /// as a separate count. No effect without [`Switches::counts`].
    /// Source: Freehold.
    pub derived_total: bool,
    /// Pageblocks that are partly in use are claimed before free ones, and up to 32 blocks of each list are scanned
    /// instead of only the first. Unmovable and reclaimable requests may also claim pageblocks that already hold such
    /// pages and are less than half free. No effect without [`Switches::claims_by_counts`].
    /// Source: Freehold.
    pub claims_used_first: bool,
    /// [`crate::Memory::tidy_pageblocks`] gives a pageblock the type of the unmovable or reclaimable pages in it. No
    /// effect without [`Switches::claims_by_counts`].
    /// Source: Freehold.
    pub retypes_pageblocks: bool,
    /// [`crate::Memory::tidy_pageblocks`] moves a few movable pages out of pageblocks of another type. No effect
    /// without [`Switches::claims_by_counts`].
    /// Source: Freehold.
    pub unmixes_pageblocks: bool,
    /// [`crate::Memory::tidy_pageblocks`] moves the pages of movable pageblocks to fuller ones. No effect without
    /// [`Switches::claims_by_counts`].
    /// Source: Freehold.
    pub empties_pageblocks: bool,
    /// One bit per page records whether the page left the free lists for a movable request, so that a pageblock's count
    /// of such pages is exact. Pages of a contiguous range do not count. If off, the type that a page's last owner
    /// requested decides when the page returns. No effect without [`Switches::claims_by_counts`].
    /// Source: `pageblock_use.c` of Freehold's series `tidying` for Linux 7.3.
    pub marks_movable_pages: bool,
    /// Tidying counts the pages of a pageblock that can be moved; if off, the pages that movable requests got. No
    /// effect without [`Switches::claims_by_counts`].
    /// Source: `look_at_pages` of the series `tidying`.
    pub tidies_by_mobility: bool,
    /// Tidying makes a movable pageblock with immovable pages always unmovable; if off, it makes the pageblock
    /// reclaimable if most of these pages are. No effect without [`Switches::retypes_pageblocks`].
    /// Source: `pageblock_chore` of the series `tidying`.
    pub retypes_to_unmovable: bool,
    /// Tidying drains the CPUs' lists only for a pageblock that also has movable pages; if off, also for a pageblock
    /// whose only pages not free are on these lists. No effect without [`Switches::empties_pageblocks`].
    /// Source: `pageblock_chore` of the series `tidying`.
    pub drains_beside_movable: bool,
    /// Tidying moves pages as Linux's migration does: it isolates all movable pages of a pageblock or none, takes all
    /// new places before the first page moves, moves from the last page to the first, and charges pages without a place
    /// to the budget as if they had moved. If off, it moves one page after the other, up to the first that cannot be
    /// moved. No effect without [`Switches::claims_by_counts`].
    /// Source: `empty` of the series `tidying`, and `migrate_pages`.
    pub empties_all_or_none: bool,
    /// The old place of a moved page goes to the lists of the CPU that tidies, which are drained at the end of a pass
    /// over a zone; if off, it goes to the free lists. No effect without [`Switches::claims_by_counts`].
    /// Source: `tidy_zone` of the series `tidying`, and `migrate_folio_done`.
    pub empties_to_lists: bool,
    /// `high` of a per-CPU list is tuned between a lower and an upper bound, and refills grow with demand; if off,
    /// `high` is fixed and drains grow by doubling.
    /// Source: "mm: PCP high auto-tuning", Linux 6.7.
    pub auto_tuned_high: bool,
    /// Consecutive high-order frees flush a per-CPU list only past half of its lower bound.
    /// Source: Linux 6.16.
    pub lazy_high_order_flush: bool,
    /// Other requests must leave free the pages that are free in the reserve for atomic high-order requests, and zones
    /// under 100 pageblocks have no reserve; if off, they must leave free the number of all reserved pages, and any
    /// zone may reserve a pageblock.
    /// Source: Linux 6.8 (small zones), 6.13 and 6.12 stable (free pages only).
    pub highatomic_by_free: bool,
    /// Atomic high-order requests take from the reserve before they refill a per-CPU list, also above the low
    /// watermark; only requests below that watermark add to the reserve.
    /// Source: by Linux 7.3.
    pub highatomic_first: bool,
    /// Every `__GFP_HIGH` request for a single page may ignore a boost of the watermarks; if off, only `__GFP_ATOMIC`
    /// requests may.
    /// Source: Linux 6.3, which removed `__GFP_ATOMIC`.
    pub high_ignores_boost: bool,
    /// A zone below its high watermark is marked, and its per-CPU lists stop growing.
    /// Source: "mm: PCP high auto-tuning", Linux 6.7.
    pub below_high_mark: bool,
    /// A pageblock remembers its type while it is isolated; if off, the caller that ends the isolation names the type.
    /// Source: "`mm/page_isolation`: make page isolation a standalone bit", Linux 6.17.
    pub isolation_keeps_type: bool,
    /// A range of frames is freed in blocks as large as alignment allows; if off, page by page.
    /// Source: by Linux 7.3.
    pub ranges_freed_in_blocks: bool,
    /// A contiguous range is refused unless its pageblocks have the requested type, and a refusal does not change
    /// pageblocks that another caller has isolated; if off, a request for CMA also takes other pageblocks, and a
    /// refusal ends the isolation of the whole range.
    /// Source: Freehold.
    pub ranges_stay_apart: bool,
    /// The watermark check of a bulk allocation counts only the pages that are still missing; if off, it counts all
    /// requested pages.
    /// Source: by Linux 7.3.
    pub bulk_mark_by_missing: bool,
    /// A request that failed at the min watermark tries again only if its flags now allow more; if off, it always tries
    /// once more.
    /// Source: by Linux 7.3.
    pub retries_with_new_rights: bool,
    /// Compaction moves blocks larger than a page if they are smaller than the wanted block; if off, it moves only
    /// single pages.
    /// Source: "`mm/compaction`: enable compacting >0 order folios", Linux 6.9.
    pub compacts_large_blocks: bool,
    /// Compaction starts only if the counts per migratetype show enough pages that the free scanner may take; if off,
    /// the number of all free pages decides. No effect without [`Switches::counts`].
    /// Source: Freehold, after the review of the per-migratetype counts series.
    pub suits_by_counts: bool,
    /// A request above order 0 without reclaim ([`crate::Memory::alloc`]) drains the CPUs' lists only if their pages
    /// could merge into a block of its order; if off, always.
    /// Source: Freehold. Linux drains after reclaim that freed pages.
    pub drains_only_if_it_helps: bool,
    /// Blocks of orders 4 to 8 also have per-CPU lists if they are smaller than a pageblock; if off, only orders 0 to 3
    /// and huge pages have them.
    /// Source: Freehold.
    pub percpu_large_orders: bool,
    /// A refused request of orders 1 to 3 makes others bypass the zone's per-CPU lists until a pageblock is free.
    /// Source: Freehold.
    pub bypasses_lists_when_short: bool,
    /// A request that fails at the high watermark marks the zone as below it only if too few pages are free.
    /// Source: Freehold.
    pub marks_by_pages: bool,
}

/// The name of a field of [`Switches`], and a function that returns a reference to the field.
pub type SwitchField = (&'static str, fn(&mut Switches) -> &mut bool);

/// Lists the fields of [`Switches`]. The list does not compile if it lacks a field.
macro_rules! fields {
    ($($name:ident),* $(,)?) => {{
        const fn has_no_others(all: Switches) {
            let Switches { $($name: _),* } = all;
        }
        let _: fn(Switches) = has_no_others;
        [$((stringify!($name), {
            fn field(all: &mut Switches) -> &mut bool {
                &mut all.$name
            }
            field
        })),*]
    }};
}

impl Switches {
    /// Every field, in the order of the structure.
    pub const FIELDS: [SwitchField; 35] = fields![
        hygiene,
        remembered_mode,
        claims_by_counts,
        batched_decay,
        batched_free,
        batched_drain,
        counts,
        derived_total,
        claims_used_first,
        retypes_pageblocks,
        unmixes_pageblocks,
        empties_pageblocks,
        marks_movable_pages,
        tidies_by_mobility,
        retypes_to_unmovable,
        drains_beside_movable,
        empties_all_or_none,
        empties_to_lists,
        auto_tuned_high,
        lazy_high_order_flush,
        highatomic_by_free,
        highatomic_first,
        high_ignores_boost,
        below_high_mark,
        isolation_keeps_type,
        ranges_freed_in_blocks,
        ranges_stay_apart,
        bulk_mark_by_missing,
        retries_with_new_rights,
        compacts_large_blocks,
        suits_by_counts,
        drains_only_if_it_helps,
        percpu_large_orders,
        bypasses_lists_when_short,
        marks_by_pages,
    ];

    /// Returns the names of the fields that differ from `other`.
    pub fn differing(mut self, mut other: Self) -> impl Iterator<Item = &'static str> {
        let differ = move |(_, of): &SwitchField| *of(&mut self) != *of(&mut other);
        Self::FIELDS.into_iter().filter(differ).map(|(name, _)| name)
    }

    /// Returns the switches, with the named fields taken from `from`.
    #[must_use]
    pub fn taking(mut self, fields: &[&str], mut from: Self) -> Self {
        for (_, of) in Self::FIELDS.into_iter().filter(|(name, _)| fields.contains(name)) {
            *of(&mut self) = *of(&mut from);
        }
        self
    }

    /// Returns the switches that have an effect: turns off those that need another switch that is off.
    #[must_use]
    pub const fn in_effect(self) -> Self {
        let counted = self.claims_by_counts && self.hygiene;
        Self {
            derived_total: self.derived_total && self.counts,
            suits_by_counts: self.suits_by_counts && self.counts,
            claims_by_counts: counted,
            claims_used_first: self.claims_used_first && counted,
            retypes_pageblocks: self.retypes_pageblocks && counted,
            unmixes_pageblocks: self.unmixes_pageblocks && counted,
            empties_pageblocks: self.empties_pageblocks && counted,
            marks_movable_pages: self.marks_movable_pages && counted,
            tidies_by_mobility: self.tidies_by_mobility && counted,
            retypes_to_unmovable: self.retypes_to_unmovable && self.retypes_pageblocks && counted,
            drains_beside_movable: self.drains_beside_movable && self.empties_pageblocks && counted,
            empties_all_or_none: self.empties_all_or_none && counted,
            empties_to_lists: self.empties_to_lists && counted,
            bypasses_lists_when_short: self.bypasses_lists_when_short && self.hygiene,
            ..self
        }
    }
}

/// A named generation of the allocator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Era {
    /// Linux 6.1: before all of the four systems ([`super::Switch::ALL`]).
    Linux6_1,
    /// Linux 6.12 stable: hygiene, remembered mode, batched decay.
    Linux6_12,
    /// Linux 7.3: also batched per-CPU frees.
    Linux7_3,
    /// Linux 7.3 with Freehold's patch series `tidying` turned on.
    Linux7_3Tidying,
    /// Linux 7.3 with counts per migratetype.
    Linux7_3Counts,
    /// Linux 7.3 with every change of Freehold.
    Freehold,
}

impl Era {
    /// Every era, oldest first.
    pub const ALL: [Self; 6] = [
        Self::Linux6_1,
        Self::Linux6_12,
        Self::Linux7_3,
        Self::Linux7_3Tidying,
        Self::Linux7_3Counts,
        Self::Freehold,
    ];

    /// The eras that build on each other, oldest first: each has the switches of its predecessor, and more.
    /// [`Self::Linux7_3Tidying`] is not one of them.
    pub const COMPARED: [Self; 5] =
        [Self::Linux6_1, Self::Linux6_12, Self::Linux7_3, Self::Linux7_3Counts, Self::Freehold];

    /// Returns the name on command lines and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux6_1 => "linux-6.1",
            Self::Linux6_12 => "linux-6.12",
            Self::Linux7_3 => "linux-7.3",
            Self::Linux7_3Tidying => "linux-7.3-tidying",
            Self::Linux7_3Counts => "linux-7.3-counts",
            Self::Freehold => "freehold",
        }
    }

    /// Returns the era with this name, or `None` if no era has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|era| era.name() == name)
    }

    /// Returns the switches of the era.
    pub const fn switches(self) -> Switches {
        match self {
            Self::Linux6_1 => LINUX_6_1,
            Self::Linux6_12 => LINUX_6_12,
            Self::Linux7_3 => LINUX_7_3,
            Self::Linux7_3Tidying => LINUX_7_3_TIDYING,
            Self::Linux7_3Counts => LINUX_7_3_COUNTS,
            Self::Freehold => FREEHOLD,
        }
    }
}

const LINUX_6_1: Switches = Switches {
    hygiene: false,
    remembered_mode: false,
    claims_by_counts: false,
    batched_decay: false,
    batched_free: false,
    batched_drain: false,
    counts: false,
    derived_total: false,
    claims_used_first: false,
    retypes_pageblocks: false,
    unmixes_pageblocks: false,
    empties_pageblocks: false,
    marks_movable_pages: false,
    tidies_by_mobility: false,
    retypes_to_unmovable: false,
    drains_beside_movable: false,
    empties_all_or_none: false,
    empties_to_lists: false,
    auto_tuned_high: false,
    lazy_high_order_flush: false,
    highatomic_by_free: false,
    highatomic_first: false,
    high_ignores_boost: false,
    below_high_mark: false,
    isolation_keeps_type: false,
    ranges_freed_in_blocks: false,
    ranges_stay_apart: false,
    bulk_mark_by_missing: false,
    retries_with_new_rights: false,
    compacts_large_blocks: false,
    suits_by_counts: false,
    drains_only_if_it_helps: false,
    percpu_large_orders: false,
    bypasses_lists_when_short: false,
    marks_by_pages: false,
};

const LINUX_6_12: Switches = Switches {
    hygiene: true,
    remembered_mode: true,
    batched_decay: true,
    auto_tuned_high: true,
    highatomic_by_free: true,
    high_ignores_boost: true,
    below_high_mark: true,
    compacts_large_blocks: true,
    ..LINUX_6_1
};

const LINUX_7_3: Switches = Switches {
    batched_free: true,
    lazy_high_order_flush: true,
    highatomic_first: true,
    isolation_keeps_type: true,
    ranges_freed_in_blocks: true,
    bulk_mark_by_missing: true,
    retries_with_new_rights: true,
    ..LINUX_6_12
};

const LINUX_7_3_TIDYING: Switches = Switches {
    claims_by_counts: true,
    claims_used_first: true,
    retypes_pageblocks: true,
    unmixes_pageblocks: true,
    empties_pageblocks: true,
    marks_movable_pages: true,
    tidies_by_mobility: true,
    retypes_to_unmovable: true,
    drains_beside_movable: true,
    empties_all_or_none: true,
    empties_to_lists: true,
    ..LINUX_7_3
};

const LINUX_7_3_COUNTS: Switches = Switches { counts: true, ..LINUX_7_3 };

const FREEHOLD: Switches = Switches {
    claims_by_counts: true,
    batched_drain: true,
    derived_total: true,
    claims_used_first: true,
    retypes_pageblocks: true,
    unmixes_pageblocks: true,
    empties_pageblocks: true,
    suits_by_counts: true,
    ranges_stay_apart: true,
    drains_only_if_it_helps: true,
    percpu_large_orders: true,
    bypasses_lists_when_short: true,
    marks_by_pages: true,
    ..LINUX_7_3_COUNTS
};
