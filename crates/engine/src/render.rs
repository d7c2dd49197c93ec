//! The kernel's text formats, byte for byte.

use core::fmt::{self, Write};

use crate::memory::Memory;
use crate::sync::Locks;
use crate::zone::Zone;
use crate::{FreeCounts, Migratetype, Order};

/// Linux stops counting a list here, so that its reader lets go of the zone lock.
pub const PAGETYPEINFO_CAP: u64 = 100_000;

/// How a kernel was built, as far as its text shows it.
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

impl<L: Locks> Memory<'_, L> {
    /// Writes the contents of `/proc/pagetypeinfo`.
    ///
    /// With [`crate::Switches::counts`] the numbers come from the counts, otherwise from a walk of
    /// every list under its zone's lock; both print `>100000` where Linux would.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_pagetypeinfo(&self, out: &mut impl Write, rows: PageTypeRows) -> fmt::Result {
        for node in 0..self.nodes {
            let zones = || self.zones.iter().filter(move |zone| zone.node() == node);
            let Some(first) = zones().next() else { continue };
            writeln!(out, "Page block order: {}", first.pageblock_order())?;
            writeln!(out, "Pages per block:  {}\n", first.pageblock_order().pages())?;
            write!(out, "{:<43} ", "Free pages count per migrate type at order")?;
            for order in Order::ZERO.up_to(self.max_order) {
                write!(out, "{:>6} ", order.get())?;
            }
            writeln!(out)?;
            for zone in zones() {
                write_free_rows(out, zone, rows)?;
            }
            write!(out, "\n{:<23}", "Number of blocks type ")?;
            for kind in rows.types() {
                write!(out, "{:>12} ", kind.name())?;
            }
            writeln!(out)?;
            for zone in zones() {
                let blocks = zone.blocks_by_type();
                write!(out, "Node {}, zone {:>8} ", zone.node(), zone.kind().name())?;
                for kind in rows.types() {
                    write!(out, "{:>12} ", blocks[kind.index()])?;
                }
                writeln!(out)?;
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
            write!(out, "Node {}, zone {:>8} ", zone.node(), zone.kind().name())?;
            let counts = zone.counts_relaxed();
            for order in Order::ZERO.up_to(self.max_order) {
                write!(out, "{:>6} ", counts.total[order.index()])?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

fn write_free_rows<L: Locks>(out: &mut impl Write, zone: &Zone<'_, L>, rows: PageTypeRows) -> fmt::Result {
    let counts =
        if zone.switches.counts { zone.counts_relaxed() } else { zone.counts_by_walk(PAGETYPEINFO_CAP).0 };
    for kind in rows.types() {
        write!(out, "Node {:>4}, zone {:>8}, type {:>12} ", zone.node(), zone.kind().name(), kind.name())?;
        for order in Order::ZERO.up_to(zone.max_order()) {
            let blocks = counts.by_type[order.index()][kind.index()];
            let mark = if blocks >= PAGETYPEINFO_CAP { ">" } else { "" };
            write!(out, "{mark}{:>6} ", blocks.min(PAGETYPEINFO_CAP))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

impl FreeCounts {
    /// How much of the free memory cannot serve a request of `order`: 0 all can, 1000 none can.
    ///
    /// Linux counterpart: `unusable_free_index`, in thousandths.
    pub fn unusable_index(&self, order: Order) -> u64 {
        let free = self.free_pages();
        if free == 0 {
            return 1000;
        }
        let usable: u64 =
            self.total.iter().enumerate().skip(order.index()).map(|(at, blocks)| blocks << at).sum();
        (free - usable) * 1000 / free
    }

    /// Why a request of `order` would fail: towards 0 for lack of memory, towards 1000 for
    /// fragmentation, -1000 where it would not fail.
    ///
    /// Linux counterpart: `__fragmentation_index`, in thousandths.
    pub fn extfrag_index(&self, order: Order) -> i64 {
        let free_blocks: u64 = self.total.iter().sum();
        if free_blocks == 0 {
            return 0;
        }
        if self.total[order.index()..].iter().any(|&blocks| blocks > 0) {
            return -1000;
        }
        let in_requests = self.free_pages() * 1000 / order.pages();
        1000 - ((1000 + in_requests) / free_blocks) as i64
    }
}
