//! The class `Memory`.

use freehold::{GfpFlags, Migratetype, NoReclaim, Order, PageblockUse, Pfn, Request};
use freehold_lab::{Column, Columns};
use pyo3::prelude::*;

use super::keeper::{Engine, Fallbacks, HostPlatform, Keeper, Setup};
use super::pageblocks;
use crate::arrow::failed;
use crate::error::{AllocError, BlockError, BugError, FreeError, InputError};
use crate::table::Table;

/// The largest number of pages of a memory: 64 GiB with pages of 4 KiB, with tables of 170 MB.
const MOST_PAGES: u64 = 1 << 24;

/// The page allocator of one zone, without real memory.
///
/// Frames are numbers. Pages are neither moved nor reclaimed, so that a request without a free block fails.
#[pyclass(frozen, module = "freehold")]
pub(crate) struct Memory {
    keeper: Keeper,
    setup: Setup,
    era: String,
}

fn order(number: u8) -> PyResult<Order> {
    let wrong = || InputError::new_err(format!("an order is 0 to {}, not {number}", Order::MAX));
    Order::new(number).ok_or_else(wrong)
}

fn migratetype(name: &str) -> PyResult<(Migratetype, GfpFlags)> {
    let flags = [GfpFlags::KERNEL, GfpFlags::HIGHUSER_MOVABLE, GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE)];
    let known = flags.map(|gfp| (gfp.migratetype(), gfp));
    let found = known.into_iter().find(|(kind, _)| kind.name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let names = known.map(|(kind, _)| kind.name()).join(", ");
        InputError::new_err(format!("{name:?}: requests are {names}"))
    })
}

impl Memory {
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&Engine<'_>, &Fallbacks) -> T + Send + 'static,
    ) -> PyResult<T> {
        let answer = py.detach(|| self.keeper.ask(job));
        answer.ok_or_else(|| BugError::new_err("the engine stopped"))
    }

    fn blocks(&self, py: Python<'_>) -> PyResult<Vec<PageblockUse>> {
        self.ask(py, |engine, _| engine.zones().iter().flat_map(freehold::Zone::pageblocks).collect())
    }
}

fn table(columns: Columns) -> PyResult<Table> {
    Table::new(columns).map_err(|error| failed(&error))
}

#[pymethods]
impl Memory {
    /// Creates a zone of free pages. `era` names a generation of the allocator, optionally with systems or rules,
    /// such as "linux-7.3 without hygiene". With `as_linux`, the zone has the watermarks and per-CPU lists that Linux
    /// computes.
    #[new]
    #[pyo3(signature = (pages=8192, *, era="linux-7.3", start=0, cpus=1, max_order=10, pageblock_order=9, as_linux=false))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn new(
        py: Python<'_>,
        pages: u64,
        era: &str,
        start: u64,
        cpus: u16,
        max_order: u8,
        pageblock_order: u8,
        as_linux: bool,
    ) -> PyResult<Self> {
        if !(1..=MOST_PAGES).contains(&pages) {
            return Err(InputError::new_err(format!("a memory has 1 to {MOST_PAGES} pages, not {pages}")));
        }
        let variant = crate::settings::variant(era)?;
        let setup = Setup {
            start: Pfn(start),
            pages,
            cpus,
            max_order: order(max_order)?,
            pageblock_order: order(pageblock_order)?,
            switches: variant.switches(),
            as_linux,
        };
        let keeper = py.detach(|| Keeper::new(setup.clone())).map_err(InputError::new_err)?;
        Ok(Self { keeper, setup, era: variant.to_string() })
    }

    /// Allocates a block of 2^order pages and returns its first frame.
    #[pyo3(signature = (order=0, migratetype="Movable", *, cpu=0))]
    fn alloc(&self, py: Python<'_>, order: u8, migratetype: &str, cpu: u16) -> PyResult<u64> {
        let (order, (_, gfp)) = (self::order(order)?, self::migratetype(migratetype)?);
        let answer =
            self.ask(py, move |engine, _| engine.alloc(Request { cpu, node: 0, order, gfp }, NoReclaim))?;
        answer.map(|pfn| pfn.0).map_err(|error| AllocError::new_err(error.to_string()))
    }

    /// Frees a block.
    #[pyo3(signature = (pfn, order=0, *, cpu=0))]
    fn free(&self, py: Python<'_>, pfn: u64, order: u8, cpu: u16) -> PyResult<()> {
        let order = self::order(order)?;
        let answer = self.ask(py, move |engine, _| engine.free(cpu, Pfn(pfn), order))?;
        answer.map_err(|error| FreeError::new_err(format!("frame {pfn:#x}: {error}")))
    }

    /// Isolates the pageblock around a frame. Its free pages cannot be allocated, nor pages that are freed into it
    /// later.
    fn isolate(&self, py: Python<'_>, pfn: u64) -> PyResult<()> {
        self.of_block(py, pfn, |zone, pfn| {
            zone.isolate_block(pfn)?;
            zone.drain_all();
            Ok(())
        })
    }

    /// Ends the isolation of the pageblock around a frame.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is one zone's, the closure any zone's"
    )]
    fn unisolate(&self, py: Python<'_>, pfn: u64) -> PyResult<()> {
        self.of_block(py, pfn, |zone, pfn| zone.unisolate_block(pfn))
    }

    /// Returns the pages of all per-CPU lists to the zone.
    fn drain(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, |engine, _| engine.drain_all())
    }

    /// The free blocks by order and migratetype, with a row for each order and a column for each type.
    fn counts(&self, py: Python<'_>) -> PyResult<Table> {
        let lists =
            self.ask(py, |engine, _| engine.zones().iter().map(freehold::Zone::list_lengths).collect())?;
        let lists: Vec<freehold::FreeCounts> = lists;
        let orders = 0..=self.setup.max_order.index();
        let mut columns = Columns::default();
        columns.push("order", Column::Numbers(orders.clone().map(|order| Some(order as i64)).collect()));
        for kind in Migratetype::ALL {
            let of = |order: usize| lists.iter().map(|zone| zone.by_type[order][kind.index()]).sum::<u64>();
            let counts = orders.clone().map(|order| Some(of(order).cast_signed()));
            columns.push(kind.name(), Column::Numbers(counts.collect()));
        }
        table(columns)
    }

    /// The type and the contents of each pageblock, in pages.
    fn pageblocks(&self, py: Python<'_>) -> PyResult<Table> {
        table(pageblocks::columns(&self.blocks(py)?))
    }

    /// All fallbacks so far: the requested type, the type of the found block, and whether its pageblock was claimed.
    fn fallbacks(&self, py: Python<'_>) -> PyResult<Table> {
        let events = self.ask(py, |_, fallbacks| fallbacks.all())?;
        let numbers = |of: &dyn Fn(&freehold::ExtFrag) -> u64| {
            Column::Numbers(events.iter().map(|event| Some(of(event).cast_signed())).collect())
        };
        let mut columns = Columns::default();
        columns.push("pfn", numbers(&|event| event.pfn.0));
        columns.push("order", numbers(&|event| event.alloc_order.get().into()));
        columns.push("fallback_order", numbers(&|event| event.fallback_order.get().into()));
        columns.push("migratetype", Column::texts(events.iter().map(|event| event.alloc_migratetype.name())));
        let found = events.iter().map(|event| event.fallback_migratetype.name());
        columns.push("fallback_migratetype", Column::texts(found));
        let claimed = events.iter().map(|event| Some(event.change_ownership));
        columns.push("claimed", Column::Flags(claimed.collect()));
        table(columns)
    }

    /// The number of pages on free lists.
    #[getter]
    fn free_pages(&self, py: Python<'_>) -> PyResult<u64> {
        self.ask(py, |engine, _| engine.zones().iter().map(freehold::Zone::free_pages).sum())
    }

    /// The state in the format of `/proc/pagetypeinfo`.
    fn pagetypeinfo(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, |engine, _| {
            let mut text = String::new();
            // Writing into a string does not fail.
            let _ = engine.write_pagetypeinfo(&mut text, freehold::PageTypeRows::default());
            text
        })
    }

    /// Verifies every invariant of the engine. An error is a bug in Freehold.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let checked = self.ask(py, |engine, _| engine.check().map_err(|broken| broken.to_string()))?;
        checked.map_err(BugError::new_err)
    }

    /// A picture of the pageblocks as SVG: a box for each, with a frame in the colour of its type, filled by its
    /// contents.
    fn picture(&self, py: Python<'_>) -> PyResult<String> {
        Ok(pageblocks::picture(&self.blocks(py)?, self.setup.pageblock_order.pages()))
    }

    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        self.picture(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let free = self.free_pages(py)?;
        let (pages, era) = (self.setup.pages, &self.era);
        let order = self.setup.pageblock_order;
        Ok(format!("<Memory of {pages} pages, {free} free, pageblocks of order {order}, {era}>"))
    }
}

impl Memory {
    fn of_block(
        &self,
        py: Python<'_>,
        pfn: u64,
        job: impl FnOnce(&freehold::Zone<'_, HostPlatform>, Pfn) -> Result<(), freehold::BlockError>
        + Send
        + 'static,
    ) -> PyResult<()> {
        let done = self.ask(py, move |engine, _| {
            let zone = engine.zone_of(Pfn(pfn)).ok_or(freehold::BlockError::OutsideZone)?;
            job(zone, Pfn(pfn))
        })?;
        done.map_err(|error| BlockError::new_err(format!("frame {pfn:#x}: {error}")))
    }
}
