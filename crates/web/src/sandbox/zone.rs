//! A small zone, and a script that is played on it.

use std::mem::MaybeUninit;

use freehold::{
    AllocError, GfpFlags, Memory, MemoryConfig, Migratetype, Order, PerCpuSettings, Pfn, Request, SetupError,
    ZoneConfig, ZoneType, required_bytes,
};
use parking_lot::RawMutex;
use serde_json::{Value, json};

use super::happenings::{Happening, Happenings};
use super::script::{Script, Step};
use super::words::{self, Block};
use crate::told::Told;

type Locks = (RawMutex, RawMutex, Happenings);

/// The most lines that are told of all steps: the last ones.
const MOST_LINES: usize = 400;

/// What a block is: free, on a CPU's list, or in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Free = 0,
    OnList = 1,
    InUse = 2,
}

/// A small zone.
struct Zone<'m> {
    memory: Memory<'m, Locks>,
    happenings: &'m Happenings,
    pages: u64,
    max_order: Order,
    /// What was told, a list of lines for each step.
    told: Vec<Vec<String>>,
}

/// Plays a script on a small zone, and tells how it ends.
///
/// # Errors
/// The sentence that says why the text cannot be played.
pub fn sandbox(script: &str) -> Result<Told, String> {
    let script = Script::new(script).map_err(|error| error.to_string())?;
    let happenings = Happenings::default();
    let mut metadata = Vec::new();
    let zone = Zone::play(&script, &mut metadata, &happenings);
    zone.map(|zone| zone.told().into()).map_err(|error| format!("the zone cannot be set up: {error}"))
}

impl<'m> Zone<'m> {
    /// Plays a script.
    fn play(
        script: &Script,
        metadata: &'m mut Vec<MaybeUninit<u8>>,
        happenings: &'m Happenings,
    ) -> Result<Self, SetupError> {
        let pages = script.pages();
        let percpu = PerCpuSettings {
            batch: if script.has_percpu_lists { 8 } else { 1 },
            high_min: if script.has_percpu_lists { 16 } else { 0 },
            high_max: if script.has_percpu_lists { 16 } else { 0 },
            flush_needs_batch: false,
        };
        let zones = [ZoneConfig { percpu, ..ZoneConfig::sized(0, ZoneType::Normal, Pfn(0), pages) }];
        let config = MemoryConfig {
            switches: script.era.switches(),
            max_order: script.max_order(),
            pageblock_order: script.pageblock_order,
            ..MemoryConfig::linux(&zones, 1)
        };
        metadata.resize(required_bytes::<Locks>(&config), MaybeUninit::uninit());
        let memory = Memory::watched(&config, metadata, happenings)?;
        for zone in memory.zones() {
            zone.add_free(Pfn(0), pages)?;
        }
        let mut zone = Self { memory, happenings, pages, max_order: script.max_order(), told: Vec::new() };
        zone.happenings.take();
        for step in &script.steps {
            let lines = zone.step(*step);
            zone.told.push(lines);
        }
        Ok(zone)
    }

    fn step(&self, step: Step) -> Vec<String> {
        match step {
            Step::Alloc { migratetype, order, times } => {
                let mut lines = Vec::new();
                for done in 0..times {
                    let before = self.free_blocks();
                    let Ok(pfn) = self.alloc(migratetype, order) else {
                        lines.push(words::refused(migratetype, order));
                        break;
                    };
                    lines.extend(self.answered(migratetype, order, pfn, &before));
                    if times > 1 && done + 1 == times {
                        lines.push(format!("{times} requests answered"));
                    }
                }
                lines
            }
            Step::Free { pfn } => {
                self.free(pfn).unwrap_or_else(|| vec![format!("no block in use begins at pfn {pfn:#x}")])
            }
            Step::FreeHalf => {
                let movable = self.blocks().into_iter().filter(|&(block, state)| {
                    state == State::InUse && block.migratetype == Migratetype::Movable
                });
                let frees: Vec<_> =
                    movable.step_by(2).filter_map(|(block, _)| self.free(block.start)).collect();
                let count = frees.len();
                let mut lines: Vec<_> = frees.into_iter().flatten().collect();
                lines.push(format!("{count} movable blocks freed: every second one"));
                lines
            }
            Step::Drain => {
                self.memory.drain_all();
                let drained = self.drained();
                vec![format!(
                    "drain_all_pages: {drained} blocks left CPUs' lists for the free lists, where they can merge"
                )]
            }
        }
    }

    fn alloc(&self, migratetype: Migratetype, order: Order) -> Result<Pfn, AllocError> {
        let gfp = match migratetype {
            Migratetype::Movable => GfpFlags::HIGHUSER_MOVABLE,
            Migratetype::Reclaimable => GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
            _ => GfpFlags::KERNEL,
        };
        // Nobody reclaims here: a request that waits would find what it found before.
        let gfp = gfp.difference(GfpFlags::DIRECT_RECLAIM);
        self.memory.alloc(Request { cpu: 0, node: 0, order, gfp })
    }

    /// Tells how a request was answered.
    fn answered(&self, wanted: Migratetype, order: Order, pfn: Pfn, before: &[Block]) -> Vec<String> {
        let mut lines = vec![words::allocated(wanted, order, pfn.0)];
        let happened = self.happenings.take();
        let of_zone = happened.iter().any(|event| matches!(event, Happening::ZoneLocked { .. }));
        if !of_zone && !happened.iter().any(|event| matches!(event, Happening::Fallback(_))) {
            lines.push(words::from_list());
        }
        for event in &happened {
            if let Happening::Fallback(found) = event {
                lines.extend(words::fallback(*found, self.memory.switches()));
            }
        }
        if of_zone && let Some(&from) = before.iter().find(|block| block.contains(pfn.0)) {
            lines.push(words::split(from, order));
        }
        lines
    }

    /// Frees the block that begins at a frame, and tells of it; `None` if there is none.
    fn free(&self, pfn: u64) -> Option<Vec<String>> {
        let (order, _) = self.memory.allocated_block(Pfn(pfn))?;
        self.memory.free(0, Pfn(pfn), order).ok()?;
        self.happenings.take();
        let free = self.free_blocks().into_iter().find(|block| block.contains(pfn));
        Some(words::freed(pfn, order, free))
    }

    /// Returns how many blocks left CPUs' lists since that was last asked.
    fn drained(&self) -> usize {
        self.happenings.take().iter().filter(|event| matches!(event, Happening::Drained { .. })).count()
    }

    /// Returns the blocks on free lists.
    fn free_blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for zone in self.memory.zones() {
            for order in Order::ZERO.up_to(self.max_order) {
                for migratetype in Migratetype::ALL {
                    let list = zone.free_list(order, migratetype);
                    blocks.extend(list.map(|pfn| Block { start: pfn.0, order, migratetype }));
                }
            }
        }
        blocks
    }

    /// Returns all blocks, in the order of addresses.
    fn blocks(&self) -> Vec<(Block, State)> {
        let mut blocks: Vec<_> = self.free_blocks().into_iter().map(|block| (block, State::Free)).collect();
        for zone in self.memory.zones() {
            for order in Order::ZERO.up_to(self.max_order) {
                for migratetype in Migratetype::ALL {
                    let list = zone.percpu_list(0, order, migratetype);
                    blocks
                        .extend(list.map(|pfn| (Block { start: pfn.0, order, migratetype }, State::OnList)));
                }
            }
        }
        blocks.sort_by_key(|(block, _)| block.start);
        let mut all = Vec::with_capacity(blocks.len());
        let mut known = blocks.into_iter().peekable();
        let mut pfn = 0;
        while pfn < self.pages {
            let block = known.next_if(|(block, _)| block.start == pfn).unwrap_or_else(|| {
                let used = self.memory.allocated_block(Pfn(pfn));
                let (order, migratetype) = used.unwrap_or((Order::ZERO, Migratetype::Unmovable));
                (Block { start: pfn, order, migratetype }, State::InUse)
            });
            pfn += block.0.order.pages();
            all.push(block);
        }
        all
    }

    /// Returns the zone as the page takes it.
    fn told(&self) -> Value {
        let block = |(block, state): (Block, State)| {
            json!([block.start, block.order.get(), state as u8, block.migratetype.index()])
        };
        let pageblocks = self.memory.zones().iter().flat_map(freehold::Zone::pageblocks).map(|used| {
            json!([used.migratetype.map(Migratetype::index), used.free, u8::from(used.is_mixed())])
        });
        let counts = self.memory.zones().first().map(freehold::Zone::list_lengths);
        let by_order =
            |order: Order| counts.map_or_else(Vec::new, |counts| counts.by_type[order.index()].to_vec());
        let stats = self.memory.zone_stats();
        let lines =
            self.told.iter().enumerate().flat_map(|(step, lines)| lines.iter().map(move |line| (step, line)));
        let mut lines: Vec<_> = lines.collect();
        lines.drain(..lines.len().saturating_sub(MOST_LINES));
        json!({
            "kind": "sandbox",
            "pages": self.pages,
            "max_order": self.max_order.get(),
            "pageblocks": pageblocks.collect::<Vec<_>>(),
            "blocks": self.blocks().into_iter().map(block).collect::<Vec<_>>(),
            "free": Order::ZERO.up_to(self.max_order).map(by_order).collect::<Vec<_>>(),
            "types": Migratetype::ALL.map(Migratetype::name),
            "claims": stats.claims,
            "steals": stats.steals,
            "steps": self.told.len(),
            "told": lines,
        })
    }
}
