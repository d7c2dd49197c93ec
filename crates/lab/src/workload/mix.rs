//! Requests drawn from the distributions of a recorded trace.
//!
//! Each tenth of a second has as many requests as were recorded, each with order and flags of one of them and a
//! lifetime of its class. Blocks held at the start and freed later are freed at the recorded rate. Not kept:
//! bursts of frees, which blocks belong to one process, and where blocks lay. Nothing is reclaimed or compacted:
//! what the machine reclaimed is among its frees, and a request for a huge page for which it compacted may fail
//! here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use freehold::{GfpFlags, Order};

use super::fragments::{fill, free_here_and_there};
use super::host::{Ask, Host, Task};
use super::load::Load;
use super::mix_fit::{Mix, Window};
use super::users::{Handle, Use};

/// Draws requests from a [`Mix`].
#[derive(Debug)]
pub(super) struct MixLoad {
    mix: Arc<Mix>,
    /// Blocks to be freed: time, serial number, handle, CPU of the allocation.
    due: BinaryHeap<Reverse<(u64, u64, u32, u16)>>,
    handles: Vec<Option<Handle>>,
    vacant: Vec<u32>,
    /// Blocks held since the start.
    held: Vec<Handle>,
    sequence: u64,
    window: usize,
    rounds: u64,
    window_end_ns: u64,
}

/// Steps in which memory is filled, so that blocks freed later lie among blocks that stay.
const FILLS: u64 = 32;

impl MixLoad {
    pub(super) fn new(mix: Arc<Mix>) -> Self {
        Self {
            mix,
            due: BinaryHeap::new(),
            handles: Vec::new(),
            vacant: Vec::new(),
            held: Vec::new(),
            sequence: 0,
            window: 0,
            rounds: 0,
            window_end_ns: 0,
        }
    }

    fn cpu(&self, host: &mut Host<'_, '_>) -> u16 {
        let mut drawn = host.random.below(self.mix.cpus.iter().sum());
        let found = self.mix.cpus.iter().position(|&requests| {
            let here = drawn < requests;
            drawn = drawn.saturating_sub(requests);
            here
        });
        found.unwrap_or(0) as u16 % host.memory.cpus()
    }

    fn request(&mut self, host: &mut Host<'_, '_>) {
        let mix = Arc::clone(&self.mix);
        let window = &mix.windows[self.window];
        let drawn = host.random.below(window.requests());
        let at = window.up_to.partition_point(|&(up_to, _)| up_to <= drawn);
        let class = &mix.classes[usize::from(window.up_to[at].1)];
        let cpu = self.cpu(host);
        let ask = Ask { order: class.order, gfp: class.gfp, used_for: used_for(class.gfp) };
        let Some(handle) = host.alloc(Task { cpu, pid: 1 }, ask) else { return };
        if let Some(lifetime_ns) = class.survival.draw(&mut host.random) {
            let number = self.vacant.pop().unwrap_or_else(|| {
                self.handles.push(None);
                self.handles.len() as u32 - 1
            });
            self.handles[number as usize] = Some(handle);
            self.sequence += 1;
            self.due.push(Reverse((host.now_ns().saturating_add(lifetime_ns), self.sequence, number, cpu)));
        }
    }

    /// Frees the blocks due until `until_ns`, each at its time.
    fn free_until(&mut self, host: &mut Host<'_, '_>, until_ns: u64) {
        while let Some(&Reverse((time_ns, _, number, cpu))) = self.due.peek()
            && time_ns <= until_ns
        {
            self.due.pop();
            host.sleep_until(time_ns);
            let at_home = host.random.below(1000) < self.mix.freed_at_home;
            let cpu = if at_home { cpu } else { host.any_cpu() };
            if let Some(handle) = self.handles[number as usize].take() {
                host.free(Task { cpu, pid: 1 }, handle);
            }
            self.vacant.push(number);
        }
    }

    fn free_held(&mut self, host: &mut Host<'_, '_>) {
        if self.held.is_empty() {
            return;
        }
        let chosen = host.random.below(self.held.len() as u64) as usize;
        let cpu = self.cpu(host);
        let block = self.held.swap_remove(chosen);
        host.free(Task { cpu, pid: 1 }, block);
    }
}

fn used_for(gfp: GfpFlags) -> Use {
    if gfp.contains(GfpFlags::MOVABLE) {
        Use::Pinned
    } else if gfp.contains(GfpFlags::COMP) || gfp.contains(GfpFlags::RECLAIMABLE) {
        Use::Slab
    } else {
        Use::Kernel
    }
}

impl Load for MixLoad {
    fn settle(&mut self, host: &mut Host<'_, '_>) {
        let mix = Arc::clone(&self.mix);
        let ground = mix.ground;
        let pages = host.pages();
        let share = |of: u64| (u128::from(pages) * u128::from(of) / u128::from(ground.pages.max(1))) as u64;
        let [movable, slab, other] = ground.used;
        let shares = [movable.max(1), slab, other];
        let small = share(ground.free_in_small_blocks);
        let keep_free = share(ground.free).clamp(pages / 100, pages * 9 / 10).saturating_sub(small);
        let mut filler = [const { Vec::new() }; 3];
        for round in 1..=FILLS {
            for (order, kinds) in Order::ZERO.up_to(Order::MAX).zip(mix.held) {
                for (movable, blocks) in [true, false].into_iter().zip(kinds) {
                    let gfp =
                        if movable { GfpFlags::HIGHUSER_MOVABLE } else { GfpFlags::KERNEL | GfpFlags::COMP };
                    let ask = Ask { order, gfp, used_for: used_for(gfp) };
                    let task = Task { cpu: host.any_cpu(), pid: 1 };
                    let blocks = share(blocks * (round) / FILLS) - share(blocks * (round - 1) / FILLS);
                    self.held.extend((0..blocks).map_while(|_| host.alloc(task, ask)));
                }
            }
            let still_free = pages - (pages - keep_free) * round / FILLS;
            for (all, new) in filler.iter_mut().zip(fill(host, shares, still_free.max(keep_free))) {
                all.extend(new);
            }
        }
        let filled: u64 = filler.iter().map(|pages| pages.len() as u64).sum();
        for pages in filler.iter_mut().filter(|_| small > 0) {
            free_here_and_there(host, pages, (filled / small).max(1));
        }
        self.window_end_ns = host.now_ns() + Window::NS;
    }

    fn step(&mut self, host: &mut Host<'_, '_>) {
        let mix = Arc::clone(&self.mix);
        let window = &mix.windows[self.window];
        let requests = window.requests();
        // Blocks held at the start are freed once.
        let start_frees = if self.rounds == 0 { window.start_frees } else { 0 };
        let arrivals = requests + start_frees;
        let start_ns = self.window_end_ns - Window::NS;
        for number in 0..arrivals {
            let slot_ns = Window::NS / arrivals;
            let at_ns = start_ns + number * slot_ns + host.random.below(slot_ns);
            self.free_until(host, at_ns);
            host.sleep_until(at_ns);
            if host.random.below(arrivals) < requests {
                self.request(host);
            } else {
                self.free_held(host);
            }
        }
        self.free_until(host, self.window_end_ns);
        host.sleep_until(self.window_end_ns);
        self.window_end_ns = host.now_ns() + Window::NS;
        self.window += 1;
        if self.window == mix.windows.len() {
            (self.window, self.rounds) = (0, self.rounds + 1);
        }
    }

    fn is_done(&self) -> bool {
        self.rounds > 0
    }
}
