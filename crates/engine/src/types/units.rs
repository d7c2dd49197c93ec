//! Page frame numbers, orders and page counts as types.

use core::fmt;

/// A page frame number: the physical address divided by the page size.
///
/// Units: pages. Linux counterpart: `unsigned long pfn`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Pfn(pub u64);

impl Pfn {
    /// Returns the frame `pages` frames behind this one. The result saturates at the largest frame number.
    #[must_use]
    pub const fn add(self, pages: u64) -> Self {
        Self(self.0.saturating_add(pages))
    }

    /// Returns true if the frame can start a block of `order`.
    pub const fn is_aligned(self, order: Order) -> bool {
        self.0 & (order.pages() - 1) == 0
    }
}

impl fmt::Debug for Pfn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pfn {:#x}", self.0)
    }
}

impl fmt::Display for Pfn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The largest number of orders that a zone can have (orders 0..=18): blocks of up to 1 GiB with pages of 4 KiB.
pub const MAX_ORDERS: usize = 19;

/// The number of orders of a Linux kernel with pages of 4 KiB and the default configuration (0..=10).
///
/// Linux counterpart: `NR_PAGE_ORDERS` on x86-64.
pub const NR_PAGE_ORDERS: usize = 11;

/// The base-2 logarithm of a block's size in pages, 0..=18.
///
/// Linux counterpart: `unsigned int order`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Order(u8);

impl Order {
    /// One page.
    pub const ZERO: Self = Self(0);
    /// A huge page: 2 MiB with pages of 4 KiB. Linux counterpart: `HPAGE_PMD_ORDER` of x86-64.
    pub const HUGE_PAGE: Self = Self(9);
    /// A section: 128 MiB with pages of 4 KiB. Linux counterpart: `PFN_SECTION_SHIFT` of x86-64 and arm64.
    pub const SECTION: Self = Self(15);

    /// The largest order that always has per-CPU lists, apart from huge pages.
    /// Linux counterpart: `PAGE_ALLOC_COSTLY_ORDER`.
    pub(crate) const COSTLY: Self = Self(3);
    /// The largest order that a zone can have.
    pub const MAX: Self = Self(MAX_ORDERS as u8 - 1);
    /// The largest order of a Linux kernel with pages of 4 KiB and the default configuration.
    /// Linux counterpart: `MAX_PAGE_ORDER` on x86-64.
    pub const MAX_PAGE_ORDER: Self = Self(NR_PAGE_ORDERS as u8 - 1);

    /// Returns the order `value`, or `None` if it is above 18.
    pub const fn new(value: u8) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Self(value)) } else { None }
    }

    /// Returns the order `value` of a Linux kernel with the default configuration, or `None` if it is above
    /// [`Self::MAX_PAGE_ORDER`].
    pub const fn of_linux(value: u8) -> Option<Self> {
        if value <= Self::MAX_PAGE_ORDER.0 { Some(Self(value)) } else { None }
    }

    /// Returns the number itself.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Returns the number as an index into a per-order array.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the number of pages in a block of this order.
    pub const fn pages(self) -> u64 {
        1 << self.0
    }

    /// Returns the smallest order whose bit is set in `bits`, or `None` if no bit is set.
    pub(crate) const fn smallest_in(bits: u32) -> Option<Self> {
        Self::new(bits.trailing_zeros() as u8)
    }

    /// Returns the next larger order, or `None` after the largest.
    pub const fn up(self) -> Option<Self> {
        Self::new(self.0 + 1)
    }

    /// Returns the next smaller order, or `None` for order 0.
    pub const fn down(self) -> Option<Self> {
        if self.0 == 0 { None } else { Some(Self(self.0 - 1)) }
    }

    /// Returns every order from `self` up to and including `last`.
    pub fn up_to(self, last: Self) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (self.0..=last.0).map(Self)
    }

    /// Returns every order from 0 up to and including [`Self::MAX`].
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        Self::ZERO.up_to(Self::MAX)
    }
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order {}", self.0)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
