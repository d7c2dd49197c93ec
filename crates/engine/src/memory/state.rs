//! The memory: all nodes and zones of a machine.

use core::mem::MaybeUninit;

use super::config::{FirstZones, MemoryConfig};
use super::node::NodeState;
use super::request_counters::{CpuRequests, LargeFailures};
use super::tables::ZoneTables;
use super::tunables::{TunableCells, Tunables};
use super::vm_events::{EventCells, VmEvents};
use crate::percpu::Owners;
use crate::table::sync::AtomicBool;
use crate::table::{Carver, Tally};
use crate::types::{Order, Pfn, Platform, RefusedChoices, RequestStats, SetupError, Switches, ZoneStats};
use crate::zone::{Unmixed, Zone};

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
            if zone.start.0.checked_add(zone.spanned).is_none() {
                return Err(SetupError::ZoneTooLarge);
            }
            ZoneTables::new(self, zone).validate()?;
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
}

/// Returns the bytes of metadata that [`Memory::new`] needs.
///
/// Units: bytes. The sum of:
///
/// - 10 for each page, counted from the zone's start rounded down to the largest block
/// - 4 for each pageblock; 8 more if a pageblock has more than 2048 pages and [`Switches::claims_by_counts`] is on
/// - for each zone and CPU: a fixed part, and 12 for every 256 pages of the zone, at most 24 KiB
///
/// If [`MemoryConfig::sections`] leaves sections out, only pages and pageblocks of the named sections count, present
/// and hot-pluggable ones alike. Every section of the zone's span then costs 4 bytes, and 4 more if it is named.
pub fn required_bytes<P: Platform>(config: &MemoryConfig<'_>) -> usize {
    let mut tally = Tally::default();
    tally.table::<Zone<'_, P>>(config.zones.len());
    tally.table::<LargeFailures>(1);
    tally.table::<CpuRequests>(usize::from(config.cpus));
    tally.table::<FirstZones>(config.nodes());
    tally.table::<NodeState>(config.nodes());
    tally.table::<AtomicBool>(usize::from(config.cpus));
    for zone in config.zones {
        ZoneTables::new(config, zone).tally::<P>(&mut tally);
    }
    tally.bytes()
}

/// The page allocator: all nodes and zones of a machine.
///
/// The same calls in the same order return the same results. The engine has no timer: work that Linux does on a timer
/// is a function that the embedder calls ([`Memory::refresh`]).
pub struct Memory<'m, P: Platform> {
    pub(crate) zones: &'m [Zone<'m, P>],
    pub(crate) requests: &'m [CpuRequests],
    pub(crate) large_failures: &'m LargeFailures,
    pub(crate) switches: Switches,
    pub(crate) max_order: Order,
    /// True if a zone has holes between sections.
    pub(crate) has_holes: bool,
    /// The number of nodes, up to 2^16.
    pub(crate) nodes: u32,
    /// For each node, the zone that a request tries first, by the highest zone type that the request may use.
    pub(crate) first_zones: &'m [FirstZones],
    pub(super) node_states: &'m [NodeState],
    pub(crate) owners: Owners<'m>,
    pub(crate) tunables: TunableCells,
    pub(crate) events: EventCells,
}

impl<'m, P: Platform<Tracepoints = (), Rule = ()>> Memory<'m, P> {
    /// Returns a memory whose frames are all absent; [`Zone::add_free`] brings frames into service.
    ///
    /// # Errors
    /// See [`SetupError`].
    pub fn new(config: &MemoryConfig<'_>, metadata: &'m mut [MaybeUninit<u8>]) -> Result<Self, SetupError> {
        Self::with_tracepoints(config, metadata, &())
    }
}

impl<'m, P: Platform<Rule = ()>> Memory<'m, P> {
    /// Returns a memory as [`Memory::new`] does. The engine reports its events to `tracepoints`.
    ///
    /// # Errors
    /// See [`SetupError`].
    pub fn with_tracepoints(
        config: &MemoryConfig<'_>,
        metadata: &'m mut [MaybeUninit<u8>],
        tracepoints: &'m P::Tracepoints,
    ) -> Result<Self, SetupError> {
        Self::with_policy(config, metadata, tracepoints, &())
    }
}

impl<'m, P: Platform> Memory<'m, P> {
    /// Returns a memory as [`Memory::with_tracepoints`] does. The engine lets `rule` choose the blocks of requests that
    /// found no block of their own type.
    ///
    /// # Errors
    /// See [`SetupError`].
    pub fn with_policy(
        config: &MemoryConfig<'_>,
        metadata: &'m mut [MaybeUninit<u8>],
        tracepoints: &'m P::Tracepoints,
        rule: &'m P::Rule,
    ) -> Result<Self, SetupError> {
        config.validate()?;
        let mut carver = Carver::new(metadata, required_bytes::<P>(config));
        let large_failures = &carver.table(1, |_| Ok(LargeFailures::new()))?[0];
        let requests = carver.table(usize::from(config.cpus), |_| Ok(CpuRequests::default()))?;
        let first_zones = carver.table(config.nodes(), |node| Ok(config.first_zones(node)))?;
        let node_states = carver.table(config.nodes(), |_| Ok(NodeState::new()))?;
        let owners = Owners::new(carver.table(usize::from(config.cpus), |_| Ok(AtomicBool::new(false)))?);
        let mut zone_table = carver.reserve::<Zone<'m, P>>(config.zones.len())?;
        let zones = zone_table.table(config.zones.len(), |slot| {
            let zone = config.zone_of_rank(slot);
            Ok(Zone::new(
                zone,
                ZoneTables::new(config, zone).carve(config, zone, (tracepoints, rule), &mut carver)?,
            ))
        })?;
        Ok(Self {
            zones,
            requests,
            large_failures,
            switches: config.switches,
            max_order: config.max_order,
            has_holes: zones.iter().any(|zone| zone.frames.has_holes()),
            nodes: config.nodes() as u32,
            first_zones,
            node_states,
            owners,
            tunables: TunableCells::new(Tunables::LINUX),
            events: EventCells::default(),
        })
    }

    /// Returns the zones: nodes ascending, within a node from low to high addresses.
    pub fn zones(&self) -> &'m [Zone<'m, P>] {
        self.zones
    }

    /// Returns the zone of a frame, or `None` if no zone contains it.
    pub fn zone_of(&self, pfn: Pfn) -> Option<&'m Zone<'m, P>> {
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

    /// Returns the numbers of successful and failed requests so far. Exact if at most one thread at a time uses each
    /// CPU number.
    pub fn request_stats(&self) -> RequestStats {
        let of_cpus = self.requests.iter().fold(RequestStats::default(), |sum, cpu| cpu.added_to(sum));
        self.large_failures.added_to(of_cpus)
    }

    /// Returns the tunables. They are [`Tunables::LINUX`] at first.
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

    /// Returns the counters of reclaim and compaction since the memory was set up.
    pub fn vm_events(&self) -> VmEvents {
        self.events.load()
    }

    /// Returns the number of choices of the placement rule that the engine refused, and the last refused block. Takes
    /// no lock.
    pub fn refused_choices(&self) -> RefusedChoices {
        let of_zones = self.zones.iter().map(Zone::refused).filter(|refused| refused.count > 0);
        of_zones.fold(RefusedChoices::default(), |sum, refused| RefusedChoices {
            count: sum.count + refused.count,
            last: refused.last,
        })
    }

    /// Returns the statistics of the zone locks, summed over all zones.
    pub fn zone_stats(&self) -> ZoneStats {
        self.zones.iter().fold(ZoneStats::default(), |sum, zone| sum.merged(&zone.stats()))
    }
}
