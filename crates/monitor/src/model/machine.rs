//! The model of a machine's memory, made of two samples.

use std::sync::Arc;

use freehold::Order;
use freehold_linux::procfs::{Machine, Pressure};
use freehold_linux::sample::Sample;
use freehold_linux::sensor::{FreeBlocks, Source};
use freehold_trace::{KernelType, KernelTypes};
use serde::{Serialize, Serializer};

use super::map::Map;
use super::rates::{Rate, rates};
use super::zone::ZoneModel;
use crate::verdict::Standing;

/// The order of a pageblock where it is unknown: 2 MiB in pages of 4 KiB.
const USUAL_PAGEBLOCK_ORDER: u8 = 9;

/// The state of a machine's memory, which every output renders.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Model {
    /// What stays the same while the machine is up.
    pub machine: Machine,
    /// The time of the later sample in milliseconds since 1970.
    pub unix_ms: u64,
    /// How free blocks were read.
    pub sensor: SensorModel,
    /// The order of a pageblock, or `None` if it is unknown.
    pub pageblock_order: Option<u8>,
    /// The kernel's migratetypes in its order; empty if free blocks by type are unknown.
    #[serde(serialize_with = "by_name")]
    pub types: KernelTypes,
    /// What the machine can give, by size: of the sample, or of one before it where judging takes long.
    pub verdicts: Vec<Standing>,
    /// The zones.
    pub zones: Vec<ZoneModel>,
    /// Counters and their rates.
    pub rates: Vec<Rate>,
    /// How long tasks waited for memory; `None` if the kernel does not report it.
    pub pressure: Option<Pressure>,
    /// What the pageblocks hold; `None` if that cannot be read.
    pub map: Option<Arc<Map>>,
    /// What could not be read: the reason, and what to do about it.
    pub notes: Vec<String>,
}

/// How free blocks were read.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SensorModel {
    /// The source of the numbers.
    pub source: Source,
    /// The duration of the reading in nanoseconds.
    pub cost_ns: u64,
    /// How much older the numbers by type are than the totals; `None` if there are no numbers by
    /// type.
    pub types_age_ms: Option<u64>,
}

impl Model {
    /// Makes the model of `now`, with rates since `before`.
    ///
    /// Verdicts and trends are of a series: [`crate::series::Monitor`] fills them in.
    pub fn new(machine: &Machine, before: Option<&Sample>, now: &Sample) -> Self {
        let seconds =
            before.map_or(0.0, |before| now.free.time_ns.saturating_sub(before.free.time_ns) as f64 / 1e9);
        Self {
            machine: machine.clone(),
            unix_ms: now.unix_ms,
            sensor: SensorModel::new(&now.free),
            pageblock_order: now.free.pageblock_order,
            types: now.free.types.clone(),
            verdicts: Vec::new(),
            zones: now
                .free
                .zones
                .iter()
                .map(|zone| ZoneModel::new(zone, &now.free.types, &now.zones))
                .collect(),
            rates: rates(before.map(|before| &before.counters), &now.counters, seconds),
            pressure: now.pressure,
            map: now.pageblocks.as_ref().map(|surveyed| Arc::new(Map::new(surveyed, machine.page_bytes))),
            notes: now.notes.clone(),
        }
    }

    /// Returns the order of a pageblock, or 9 if it is unknown; at most the largest order.
    pub fn likely_pageblock_order(&self) -> usize {
        usize::from(self.pageblock_order.unwrap_or(USUAL_PAGEBLOCK_ORDER)).min(self.largest_order().index())
    }

    /// Returns the largest order of the machine's zones.
    pub fn largest_order(&self) -> Order {
        self.zones.iter().map(|zone| zone.free.largest()).max().unwrap_or(Order::MAX_PAGE_ORDER)
    }
}

fn by_name<S: Serializer>(types: &KernelTypes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(types.iter().map(KernelType::name))
}

impl SensorModel {
    fn new(free: &FreeBlocks) -> Self {
        let types_age_ms = free.types_time_ns.map(|read| free.time_ns.saturating_sub(read) / 1_000_000);
        Self { source: free.source, cost_ns: free.cost_ns, types_age_ms }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use freehold_linux::sample::Sampler;
    use freehold_linux::sensor::Choice;
    use freehold_trace::ByOrder;

    use super::*;

    fn sample(kernel: &str) -> (Machine, Sample) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures");
        let mut sampler = Sampler::open(&fixtures.join(kernel), Choice::Procfs).unwrap();
        let sample = sampler.sample().unwrap();
        (sampler.machine().clone(), sample)
    }

    #[test]
    fn indices_follow_the_kernels_formulas() {
        let (machine, mut now) = sample("linux-6.18");
        let zone = &mut now.free.zones[0];
        zone.total = ByOrder::default();
        zone.total[0].blocks = 96;
        zone.total[3].blocks = 4;
        let model = Model::new(&machine, None, &now);
        let zone = &model.zones[0];
        assert_eq!((zone.free_pages, zone.blocks[0], zone.blocks[3], zone.blocks[4]), (128, 128, 4, 0));
        assert_eq!(
            (zone.unusable_index[0], zone.unusable_index[3], zone.unusable_index[4]),
            (0.0, 0.75, 1.0)
        );
        assert_eq!(zone.extfrag_index[3], None);
        // 1 - (1 + 128 / 512) / 100
        assert_eq!(zone.extfrag_index[9], Some(0.988));
    }

    #[test]
    fn rates_are_of_the_time_between() {
        let (machine, before) = sample("linux-6.18");
        let mut now = before.clone();
        now.free.time_ns = before.free.time_ns + 500_000_000;
        *now.counters.get_mut("pgfree").unwrap() += 50;
        let model = Model::new(&machine, Some(&before), &now);
        let pgfree = model.rates.iter().find(|rate| rate.name == "pgfree").unwrap();
        assert_eq!(pgfree.per_second, Some(100.0));
        assert!(Model::new(&machine, None, &now).rates.iter().all(|rate| rate.per_second.is_none()));
    }

    #[test]
    fn zones_are_found_in_zoneinfo() {
        let (machine, now) = sample("linux-6.18");
        let model = Model::new(&machine, None, &now);
        assert!(model.zones.iter().all(|zone| zone.pages.is_some_and(|pages| pages.managed > 0)));
        let without = Sample { zones: Vec::new(), ..now };
        assert!(Model::new(&machine, None, &without).zones.iter().all(|zone| zone.pages.is_none()));
    }
}
