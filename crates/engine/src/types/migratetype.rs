//! The mobility of pages and pageblocks.

use core::fmt;

/// The mobility of pages, and the kind of pages that a pageblock is meant for.
///
/// The discriminants follow a kernel with CMA and memory isolation built in;
/// [`crate::Memory::write_pagetypeinfo`] omits the rows of types that a kernel does not have.
/// Linux counterpart: `enum migratetype`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Migratetype {
    /// Pages that cannot be moved: page tables, kernel stacks, most slabs.
    Unmovable = 0,
    /// Pages whose contents can be migrated: anonymous memory, page cache.
    Movable = 1,
    /// Pages that can be freed on demand but not moved: inode and dentry slabs.
    Reclaimable = 2,
    /// Pageblocks reserved for atomic high-order requests.
    HighAtomic = 3,
    /// Pageblocks of a contiguous memory area, for movable pages only.
    Cma = 4,
    /// Isolated pageblocks: no page may be allocated from them.
    Isolate = 5,
}

/// The number of migratetypes.
pub const MIGRATETYPES: usize = 6;

/// The number of migratetypes with per-CPU lists: the first three.
///
/// Linux counterpart: `MIGRATE_PCPTYPES`.
pub const PCP_TYPES: usize = 3;

impl Migratetype {
    /// Every migratetype, in the order of `/proc/pagetypeinfo`.
    pub const ALL: [Self; MIGRATETYPES] =
        [Self::Unmovable, Self::Movable, Self::Reclaimable, Self::HighAtomic, Self::Cma, Self::Isolate];

    /// Returns the migratetype with this discriminant, or `None` if no type has it.
    pub const fn new(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::Unmovable),
            1 => Some(Self::Movable),
            2 => Some(Self::Reclaimable),
            3 => Some(Self::HighAtomic),
            4 => Some(Self::Cma),
            5 => Some(Self::Isolate),
            _ => None,
        }
    }

    /// Returns the discriminant as an array index.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the name that `/proc/pagetypeinfo` prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unmovable => "Unmovable",
            Self::Movable => "Movable",
            Self::Reclaimable => "Reclaimable",
            Self::HighAtomic => "HighAtomic",
            Self::Cma => "CMA",
            Self::Isolate => "Isolate",
        }
    }

    /// Returns the migratetype that `/proc/pagetypeinfo` prints as `name`, or `None` for any other name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Returns true for types whose free blocks may merge with each other, and whose pageblocks a request of another
    /// such type may claim.
    ///
    /// Linux counterpart: `migratetype_is_mergeable`.
    pub const fn is_mergeable(self) -> bool {
        (self as usize) < PCP_TYPES
    }

    /// Returns the number of pages in a pageblock of type `foreign` that have the mobility of this type: `movable` for
    /// the movable type, and `immovable` for other types if the pageblock is movable. The two counts do not distinguish
    /// unmovable from reclaimable pages, so the result is 0 between these two types.
    #[inline]
    pub(super) const fn like(self, foreign: Self, movable: u32, immovable: u32) -> u32 {
        match (self, foreign) {
            (Self::Movable, _) => movable,
            (_, Self::Movable) => immovable,
            _ => 0,
        }
    }
}

impl fmt::Display for Migratetype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
