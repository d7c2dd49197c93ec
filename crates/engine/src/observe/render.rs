//! The kernel's text formats, byte for byte.

use core::fmt::{self, Write};

use crate::memory::Memory;
use crate::types::{Migratetype, Order, Platform};
use crate::zone::{FreeCounts, Zone};

/// The number of blocks after which Linux stops counting a list, so that it can release the zone lock.
pub const PAGETYPEINFO_CAP: u64 = 100_000;

/// The options of a kernel's configuration that decide which rows `/proc/pagetypeinfo` has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageTypeRows {
    /// `CONFIG_CMA`: there is a row for CMA.
    pub cma: bool,
    /// `CONFIG_MEMORY_ISOLATION`: there is a row for isolated blocks.
    pub isolate: bool,
}

impl Default for PageTypeRows {
    fn default() -> Self {
        Self { cma: true, isolate: true }
    }
}

impl PageTypeRows {
    fn types(self) -> impl Iterator<Item = Migratetype> {
        Migratetype::ALL.into_iter().filter(move |kind| match kind {
            Migratetype::Cma => self.cma,
            Migratetype::Isolate => self.isolate,
            _ => true,
        })
    }
}

impl<P: Platform> Memory<'_, P> {
    /// Writes the contents of `/proc/pagetypeinfo`.
    ///
    /// With [`crate::Switches::counts`] the numbers come from the counts, otherwise from a walk over every list under
    /// its zone's lock. Both print `>100000` where Linux does.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_pagetypeinfo(&self, out: &mut impl Write, rows: PageTypeRows) -> fmt::Result {
        for node in 0..self.nodes {
            let zones = || self.zones.iter().filter(move |zone| u32::from(zone.node()) == node);
            let Some(first) = zones().next() else { continue };
            pagetypeinfo::write_head(out, first.pageblock_order(), self.max_order)?;
            for zone in zones() {
                write_free_rows(out, zone, rows)?;
            }
            pagetypeinfo::write_blocks_head(out, rows.types().map(Migratetype::name))?;
            for zone in zones() {
                let blocks = zone.blocks_by_type();
                let blocks = rows.types().map(|kind| blocks[kind.index()]);
                pagetypeinfo::write_blocks_row(out, zone.node(), zone.kind().name(), blocks)?;
            }
        }
        Ok(())
    }

    /// Writes the contents of `/proc/buddyinfo`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_buddyinfo(&self, out: &mut impl Write) -> fmt::Result {
        for zone in self.zones {
            let counts = zone.counts_relaxed();
            let total = Order::ZERO.up_to(self.max_order).map(|order| counts.total[order.index()]);
            write_buddyinfo_row(out, zone.node(), zone.kind().name(), total)?;
        }
        Ok(())
    }
}

fn write_free_rows<P: Platform>(out: &mut impl Write, zone: &Zone<'_, P>, rows: PageTypeRows) -> fmt::Result {
    let counts =
        if zone.switches.counts { zone.counts_relaxed() } else { zone.counts_by_walk(PAGETYPEINFO_CAP).0 };
    for kind in rows.types() {
        let orders = Order::ZERO.up_to(zone.max_order());
        let blocks = orders.map(|order| counts.by_type[order.index()][kind.index()]);
        let counted = blocks.map(|blocks| (blocks.min(PAGETYPEINFO_CAP), blocks >= PAGETYPEINFO_CAP));
        pagetypeinfo::write_free_row(out, zone.node(), zone.kind().name(), kind.name(), counted)?;
    }
    Ok(())
}

/// Writes one zone's row of `/proc/buddyinfo`: its free blocks by order.
///
/// # Errors
/// Those of the writer.
pub fn write_buddyinfo_row(
    out: &mut impl Write,
    node: impl fmt::Display,
    zone: &str,
    blocks: impl Iterator<Item = u64>,
) -> fmt::Result {
    write!(out, "Node {node}, zone {zone:>8} ")?;
    for blocks in blocks {
        write!(out, "{blocks:>6} ")?;
    }
    writeln!(out)
}

/// Writes the rows of `/proc/pagetypeinfo`, one at a time, from counts of any source.
pub mod pagetypeinfo {
    use core::fmt::{self, Display, Write};

    use crate::types::Order;

    /// Writes the head of a node's section: the pageblock order, and the orders above the rows of free blocks.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_head(out: &mut impl Write, pageblock_order: Order, max_order: Order) -> fmt::Result {
        writeln!(out, "Page block order: {pageblock_order}")?;
        writeln!(out, "Pages per block:  {}\n", pageblock_order.pages())?;
        write!(out, "{:<43} ", "Free pages count per migrate type at order")?;
        for order in Order::ZERO.up_to(max_order) {
            write!(out, "{:>6} ", order.get())?;
        }
        writeln!(out)
    }

    /// Writes the number of free blocks of one zone and type by order. The flag beside a number is true if the count
    /// stopped there.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_free_row(
        out: &mut impl Write,
        node: impl Display,
        zone: &str,
        kind: &str,
        counted: impl Iterator<Item = (u64, bool)>,
    ) -> fmt::Result {
        write!(out, "Node {node:>4}, zone {zone:>8}, type {kind:>12} ")?;
        for (blocks, capped) in counted {
            write!(out, "{}{blocks:>6} ", if capped { ">" } else { "" })?;
        }
        writeln!(out)
    }

    /// Writes the names of the types above the rows of pageblocks.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_blocks_head<'t>(out: &mut impl Write, types: impl Iterator<Item = &'t str>) -> fmt::Result {
        write!(out, "\n{:<23}", "Number of blocks type ")?;
        for kind in types {
            write!(out, "{kind:>12} ")?;
        }
        writeln!(out)
    }

    /// Writes the number of pageblocks of one zone by type.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_blocks_row(
        out: &mut impl Write,
        node: impl Display,
        zone: &str,
        blocks: impl Iterator<Item = u64>,
    ) -> fmt::Result {
        write!(out, "Node {node}, zone {zone:>8} ")?;
        for blocks in blocks {
            write!(out, "{blocks:>12} ")?;
        }
        writeln!(out)
    }
}

impl FreeCounts {
    /// Returns the share of free memory that cannot serve a request of `order`: 0 if all of it can, 1000 if none can.
    ///
    /// Linux counterpart: `unusable_free_index`, in thousandths.
    pub fn unusable_index(&self, order: Order) -> u64 {
        let free = self.free_pages();
        if free == 0 {
            return 1000;
        }
        (free - self.pages_from(order.index())).saturating_mul(1000) / free
    }

    /// Returns the reason why a request of `order` would fail: towards 0 for lack of memory, towards 1000 for
    /// fragmentation, and -1000 if the request would succeed.
    ///
    /// Linux counterpart: `__fragmentation_index`, in thousandths.
    pub fn extfrag_index(&self, order: Order) -> i64 {
        let free_blocks = self.total.iter().fold(0_u64, |sum, blocks| sum.saturating_add(*blocks));
        if free_blocks == 0 {
            return 0;
        }
        if self.total[order.index()..].iter().any(|&blocks| blocks > 0) {
            return -1000;
        }
        let in_requests = self.free_pages().saturating_mul(1000) / order.pages();
        1000 - i64::try_from(in_requests.saturating_add(1000) / free_blocks).unwrap_or(i64::MAX)
    }
}
