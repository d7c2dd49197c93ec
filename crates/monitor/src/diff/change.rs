//! What changed between two pictures.

use std::collections::BTreeSet;

use serde::Serialize;

use super::picture::{Picture, ZonePicture};

/// A number before and after; `None` where it is unknown or does not exist.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Change<T> {
    /// The number of the first snapshot.
    pub before: Option<T>,
    /// The number of the second.
    pub after: Option<T>,
}

impl<T: PartialEq + Copy> Change<T> {
    /// Returns both numbers if both are known and differ.
    pub fn both(&self) -> Option<(T, T)> {
        Some((self.before?, self.after?)).filter(|(before, after)| before != after)
    }
}

/// What changed between two snapshots.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// The order of the blocks that the summary is about: that of a pageblock, or the largest order that both snapshots have.
    pub order: u8,
    /// The size of such a block in bytes.
    pub block_bytes: u64,
    /// Free pages of all zones.
    pub free_pages: Change<u64>,
    /// Blocks of [`Self::order`] of all zones.
    pub blocks: Change<u64>,
    /// The share of all free memory that cannot serve a request of that order.
    pub unusable_index: Change<f64>,
    /// The zones, in the order of the second snapshot.
    pub zones: Vec<ZoneChange>,
    /// What is missing, assumed or contradictory in the snapshots.
    pub notes: Vec<String>,
}

/// What changed in one zone.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ZoneChange {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free pages.
    pub free_pages: Change<u64>,
    /// Blocks of the summary's order.
    pub blocks: Change<u64>,
    /// The share of free memory that cannot serve a request of that order.
    pub unusable_index: Change<f64>,
    /// Why a request of that order would fail: towards 0 for lack of memory, towards 1 for fragmentation.
    pub extfrag_index: Change<f64>,
    /// Free blocks by order.
    pub free: Vec<Change<u64>>,
    /// Pageblocks by type.
    pub pageblocks: Vec<TypeChange>,
    /// Free pages on the lists of each type.
    pub free_pages_by_type: Vec<TypeChange>,
}

/// A number of one migratetype.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TypeChange {
    /// The name of the type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number.
    #[serde(flatten)]
    pub number: Change<u64>,
}

/// The order of a pageblock where neither snapshot has it: 2 MiB in pages of 4 KiB.
const USUAL_ORDER: u8 = 9;

impl Difference {
    /// Compares two pictures.
    pub fn new(before: &Picture, after: &Picture) -> Self {
        let order = order(before, after);
        let zones: Vec<_> = names(before, after)
            .map(|(node, name)| ZoneChange::new(before, after, node, name, order))
            .collect();
        let page_bytes =
            [after, before].map(|picture| picture.machine.page_bytes).into_iter().find(|&b| b > 0);
        let free_pages = total(&zones, |zone| zone.free_pages);
        let blocks = total(&zones, |zone| zone.blocks);
        Self {
            order,
            block_bytes: page_bytes.unwrap_or(4096) << order,
            free_pages,
            blocks,
            unusable_index: Change {
                before: unusable(blocks.before, free_pages.before, order),
                after: unusable(blocks.after, free_pages.after, order),
            },
            zones,
            notes: notes(before, after),
        }
    }
}

/// Returns the largest order that both have, up to that of a pageblock.
fn order(before: &Picture, after: &Picture) -> u8 {
    let pageblock = after.pageblock_order.or(before.pageblock_order).unwrap_or(USUAL_ORDER);
    let zones = before.zones.iter().chain(&after.zones).filter(|zone| !zone.free.is_empty());
    zones
        .map(|zone| zone.free.len() as u8 - 1)
        .min()
        .map_or(pageblock, |largest| largest.min(pageblock))
        .min(31)
}

/// Returns the zones of both, those of the second snapshot first.
fn names<'a>(before: &'a Picture, after: &'a Picture) -> impl Iterator<Item = (u32, &'a str)> {
    let mut seen = BTreeSet::new();
    let zones = after.zones.iter().chain(&before.zones).map(|zone| (zone.node, zone.name.as_str()));
    zones.filter(move |&zone| seen.insert(zone))
}

fn total(zones: &[ZoneChange], of: impl Fn(&ZoneChange) -> Change<u64>) -> Change<u64> {
    let sum =
        |numbers: Vec<u64>| (!numbers.is_empty()).then(|| numbers.into_iter().fold(0, u64::saturating_add));
    Change {
        before: sum(zones.iter().filter_map(|zone| of(zone).before).collect()),
        after: sum(zones.iter().filter_map(|zone| of(zone).after).collect()),
    }
}

/// Linux counterpart: `unusable_index`, of several zones.
fn unusable(blocks: Option<u64>, free: Option<u64>, order: u8) -> Option<f64> {
    let (usable, free) = (blocks?.saturating_mul(1 << order), free?);
    let share = if free == 0 { 1.0 } else { free.saturating_sub(usable) as f64 / free as f64 };
    Some((share * 1000.0).floor() / 1000.0)
}

fn notes(before: &Picture, after: &Picture) -> Vec<String> {
    let mut notes = Vec::new();
    if before.zones.iter().chain(&after.zones).any(ZonePicture::is_capped) {
        notes.push(
            "the kernel stops counting at 100000 blocks, so numbers of such orders are lower bounds"
                .to_owned(),
        );
    }
    if let Some(side) = without_types(before, after) {
        notes.push(format!("the {side} snapshot has no types, so changes by type are unknown"));
    }
    let sizes = [before, after].map(|picture| picture.machine.page_bytes);
    if sizes[0] != sizes[1] && !sizes.contains(&0) {
        notes.push(format!(
            "the snapshots are of two machines: one has pages of {} KiB, the other of {} KiB",
            sizes[0] >> 10,
            sizes[1] >> 10
        ));
    }
    notes
}

/// Returns which snapshot alone lacks numbers by type.
fn without_types(before: &Picture, after: &Picture) -> Option<&'static str> {
    match [before, after].map(|picture| picture.types.is_empty()) {
        [true, false] => Some("first"),
        [false, true] => Some("second"),
        _ => None,
    }
}

impl ZoneChange {
    fn new(before: &Picture, after: &Picture, node: u32, name: &str, order: u8) -> Self {
        let zones = [before.zone(node, name), after.zone(node, name)];
        let at = usize::from(order);
        let orders = zones.iter().flatten().map(|zone| zone.free.len()).max().unwrap_or(0);
        let pageblocks = |zone: &ZonePicture| zone.pageblocks.clone();
        Self {
            node,
            name: name.to_owned(),
            free_pages: change(zones, |zone| Some(zone.free_pages)),
            blocks: change(zones, |zone| zone.blocks.get(at).copied()),
            unusable_index: change(zones, |zone| zone.unusable_index.get(at).copied()),
            extfrag_index: change(zones, |zone| zone.extfrag_index.get(at).copied().flatten()),
            free: (0..orders).map(|order| change(zones, |zone| Some(zone.free.get(order)?.blocks))).collect(),
            pageblocks: by_type(before, after, zones, pageblocks),
            free_pages_by_type: by_type(before, after, zones, ZonePicture::pages_by_type),
        }
    }

    /// Returns true if nothing is known to have changed.
    pub fn is_same(&self) -> bool {
        let numbers = [&self.free_pages, &self.blocks].into_iter().chain(&self.free);
        let types = self.pageblocks.iter().chain(&self.free_pages_by_type).map(|kind| &kind.number);
        numbers.chain(types).all(|number| number.before == number.after)
    }

    /// Returns how much of the zone changed, to rank zones: pages on other lists, and pages added or removed.
    pub(super) fn weight(&self) -> u64 {
        let number = |change: &Change<u64>| change.both().map_or(0, |(before, after)| before.abs_diff(after));
        let types: u64 = self.free_pages_by_type.iter().map(|kind| number(&kind.number)).sum();
        types.max(number(&self.free_pages)).saturating_add(number(&self.blocks) << 9)
    }
}

fn change<T>(
    [before, after]: [Option<&ZonePicture>; 2],
    of: impl Fn(&ZonePicture) -> Option<T>,
) -> Change<T> {
    Change { before: before.and_then(&of), after: after.and_then(of) }
}

/// Pairs the numbers of two snapshots by the names of their types, whose order may differ.
fn by_type(
    before: &Picture,
    after: &Picture,
    zones: [Option<&ZonePicture>; 2],
    of: impl Fn(&ZonePicture) -> Option<Vec<u64>>,
) -> Vec<TypeChange> {
    let [earlier, later] = zones.map(|zone| zone.and_then(&of));
    if earlier.is_none() && later.is_none() {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let kinds = after.types.iter().chain(&before.types).filter(|kind| seen.insert(kind.as_str()));
    let number = |picture: &Picture, numbers: &Option<Vec<u64>>, kind: &str| {
        let at = picture.types.iter().position(|name| name == kind)?;
        numbers.as_ref()?.get(at).copied()
    };
    let kinds = kinds.map(|kind| TypeChange {
        kind: kind.clone(),
        number: Change { before: number(before, &earlier, kind), after: number(after, &later, kind) },
    });
    kinds.collect()
}
