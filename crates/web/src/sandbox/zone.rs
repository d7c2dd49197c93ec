//! A small zone, and a script that is played on it.

use std::mem::MaybeUninit;

use freehold::{
    GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, PerCpuSettings, Pfn, Request, SetupError,
    ZoneConfig, ZoneType, required_bytes,
};
use parking_lot::RawMutex;
use serde_json::{Value, json};

use super::happenings::{Happening, Happenings};
use super::script::{Script, Step};
use super::words::{self, Block};
use crate::message::Reply;

#[derive(Debug)]
struct SandboxPlatform;

impl freehold::Platform for SandboxPlatform {
    type ZoneLock = RawMutex;
    type PerCpuLock = RawMutex;
    type Tracepoints = Happenings;
    type Rule = ();
}

/// The most lines that are sent: the last lines of all steps.
const MOST_LINES: usize = 400;

/// The state of a block: free, on a CPU's list, or in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Free = 0,
    OnList = 1,
    InUse = 2,
}

/// A small zone.
struct Zone<'m> {
    memory: Memory<'m, SandboxPlatform>,
    happenings: &'m Happenings,
    pages: u64,
    max_order: Order,
    pageblock_order: Order,
    /// The lines of text about each step.
    lines: Vec<Vec<String>>,
}

/// Plays a script on a small zone. Returns the zone at the end, and the lines about the steps.
///
/// # Errors
/// A sentence with the reason why the script cannot be played.
pub fn sandbox(script: &str) -> Result<Reply, String> {
    let script = Script::new(script).map_err(|error| error.to_string())?;
    let happenings = Happenings::default();
    let mut metadata = Vec::new();
    let zone = Zone::play(&script, &mut metadata, &happenings);
    zone.map(|zone| zone.reply().into()).map_err(|error| format!("the zone cannot be set up: {error}"))
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
        metadata.resize(required_bytes::<SandboxPlatform>(&config), MaybeUninit::uninit());
        let memory = Memory::with_tracepoints(&config, metadata, happenings)?;
        for zone in memory.zones() {
            zone.add_free(Pfn(0), pages)?;
        }
        let (max_order, pageblock_order) = (script.max_order(), script.pageblock_order);
        let mut zone = Self { memory, happenings, pages, max_order, pageblock_order, lines: Vec::new() };
        zone.happenings.take();
        for step in &script.steps {
            let lines = zone.step(*step);
            zone.lines.push(lines);
        }
        Ok(zone)
    }

    /// Carries out a step. Returns the lines about it. For many requests or frees, only fallbacks have their own lines.
    fn step(&self, step: Step) -> Vec<String> {
        match step {
            Step::Alloc { migratetype, order, times: 1 } => {
                self.alloc(migratetype, order).unwrap_or_else(|refused| vec![refused])
            }
            Step::Alloc { migratetype, order, times } => {
                let mut lines = Vec::new();
                for done in 0..times {
                    match self.alloc(migratetype, order) {
                        Ok(more) => {
                            lines.extend(more.into_iter().filter(|line| words::is_of_fallback(line)));
                        }
                        Err(refused) => {
                            lines.extend([words::answered_many(migratetype, order, done), refused]);
                            return lines;
                        }
                    }
                }
                lines.push(words::answered_many(migratetype, order, times));
                lines
            }
            Step::Free { pfn } => {
                self.free(pfn).unwrap_or_else(|| vec![format!("no block in use begins at pfn {pfn:#x}")])
            }
            Step::FreeHalf => {
                let movable = self.blocks().into_iter().filter(|&(block, state)| {
                    state == State::InUse && block.migratetype == Migratetype::Movable
                });
                let freed = movable.step_by(2).filter_map(|(block, _)| self.free(block.start)).count();
                vec![format!("__free_pages: {freed} movable blocks, every second one by address")]
            }
            Step::Drain => {
                self.memory.drain_all();
                let happened = self.happenings.take();
                let drained =
                    happened.iter().filter(|event| matches!(event, Happening::Drained { .. })).count();
                vec![words::drained(drained)]
            }
        }
    }

    /// Allocates a block. Returns the lines about the request.
    ///
    /// # Errors
    /// The sentence about the failure.
    fn alloc(&self, migratetype: Migratetype, order: Order) -> Result<Vec<String>, String> {
        let gfp = match migratetype {
            Migratetype::Movable => GfpFlags::HIGHUSER_MOVABLE,
            Migratetype::Reclaimable => GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
            _ => GfpFlags::KERNEL,
        };
        // The sandbox has no reclaim, so a request that waits would have the same result.
        let gfp = gfp.difference(GfpFlags::DIRECT_RECLAIM);
        let before = self.free_blocks();
        let pfn = self.memory.alloc(Request { cpu: 0, node: 0, order, gfp }, NoReclaim);
        let pfn = pfn.map_err(|_| words::refused(migratetype, order))?;
        Ok(self.answered(migratetype, order, pfn, &before))
    }

    /// Returns the lines about a successful request.
    fn answered(&self, wanted: Migratetype, order: Order, pfn: Pfn, before: &[Block]) -> Vec<String> {
        let mut lines = vec![words::allocated(wanted, order, pfn.0)];
        let happened = self.happenings.take();
        let fallbacks = happened.iter().filter_map(|event| match event {
            Happening::Fallback(found) => Some(*found),
            _ => None,
        });
        let fallbacks: Vec<_> = fallbacks.collect();
        for &found in &fallbacks {
            lines.extend(words::fallback(found, self.memory.switches(), self.pageblock_order));
        }
        match before.iter().find(|block| block.contains(pfn.0)) {
            _ if happened.is_empty() => lines.push(words::from_list()),
            Some(&from) if from.order > order => lines.push(words::split(from, order)),
            Some(_) if fallbacks.is_empty() => lines.push(words::exact(order)),
            _ => {}
        }
        lines
    }

    /// Frees the block that begins at a frame. Returns the lines about it, or `None` if no block begins there.
    fn free(&self, pfn: u64) -> Option<Vec<String>> {
        let (order, _) = self.memory.allocated_block(Pfn(pfn))?;
        self.memory.free(0, Pfn(pfn), order).ok()?;
        self.happenings.take();
        let free = self.free_blocks().into_iter().find(|block| block.contains(pfn));
        Some(words::freed(pfn, order, free))
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
        // A CPU has one list of huge pages for all types but Movable, so each of its blocks was found once for each
        // type.
        blocks.dedup_by_key(|(block, _)| block.start);
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

    /// Returns the zone in the format of the page.
    fn reply(&self) -> Value {
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
        let lines = self
            .lines
            .iter()
            .enumerate()
            .flat_map(|(step, lines)| lines.iter().map(move |line| (step, line)));
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
            "steps": self.lines.len(),
            "log": lines,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use freehold::Era;

    use super::*;

    /// Returns the reply to a script.
    fn reply(script: &str) -> Value {
        sandbox(script).expect("a script").json
    }

    /// Returns the lines of a script's last step.
    fn last(reply: &Value) -> Vec<&str> {
        let lines = reply["log"].as_array().expect("lines");
        let last = lines.last().map(|line| &line[0]);
        lines.iter().filter(|line| Some(&line[0]) == last).filter_map(|line| line[1].as_str()).collect()
    }

    /// Asserts that the lines begin with these words, in this order.
    fn begin_with(lines: &[&str], words: &[&str]) {
        assert_eq!(lines.len(), words.len(), "{lines:#?}");
        for (line, word) in lines.iter().zip(words) {
            assert!(line.starts_with(word), "{line} does not begin with {word}");
        }
    }

    #[test]
    fn a_block_is_split_and_merged_again() {
        let split = reply("linux-7.3~6~0~m0");
        begin_with(
            &last(&split),
            &["alloc_pages: 1 page, Movable", "split: expand() cuts the free block of order 7"],
        );
        let merged = reply("linux-7.3~6~0~m0~f0");
        begin_with(
            &last(&merged),
            &["__free_pages", "merge: __free_one_page joins it with its buddies 7 times"],
        );
        assert_eq!(merged["free"], reply("linux-7.3~6~0")["free"]);
        begin_with(&last(&reply("linux-7.3~6~0~m0~f1")), &["no block in use begins at pfn 0x1"]);
    }

    #[test]
    fn a_claim_changes_the_pageblock_and_a_steal_does_not() {
        for (era, claimer, stealer) in [
            ("linux-7.3", "claim (__rmqueue_claim): the 2 pageblocks", "steal (__rmqueue_steal)"),
            (
                "linux-6.1",
                "claim (steal_suitable_fallback): the 2 pageblocks",
                "steal (steal_suitable_fallback)",
            ),
        ] {
            let claim = reply(&format!("{era}~6~0~m0x500~u0"));
            begin_with(&last(&claim)[1..3], &["fallback (mm_page_alloc_extfrag)", claimer]);
            assert_eq!((&claim["claims"], &claim["steals"]), (&json!(1), &json!(0)));
            assert_eq!(claim["pageblocks"][8], json!([0, 63, 0]), "the type, free pages, not mixed");

            let steal = reply(&format!("{era}~6~0~m0x1024~f101~f235~u0"));
            begin_with(&last(&steal)[1..3], &["fallback (mm_page_alloc_extfrag)", stealer]);
            assert_eq!((&steal["claims"], &steal["steals"]), (&json!(0), &json!(1)));
            assert_eq!(steal["pageblocks"][8], json!([1, 0, 1]), "the type, free pages, mixed");
        }
    }

    /// Returns a script of random settings and steps.
    fn random_script(random: &mut fastrand::Rng) -> String {
        let order = random.u8(6..=9);
        let era = Era::ALL[random.usize(..Era::ALL.len())].name();
        let mut script = format!("{era}~{order}~{}", random.u8(..2));
        for _ in 0..random.usize(..40) {
            let step = match random.u8(..10) {
                0..5 => format!(
                    "{}{}x{}",
                    ["u", "m", "r"][random.usize(..3)],
                    random.u8(..=order + 1),
                    random.u16(..300)
                ),
                5..8 => format!("f{:x}", random.u64(..16 << order)),
                8 => "h".to_owned(),
                _ => "d".to_owned(),
            };
            script = format!("{script}~{step}");
        }
        script
    }

    #[test]
    fn any_script_keeps_every_invariant() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        // This script fills the list of huge pages that several types share.
        let seen = "linux-7.3~8~1~m7x108~h~r0x147~m2x48~d~r5x22~u1x73~u3x15~m2x39~h~r1x178~d~m1x241~h~u8x180";
        for text in iter::once(seen.to_owned()).chain((0..150).map(|_| random_script(&mut random))) {
            let script = Script::new(&text).expect("a script");
            let (happenings, mut metadata) = (Happenings::default(), Vec::new());
            let zone = Zone::play(&script, &mut metadata, &happenings).expect("a zone");
            zone.memory.check().unwrap_or_else(|broken| panic!("seed {seed}, {text}: {broken}"));
            let blocks = zone.blocks();
            // Blocks follow each other without gaps, and the lists count the same free blocks.
            let mut next = 0;
            for (block, _) in &blocks {
                assert_eq!(block.start, next, "seed {seed}, {text}");
                next += block.order.pages();
            }
            assert_eq!(next, script.pages(), "seed {seed}, {text}");
            let free = blocks.iter().filter(|(_, state)| *state == State::Free);
            let free: u64 = free.map(|(block, _)| block.order.pages()).sum();
            let counted: u64 = zone.memory.zones().iter().map(|zone| zone.list_lengths().free_pages()).sum();
            assert_eq!(free, counted, "seed {seed}, {text}");
        }
    }

    #[test]
    fn cpus_lists_keep_pages_until_they_are_drained() {
        begin_with(&last(&reply("linux-7.3~6~1~m0x3~f0")), &["__free_pages", "free_frozen_page_commit"]);
        begin_with(&last(&reply("linux-7.3~6~1~m0x3~f0~m0")), &["alloc_pages", "rmqueue_pcplist"]);
        begin_with(&last(&reply("linux-7.3~6~1~m0x3~f0~d")), &["drain_all_pages: "]);
        let drained = reply("linux-7.3~6~1~m0x3~f0~f1~f2~d");
        assert_eq!(drained["free"], reply("linux-7.3~6~0")["free"]);
    }

    #[test]
    fn requests_fail_in_a_full_zone() {
        let full = reply("linux-7.3~6~0~m0x2000");
        begin_with(&last(&full), &["alloc_pages: 1024 × 1 page", "page allocation failure: order:0"]);
    }
}
