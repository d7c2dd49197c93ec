//! Replays with some settings, as a row of measures.

use freehold_measure::Cell;

use super::column_name::column_name;
use super::knobs::{Knob, Value};
use crate::compare::{TRUST_SUBJECTS, TrustPart, shifts, spreads, values};
use crate::error::LabError;
use crate::replay::{Lab, Measures, Options, SampleDetail, ZoneSample};

impl Lab<'_> {
    /// Replays with some settings, `replays` times with jittered daemon wake-ups. Returns every measure of a
    /// comparison's overview, means over time, and means and standard deviations over all replays, with the names of
    /// their columns.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn measure(&self, settings: &[(Knob, Value)], replays: u32) -> Result<Vec<(String, Cell)>, LabError> {
        let (lab, variant) = self.turned(settings)?;
        let order = lab.machine.pageblock_order;
        let options = Options { runs: 1, threads: Some(1), ..Options::default() };
        let replay = lab.replay(&variant, options)?;
        let mut all = vec![values(&replay.measures, order)];
        for shift in shifts(replays).skip(1) {
            let shifted = lab.replay(&variant, Options { shift, detail: SampleDetail::Totals, ..options })?;
            all.push(values(&shifted.measures, order));
        }
        let mut measures = vec![("failures_all_orders".to_owned(), Cell::Count(replay.measures.failed()))];
        for order in 0..=lab.machine.max_order.index() {
            let failed = Cell::Count(replay.measures.followed.failures.of(order));
            measures.push((format!("failures_order_{order}"), failed));
        }
        let tables = lab.describe(&replay);
        let rows = tables.first().map_or(&[][..], |overview| &overview.rows);
        for row in rows.iter().filter(|row| row.group != "failures") {
            let name = column_name(&[&row.group, &row.measure, &row.unit]);
            measures.push((name, row.cells.first().copied().unwrap_or_default()));
        }
        let free_pageblocks = replay.measures.mean_free_pageblocks(order);
        measures.push(("over_time_free_pageblocks".to_owned(), Cell::Real(free_pageblocks)));
        measures.extend(over_time(&replay.measures));
        for (name, mean, deviation) in spreads(&all) {
            measures.push((column_name(&["replicates", name, "mean"]), mean));
            measures.push((column_name(&["replicates", name, "standard deviation"]), deviation));
        }
        Ok(measures)
    }

    /// Replays the trace in the era nearest to its kernel. Returns the differences from the machine, with the names
    /// of their columns. Differences without recorded data are empty.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn trust_columns(&self) -> Result<Vec<(String, Cell)>, LabError> {
        let parts = self.trust()?.map(|trust| trust.parts);
        let of = |what: &str| parts.iter().flatten().find(|part| part.what == what);
        let percent = |part: &TrustPart| Cell::Real(part.percent);
        let columns = TRUST_SUBJECTS.map(|what| {
            (column_name(&["trust", what, "percent off"]), of(what).map_or(Cell::Empty, percent))
        });
        let kept = parts.as_ref().map(|parts| parts.iter().filter(|part| part.is_kept()).count() as u64);
        let checks = parts.as_ref().map(|parts| parts.len() as u64);
        let count = |count: Option<u64>| count.map_or(Cell::Empty, Cell::Count);
        let counts = [("trust_bounds_kept", count(kept)), ("trust_bounds_told", count(checks))];
        Ok(columns.into_iter().chain(counts.map(|(name, cell)| (name.to_owned(), cell))).collect())
    }
}

/// Returns means over the samples of a replay.
fn over_time(measures: &Measures) -> [(String, Cell); 3] {
    let mean = |values: &mut dyn Iterator<Item = u64>| {
        let (sum, count) = values.fold((0, 0_u64), |(sum, count), value| (sum + value, count + 1));
        Cell::Real(sum as f64 / count.max(1) as f64)
    };
    let samples = &measures.samples;
    let free = |zones: &[ZoneSample]| zones.iter().map(|zone| zone.free_pages).sum::<u64>();
    [
        ("over_time_mixed_pageblocks", mean(&mut samples.iter().filter_map(|sample| sample.mixed))),
        ("over_time_list_nodes", mean(&mut samples.iter().filter_map(|sample| sample.nodes))),
        ("over_time_free_pages", mean(&mut samples.iter().map(|sample| free(&sample.zones)))),
    ]
    .map(|(name, cell)| (name.to_owned(), cell))
}
