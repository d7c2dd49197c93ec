//! The options of reading a text, and the counts of its contents.

use freehold::{Migratetype, Order};
use freehold_trace::KernelTypes;

/// The options of reading a text.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// The radix of frame numbers without `0x`.
    pub pfn_radix: PfnRadix,
    /// How far behind the newest event an event may be in order to be sorted.
    pub reorder_window_ns: u64,
    /// Migratetypes by the recorded kernel's own numbers, as in
    /// [`freehold_trace::PageTypeInfo::types`].
    pub types: KernelTypes,
    /// The recorded kernel's largest order.
    pub largest: Order,
    /// The recorded machine's `uname -r`, which tells the bits of flags that are printed as numbers; empty if unknown.
    pub kernel_release: String,
}

impl Default for TextOptions {
    /// `PfnRadix::Auto`, a window of 1 ms, a kernel with CMA and Linux's usual orders.
    fn default() -> Self {
        let types = Migratetype::ALL.into_iter().collect();
        Self {
            pfn_radix: PfnRadix::Auto,
            reorder_window_ns: 1_000_000,
            types,
            largest: Order::MAX_PAGE_ORDER,
            kernel_release: String::new(),
        }
    }
}

/// Counts of the contents of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextCounts {
    /// Lines in all.
    pub lines: u64,
    /// Page events.
    pub events: u64,
    /// Events that the text says were lost.
    pub lost: u64,
    /// Lines of other events, comments and the like.
    pub other_lines: u64,
    /// True if the last line was cut short and left out.
    pub cut_off: bool,
    /// Events whose flags are numbers without names.
    pub numeric_flags: u64,
    /// True if the kernel's release tells the bits of these numbers.
    pub knows_bits: bool,
    /// Frees of kernels before 3.3, which report a page twice.
    pub repeated_frees: u64,
}

/// The radix of frame numbers without `0x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PfnRadix {
    /// Decimal, unless the first such number has letters. A later number that contradicts this is an
    /// error.
    #[default]
    Auto,
    /// Decimal, as kernels before 5.8 print them.
    Decimal,
    /// Hexadecimal.
    Hex,
}
