//! Two memories that get the same calls: one takes every fast path, the other takes none.

use freehold::{
    BlockError, Exclusive, FreeError, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order,
    PerCpuSettings, Pfn, Request, RequestStats, Watermarks, ZoneStats,
};

use super::common::{Host, Random, order};

const GFPS: [GfpFlags; 12] = [
    GfpFlags::KERNEL,
    GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
    GfpFlags::KERNEL.union(GfpFlags::DMA32),
    GfpFlags::KERNEL.union(GfpFlags::NOFAIL),
    GfpFlags::HIGHUSER_MOVABLE,
    GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::THISNODE),
    GfpFlags::TRANSHUGE,
    GfpFlags::KERNEL.union(GfpFlags::MOVABLE),
    // The flags from here on do not allow waiting.
    GfpFlags::GFP_ATOMIC,
    GfpFlags::GFP_ATOMIC.union(GfpFlags::HIGHMEM).union(GfpFlags::MOVABLE),
    GfpFlags::NOWAIT,
    GfpFlags::GFP_ATOMIC.union(GfpFlags::MEMALLOC),
];

const WAITING: u64 = 8;
const CPUS: u16 = 2;

/// Two memories with the same blocks in use. Every call must give the same result on both.
pub(crate) struct Twins<'a, 'm> {
    pub(crate) fast: &'a Memory<'m, Host>,
    pub(crate) slow: &'a Memory<'m, Host>,
    pub(crate) random: Random,
    pub(crate) context: String,
    pub(crate) in_use: Vec<(Pfn, Order)>,
    contiguous: Vec<Pfn>,
    largest: u64,
    nodes: u64,
}

/// An owner of one CPU's lists, on the fast side.
struct Session<'a, 'm>(Exclusive<'a, 'm, Host>);

impl<'a, 'm> Twins<'a, 'm> {
    pub(crate) fn new(
        config: &MemoryConfig<'_>,
        fast: &'a Memory<'m, Host>,
        slow: &'a Memory<'m, Host>,
        seed: u64,
    ) -> Self {
        Self {
            fast,
            slow,
            random: Random::new(seed),
            context: String::new(),
            in_use: Vec::new(),
            contiguous: Vec::new(),
            largest: u64::from(config.max_order.get()) + 1,
            nodes: config.zones.iter().map(|zone| u64::from(zone.node) + 2).max().unwrap_or(1),
        }
    }

    /// Makes one random call on both sides.
    pub(crate) fn step(&mut self, filling: bool) {
        let cpu = self.random.below(CPUS.into()) as u16;
        match self.random.below(100) {
            0 => self.both(Memory::drain_all),
            1..=3 => self.both(|memory| memory.refresh(cpu)),
            4 => self.change_zone(cpu),
            5 | 6 => self.isolate(),
            7 => self.contiguous(),
            8..=45 => self.session(cpu, filling),
            46..=50 => self.bulk(cpu),
            kind if (kind < 80) == filling => (0..self.random.below(20)).for_each(|_| self.alloc(cpu)),
            _ => (0..self.random.below(20)).for_each(|_| self.free(cpu)),
        }
    }

    pub(crate) fn both<T: PartialEq + core::fmt::Debug>(&self, act: impl Fn(&'a Memory<'m, Host>) -> T) {
        assert_eq!(act(self.fast), act(self.slow), "{}", self.context);
    }

    fn request(&mut self, cpu: u16, may_wait: bool) -> Request {
        let first = if may_wait { 0 } else { WAITING };
        let gfp = GFPS[(first + self.random.below(GFPS.len() as u64 - first)) as usize];
        let size = match self.random.below(10) {
            0 | 1 => self.random.below(self.largest),
            2..=4 => self.random.below(4.min(self.largest)),
            _ => 0,
        };
        Request { cpu, node: self.random.below(self.nodes) as u16, order: order(size as u8), gfp }
    }

    fn alloc(&mut self, cpu: u16) {
        let request = self.request(cpu, true);
        let answer = self.fast.alloc(request, NoReclaim);
        assert_eq!(
            answer,
            self.slow.alloc(on_the_slow_path(request), NoReclaim),
            "{} {request:?}",
            self.context
        );
        self.in_use.extend(answer.ok().map(|pfn| (pfn, request.order)));
    }

    fn take_in_use(&mut self) -> Option<(Pfn, Order)> {
        let count = self.in_use.len() as u64;
        (count > 0).then(|| self.in_use.swap_remove(self.random.below(count) as usize))
    }

    fn free(&mut self, cpu: u16) {
        let Some((pfn, size)) = self.take_in_use() else { return };
        self.both(|memory| memory.free(cpu, pfn, size));
        if self.random.below(8) == 0 {
            self.both(|memory| memory.free(cpu, pfn, size));
        }
    }

    /// Returns up to `most` blocks in use of one order, adjacent or not.
    fn choose(&mut self, most: u64) -> Option<(Order, Vec<Pfn>)> {
        if self.random.below(2) == 0 {
            self.in_use.sort_unstable();
        }
        if self.random.below(3) == 0 {
            self.in_use.reverse();
        }
        let size = self.in_use.get(self.random.below(self.in_use.len().max(1) as u64) as usize)?.1;
        let most = 1 + self.random.below(most) as usize;
        let mut chosen = Vec::new();
        let random = &mut self.random;
        self.in_use.retain(|&(pfn, own)| {
            let goes = own == size && chosen.len() < most && random.below(8) > 0;
            chosen.extend(goes.then_some(pfn));
            !goes
        });
        Some((size, chosen))
    }

    /// The fast side makes calls through one or two owners, the slow side makes the same calls with locks.
    fn session(&mut self, cpu: u16, filling: bool) {
        let two = self.random.below(3) == 0;
        let mut owner = Session(self.fast.exclusive(cpu).expect("a CPU"));
        let mut other = two.then(|| Session(self.fast.exclusive(1 - cpu).expect("a CPU")));
        for _ in 0..=self.random.below(6) {
            let turn = two && self.random.below(2) == 0;
            let (at, owner) = match &mut other {
                Some(other) if turn => (1 - cpu, other),
                _ => (cpu, &mut owner),
            };
            if (self.random.below(10) < 6) == filling {
                self.alloc_batch(owner, at, !two);
            } else {
                self.free_batch(owner, at);
            }
            if !two && self.random.below(4) == 0 {
                owner.0.pause();
            }
        }
    }

    fn alloc_batch(&mut self, owner: &mut Session<'_, '_>, cpu: u16, may_wait: bool) {
        let request = self.request(cpu, may_wait);
        let most = 1 + self.random.below(300 >> request.order.get().min(7)) as usize;
        if self.random.below(3) == 0 {
            for _ in 0..most.min(30) {
                let answer = owner.0.alloc(request);
                assert_eq!(
                    answer,
                    self.slow.alloc(on_the_slow_path(request), NoReclaim),
                    "{} {request:?}",
                    self.context
                );
                self.in_use.extend(answer.ok().map(|pfn| (pfn, request.order)));
            }
            return;
        }
        let mut places = vec![None; most];
        for place in &mut places {
            *place = (self.random.below(40) == 0).then_some(Pfn(7));
        }
        let given = places.clone();
        let filled = owner.0.alloc_batch(request, &mut places);
        for (number, before) in given.iter().enumerate().filter(|(_, before)| before.is_none()) {
            let answer = self.slow.alloc(on_the_slow_path(request), NoReclaim).ok();
            assert_eq!(places[number], answer, "{} {number} of {request:?}", self.context);
            assert_eq!(answer.is_none(), number == filled, "{} {number} {request:?}", self.context);
            if *before == answer {
                break;
            }
            self.in_use.extend(answer.map(|pfn| (pfn, request.order)));
        }
    }

    fn free_batch(&mut self, owner: &mut Session<'_, '_>, cpu: u16) {
        let Some((size, mut chosen)) = self.choose(150) else { return };
        if self.random.below(3) == 0 {
            for pfn in chosen {
                assert_eq!(owner.0.free(pfn, size), self.slow.free(cpu, pfn, size), "{}", self.context);
            }
            return;
        }
        if self.random.below(4) == 0 {
            let wrong = [Pfn(1), chosen.first().copied().unwrap_or(Pfn(2)), Pfn(0x900)];
            chosen.push(wrong[self.random.below(3) as usize]);
        }
        let done = owner.0.free_batch(size, &chosen);
        self.free_one_by_one(cpu, size, &chosen, done);
    }

    fn free_one_by_one(
        &mut self,
        cpu: u16,
        size: Order,
        chosen: &[Pfn],
        done: Result<(), (usize, FreeError)>,
    ) {
        let mut expected = Ok(());
        for (number, &pfn) in chosen.iter().enumerate() {
            if let Err(error) = self.slow.free(cpu, pfn, size) {
                expected = Err((number, error));
                break;
            }
            // A block that was chosen at random may also have been in use.
            self.in_use.retain(|&(own, _)| own != pfn);
        }
        assert_eq!(done, expected, "{}", self.context);
    }

    fn bulk(&mut self, cpu: u16) {
        let request = Request { order: Order::ZERO, ..self.request(cpu, true) };
        let mut places = vec![None; 1 + self.random.below(200) as usize];
        let mut same = places.clone();
        let filled = self.fast.alloc_bulk(request, &mut places);
        assert_eq!(filled, self.slow.alloc_bulk(request, &mut same), "{}", self.context);
        assert_eq!(places, same, "{}", self.context);
        self.in_use.extend(places.into_iter().flatten().map(|pfn| (pfn, Order::ZERO)));
        let Some((size, chosen)) = self.choose(150) else { return };
        if size == Order::ZERO {
            let done = self.fast.free_bulk(cpu, &chosen);
            self.free_one_by_one(cpu, size, &chosen, done);
        } else {
            self.in_use.extend(chosen.into_iter().map(|pfn| (pfn, size)));
        }
    }

    fn change_zone(&mut self, cpu: u16) {
        let zone = self.random.below(self.fast.zones().len() as u64) as usize;
        let batch = 1 + self.random.below(70) as u32;
        let high_min = self.random.below(500) as u32;
        let high_max = self.random.below(3000) as u32;
        let flush_needs_batch = self.random.below(2) == 0;
        let high_max = if self.random.below(4) == 0 { high_max } else { high_max.max(high_min) };
        let settings = PerCpuSettings { batch, high_min, high_max, flush_needs_batch };
        let min = self.random.below(200);
        let high = min + self.random.below(600);
        let watermarks = Watermarks { min, low: min.midpoint(high), high };
        let choice = self.random.below(5);
        self.both(|memory| {
            let zone = &memory.zones()[zone];
            match choice {
                0 => zone.set_reclaim_active(!zone.state().reclaim_active),
                1 | 2 => zone.set_percpu_settings(cpu, settings),
                3 => zone.set_watermarks(watermarks),
                _ => zone.relax_boost(u64::from(batch)),
            }
        });
    }

    /// Returns a random frame with metadata, and the number of frames from there to the end of its run of sections.
    pub(crate) fn some_frame(&mut self) -> (Pfn, u64) {
        let zones = self.slow.zones();
        let zone = &zones[self.random.below(zones.len() as u64) as usize];
        let run = zone.section_runs().nth(self.random.below(zone.section_runs().count() as u64) as usize);
        let run = run.expect("a run of sections");
        let pfn = run.start.0 + self.random.below(run.end.0 - run.start.0);
        (Pfn(pfn), run.end.0 - pfn)
    }

    fn isolate(&mut self) {
        let (pfn, _) = self.some_frame();
        let isolates = self.random.below(2) == 0;
        self.both(|memory| -> Result<(), BlockError> {
            let zone = memory.zone_of(pfn).expect("a frame of the zone");
            if isolates { zone.isolate_block(pfn) } else { zone.unisolate_block(pfn) }
        });
    }

    fn contiguous(&mut self) {
        // The last zone of the fast side has absent frames behind the end of the slow side's zone.
        let (pfn, behind) = self.some_frame();
        let pages = (1 + self.random.below(90)).min(behind);
        let kind = [Migratetype::Cma, Migratetype::Movable][self.random.below(2) as usize];
        let taken = self.fast.alloc_contig_range(pfn, pages, kind, 0, NoReclaim);
        assert_eq!(taken, self.slow.alloc_contig_range(pfn, pages, kind, 0, NoReclaim), "{}", self.context);
        if taken.is_ok() {
            self.contiguous.extend((0..pages).map(|number| pfn.add(number)));
        }
        if self.random.below(2) == 0 {
            self.in_use.extend(self.contiguous.drain(..).map(|pfn| (pfn, Order::ZERO)));
        }
    }

    /// Frees all blocks in use.
    pub(crate) fn empty(&mut self) {
        self.in_use.extend(self.contiguous.drain(..).map(|pfn| (pfn, Order::ZERO)));
        while !self.in_use.is_empty() {
            self.free(0);
        }
        self.both(Memory::drain_all);
    }

    /// Asserts that the visible state is the same on both sides.
    pub(crate) fn compare(&self) {
        let context = &self.context;
        assert_eq!(self.fast.request_stats(), self.slow.request_stats(), "{context}");
        for (fast, slow) in self.fast.zones().iter().zip(self.slow.zones()) {
            let here = format!("{context}, zone at {:?}", fast.start());
            assert_eq!(fast.state(), slow.state(), "{here}");
            assert_eq!(fast.take_kswapd_wake(), slow.take_kswapd_wake(), "{here}");
            assert_eq!(stats(fast.stats()), stats(slow.stats()), "{here}");
            for cpu in 0..CPUS {
                assert_eq!(fast.percpu_state(cpu), slow.percpu_state(cpu), "{here}");
            }
            for size in Order::all() {
                for kind in Migratetype::ALL {
                    let here = format!("{here}, {kind} {size:?}");
                    assert!(fast.free_list(size, kind).eq(slow.free_list(size, kind)), "{here}");
                    for cpu in 0..CPUS {
                        let (fast, slow) =
                            (fast.percpu_blocks(cpu, size, kind), slow.percpu_blocks(cpu, size, kind));
                        assert!(fast.eq(slow), "{here} on CPU {cpu}");
                    }
                }
            }
        }
    }

    pub(crate) fn check(&self) {
        for memory in [self.fast, self.slow] {
            memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", self.context));
        }
    }

    pub(crate) fn request_stats(&self) -> RequestStats {
        self.fast.request_stats()
    }
}

/// Returns a request with the same result that takes the slow path. `NOFAIL` forces the slow path, and has no other
/// effect on a request that cannot wait.
fn on_the_slow_path(request: Request) -> Request {
    let waits = request.gfp.contains(GfpFlags::DIRECT_RECLAIM);
    let insists = if waits { GfpFlags::empty() } else { GfpFlags::NOFAIL };
    Request { gfp: request.gfp | insists, ..request }
}

/// Returns the statistics without the numbers that may differ: lock holds, and frames and nodes read.
fn stats(mut of: ZoneStats) -> ZoneStats {
    (of.lock_holds, of.longest_hold_touched, of.nodes_walked) = (0, 0, 0);
    of
}
