//! All nodes and zones of a machine, and how they are set up.

use core::mem::MaybeUninit;

use lock_api::Mutex;

use super::node::NodeState;
use super::request_counters::{CpuRequests, LargeFailures};
use super::tunables::{TunableCells, Tunables};
use super::vm_events::{EventCells, VmEvents};
use crate::percpu::{LISTS, PerCpuList, PerCpuLists, stack_places};
use crate::table::sync::Locks;
use crate::table::{
    Carver, Frame, FrameTable, LargeCounts, Links, OwnLines, Pageblock, PageblockTable, Tally,
};
use crate::types::{Era, Order, Pfn, RequestStats, SetupError, Switches, ZONE_TYPES, ZoneStats, ZoneType};
use crate::zone::{CpuLists, DEFAULT_BOOST_FACTOR, Unmixed, Zone, ZoneConfig, ZoneParts};

/// How memory is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryConfig<'c> {
    /// The zones, in any order.
    pub zones: &'c [ZoneConfig],
    /// The number of CPUs, which are numbered from 0.
    pub cpus: u16,
    /// The largest order. Linux counterpart: `MAX_PAGE_ORDER`.
    pub max_order: Order,
    /// The order of a pageblock. Linux counterpart: `pageblock_order`.
    pub pageblock_order: Order,
    /// True if a pageblock is a huge page and has per-CPU lists.
    /// Linux counterpart: `CONFIG_TRANSPARENT_HUGEPAGE`.
    pub huge_pages: bool,
    /// The switches of the allocator generation.
    pub switches: Switches,
    /// The amount by which one fallback raises the watermarks, in ten-thousandths of the high one; `None`
    /// for Linux's default. Linux counterpart: `vm.watermark_boost_factor`.
    pub watermark_boost_factor: Option<u32>,
}

impl<'c> MemoryConfig<'c> {
    /// Returns the set-up of the newest Linux with pages of 4 KiB and huge pages of 2 MiB: blocks up to order 10,
    /// pageblocks of order 9.
    pub const fn linux(zones: &'c [ZoneConfig], cpus: u16) -> Self {
        Self {
            zones,
            cpus,
            max_order: Order::MAX_PAGE_ORDER,
            pageblock_order: Order::HUGE_PAGE,
            huge_pages: true,
            switches: Era::Linux7_3.switches(),
            watermark_boost_factor: None,
        }
    }
}

impl MemoryConfig<'_> {
    fn validate(&self) -> Result<(), SetupError> {
        if self.pageblock_order > self.max_order {
            return Err(SetupError::BadPageblockOrder);
        }
        if self.cpus == 0 {
            return Err(SetupError::NoCpu);
        }
        if self.zones.is_empty() || self.zones.iter().any(|zone| zone.spanned == 0) {
            return Err(SetupError::EmptyZone);
        }
        for (number, zone) in self.zones.iter().enumerate() {
            if zone.spanned > 1 << 31 || zone.start.0.checked_add(zone.spanned).is_none() {
                return Err(SetupError::ZoneTooLarge);
            }
            let settings = zone.percpu;
            if settings.batch == 0 || settings.high_min > settings.high_max {
                return Err(SetupError::BadPerCpuSettings);
            }
            let overlap = self.zones[..number].iter().find(|other| {
                zone.start.0 < other.start.0 + other.spanned && other.start.0 < zone.start.0 + zone.spanned
            });
            if let Some(other) = overlap {
                return Err(SetupError::OverlappingZones { at: zone.start.max(other.start) });
            }
        }
        Ok(())
    }

    /// Returns the zone of a rank, from 0 up, by node, then type, then address.
    fn zone_of_rank(&self, rank: usize) -> &ZoneConfig {
        let key = |zone: &ZoneConfig| (zone.node, zone.kind, zone.start);
        let has_rank =
            |zone: &&ZoneConfig| self.zones.iter().filter(|other| key(other) < key(zone)).count() == rank;
        self.zones.iter().find(has_rank).unwrap_or(&self.zones[0])
    }

    /// Returns true if pageblock types should not mix in a zone because a lower zone can answer first.
    ///
    /// Linux counterpart: `alloc_flags_nofragment`.
    fn avoids_mixing(&self, zone: &ZoneConfig) -> bool {
        let dma32 = |other: &&ZoneConfig| other.kind == ZoneType::Dma32;
        zone.kind == ZoneType::Normal
            && self.zones.iter().any(|other| dma32(&other))
            && (self.nodes() == 1 || self.zones.iter().filter(dma32).any(|other| other.node == zone.node))
    }

    /// Returns how many nodes there are.
    fn nodes(&self) -> usize {
        self.zones.iter().map(|zone| usize::from(zone.node) + 1).max().unwrap_or(0)
    }

    /// Returns the rank of the zone that a request tries first in a node, by the highest zone that it may
    /// use; [`NO_ZONE`] where the node has none.
    fn first_zones(&self, node: usize) -> FirstZones {
        ZoneType::ALL.map(|highest| {
            let fits = |zone: &&ZoneConfig| usize::from(zone.node) == node && zone.kind <= highest;
            let rank = (0..self.zones.len()).rev().find(|&rank| fits(&self.zone_of_rank(rank)));
            rank.and_then(|rank| u16::try_from(rank).ok()).unwrap_or(NO_ZONE)
        })
    }

    /// Returns the number of pageblocks from a zone's origin to its end.
    fn pageblocks(&self, zone: &ZoneConfig) -> usize {
        self.places(zone).div_ceil(self.pageblock_order.pages() as usize)
    }

    /// Returns the number of frames from a zone's origin to its end.
    fn places(&self, zone: &ZoneConfig) -> usize {
        FrameTable::places(zone.start, zone.spanned, self.max_order)
    }

    /// Returns the number of a zone's pageblocks whose counts do not fit beside their type.
    fn large_pageblocks(&self, zone: &ZoneConfig) -> usize {
        let counted = self.switches.in_effect().claims_by_counts;
        PageblockTable::large_places(self.pageblock_order, counted, self.pageblocks(zone))
    }
}

/// Returns the bytes of metadata that [`Memory::new`] needs.
///
/// Units: bytes. 10 for each page, counted from the zone's start rounded down to the largest block; 4 for
/// each pageblock, and 8 more for each of more than 2048 pages where claims go by counts; and for each zone and CPU a fixed part and 12 for every 256 pages of the zone, at most
/// 24 KiB.
pub fn required_bytes<L: Locks>(config: &MemoryConfig<'_>) -> usize {
    let mut tally = Tally::default();
    tally.table::<Zone<'_, L>>(config.zones.len());
    tally.table::<LargeFailures>(1);
    tally.table::<CpuRequests>(usize::from(config.cpus));
    tally.table::<FirstZones>(config.nodes());
    tally.table::<NodeState>(config.nodes());
    for zone in config.zones {
        tally.table::<Frame>(config.places(zone));
        tally.table::<Links>(config.places(zone));
        tally.table::<Pageblock>(config.pageblocks(zone));
        tally.table::<LargeCounts>(config.large_pageblocks(zone));
        tally.table::<CpuLists<'_, L>>(usize::from(config.cpus));
        for _ in 0..config.cpus {
            stack_places(zone.spanned).for_each(|places| tally.table::<u32>(places));
        }
    }
    tally.bytes()
}

/// All of a machine's memory: the whole allocator.
///
/// The same calls in the same order give the same answers. What Linux does on a timer is a call here
/// ([`Memory::refresh`]).
pub struct Memory<'m, L: Locks> {
    pub(crate) zones: &'m [Zone<'m, L>],
    pub(crate) requests: &'m [CpuRequests],
    pub(crate) large_failures: &'m LargeFailures,
    pub(crate) switches: Switches,
    pub(crate) max_order: Order,
    /// Up to 2^16.
    pub(crate) nodes: u32,
    /// For each node, the zone that a request tries first, by the highest zone that it may use.
    pub(crate) first_zones: &'m [FirstZones],
    pub(super) node_states: &'m [NodeState],
    pub(crate) tunables: TunableCells,
    pub(crate) events: EventCells,
}

/// The zones that requests try first, by the highest zone that a request may use; [`NO_ZONE`] where the
/// node has none.
pub(crate) type FirstZones = [u16; ZONE_TYPES];

const NO_ZONE: u16 = u16::MAX;

impl<'m, L: Locks<Tracepoints = ()>> Memory<'m, L> {
    /// Returns a memory whose frames are all absent; [`Zone::add_free`] brings frames into service.
    ///
    /// # Errors
    /// See [`SetupError`].
    pub fn new(config: &MemoryConfig<'_>, metadata: &'m mut [MaybeUninit<u8>]) -> Result<Self, SetupError> {
        Self::watched(config, metadata, &())
    }
}

impl<'m, L: Locks> Memory<'m, L> {
    /// Returns a memory as [`Memory::new`] does; `tracepoints` is told of its events.
    ///
    /// # Errors
    /// See [`SetupError`].
    pub fn watched(
        config: &MemoryConfig<'_>,
        metadata: &'m mut [MaybeUninit<u8>],
        tracepoints: &'m L::Tracepoints,
    ) -> Result<Self, SetupError> {
        config.validate()?;
        let mut carver = Carver::new(metadata, required_bytes::<L>(config));
        let large_failures = &carver.table(1, |_| Ok(LargeFailures::new()))?[0];
        let requests = carver.table(usize::from(config.cpus), |_| Ok(CpuRequests::default()))?;
        let first_zones = carver.table(config.nodes(), |node| Ok(config.first_zones(node)))?;
        let node_states = carver.table(config.nodes(), |_| Ok(NodeState::new()))?;
        let mut zone_table = carver.reserve::<Zone<'m, L>>(config.zones.len())?;
        let zones = zone_table.table(config.zones.len(), |slot| {
            let zone = config.zone_of_rank(slot);
            Ok(Zone::new(zone, zone_parts(config, zone, tracepoints, &mut carver)?))
        })?;
        Ok(Self {
            zones,
            requests,
            large_failures,
            switches: config.switches,
            max_order: config.max_order,
            nodes: config.nodes() as u32,
            first_zones,
            node_states,
            tunables: TunableCells::new(Tunables::LINUX),
            events: EventCells::default(),
        })
    }

    /// Returns the zones: nodes ascending, within a node from low to high addresses.
    pub fn zones(&self) -> &'m [Zone<'m, L>] {
        self.zones
    }

    /// Returns the zone of a frame, or `None` if no zone contains it.
    pub fn zone_of(&self, pfn: Pfn) -> Option<&'m Zone<'m, L>> {
        self.zones.iter().find(|zone| zone.contains(pfn))
    }

    /// Returns the number of CPUs.
    pub fn cpus(&self) -> u16 {
        self.requests.len() as u16
    }

    /// Returns the switches of the allocator generation.
    pub fn switches(&self) -> Switches {
        self.switches
    }

    /// Returns the numbers of requests answered and failed so far. Exact while each CPU number is used by
    /// one thread at a time.
    pub fn request_stats(&self) -> RequestStats {
        let of_cpus = self.requests.iter().fold(RequestStats::default(), |sum, cpu| cpu.added_to(sum));
        self.large_failures.added_to(of_cpus)
    }

    /// Returns the tunables, which are [`Tunables::LINUX`] at first.
    pub fn tunables(&self) -> Tunables {
        self.tunables.load()
    }

    /// Changes the tunables for later requests and runs of the daemons.
    pub fn set_tunables(&self, tunables: Tunables) {
        self.tunables.store(tunables);
        for zone in self.zones {
            zone.unmixed.set(Unmixed::DEFRAG_MODE, tunables.defrag_mode);
        }
    }

    /// Returns what reclaim and compaction did so far.
    pub fn vm_events(&self) -> VmEvents {
        self.events.load()
    }

    /// Returns what happened under the zone locks so far, summed over all zones.
    pub fn zone_stats(&self) -> ZoneStats {
        self.zones.iter().fold(ZoneStats::default(), |sum, zone| sum.merged(&zone.stats()))
    }
}

fn zone_parts<'m, L: Locks>(
    config: &MemoryConfig<'_>,
    zone: &ZoneConfig,
    tracepoints: &'m L::Tracepoints,
    carver: &mut Carver<'m>,
) -> Result<ZoneParts<'m, L>, SetupError> {
    let places = config.places(zone);
    let frames = carver.table(places, |_| Ok(Frame::absent()))?;
    let links = carver.table(places, |_| Ok(Links::none()))?;
    let blocks = carver.table(config.pageblocks(zone), |_| Ok(Pageblock::movable()))?;
    let large = carver.table(config.large_pageblocks(zone), |_| Ok(LargeCounts::default()))?;
    let switches = config.switches.in_effect();
    let mut cpus = carver.reserve::<CpuLists<'m, L>>(usize::from(config.cpus))?;
    let percpu = cpus.table(usize::from(config.cpus), |_| {
        let mut lists = core::array::from_fn::<_, LISTS, _>(|_| PerCpuList::new(&mut []));
        for (list, places) in lists.iter_mut().zip(stack_places(zone.spanned)) {
            *list = PerCpuList::new(carver.table(places, |_| Ok(0))?);
        }
        Ok(OwnLines(Mutex::new(PerCpuLists::new(zone.percpu, &switches, lists))))
    })?;
    Ok(ZoneParts {
        frames: FrameTable::new(zone.start, config.max_order, frames, links),
        blocks: PageblockTable::new(config.pageblock_order, switches.claims_by_counts, blocks, large),
        percpu,
        max_order: config.max_order,
        switches,
        has_huge_lists: config.huge_pages,
        avoids_mixing: config.avoids_mixing(zone),
        boost_factor: config.watermark_boost_factor.map_or(DEFAULT_BOOST_FACTOR, u64::from),
        tracepoints,
    })
}
