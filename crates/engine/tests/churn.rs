//! Random requests with every set of switches. Every invariant holds after every step.

use crate::common::{self, Random, all_free, all_switch_sets, config, metadata, order, zone};
use freehold::{GfpFlags, Memory, NoReclaim, Order, Pfn, Request, Switches, ZoneType};

const GFPS: [GfpFlags; 6] = [
    GfpFlags::KERNEL,
    GfpFlags::HIGHUSER_MOVABLE,
    GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
    GfpFlags::GFP_ATOMIC,
    GfpFlags::TRANSHUGE_LIGHT,
    GfpFlags::DMA32.union(GfpFlags::KERNEL),
];

/// Returns a random order: mostly small, sometimes any.
fn random_order(random: &mut Random) -> Order {
    match random.below(10) {
        0 => order(random.below(11) as u8),
        1 | 2 => order(random.below(4) as u8),
        _ => Order::ZERO,
    }
}

struct Churn<'a, 'm> {
    memory: &'a Memory<'m, common::Host>,
    random: Random,
    in_use: Vec<(Pfn, Order)>,
    steps: u32,
    context: String,
}

impl Churn<'_, '_> {
    fn step(&mut self) {
        let cpu = self.random.below(2) as u16;
        // Phases that fill and that empty memory alternate, so that fallbacks and failures happen.
        let filling = self.steps / 400 % 3 < 2;
        self.steps += 1;
        match self.random.below(100) {
            0..90 if filling => self.allocate(cpu),
            0..30 => self.allocate(cpu),
            31..97 => self.free_one(cpu),
            97 => {
                self.memory.refresh(cpu);
            }
            98 => self.memory.drain_all(),
            _ => self.isolate_and_undo(),
        }
    }

    fn allocate(&mut self, cpu: u16) {
        let gfp = GFPS[self.random.below(GFPS.len() as u64) as usize];
        let order = random_order(&mut self.random);
        if let Ok(pfn) = self.memory.alloc(Request { cpu, node: 0, order, gfp }, NoReclaim) {
            self.in_use.push((pfn, order));
        }
    }

    fn free_one(&mut self, cpu: u16) {
        if self.in_use.is_empty() {
            return;
        }
        let at = self.random.below(self.in_use.len() as u64) as usize;
        let (pfn, order) = self.in_use.swap_remove(at);
        self.memory
            .free(cpu, pfn, order)
            .unwrap_or_else(|error| panic!("{}: {pfn:?}: {error}", self.context));
    }

    fn isolate_and_undo(&mut self) {
        let zone = &self.memory.zones()[self.random.below(self.memory.zones().len() as u64) as usize];
        let pfn = Pfn(zone.start().0 + self.random.below(zone.end().0 - zone.start().0));
        if zone.isolate_block(pfn).is_ok() {
            self.check();
            self.free_one(0);
            self.memory.drain_all();
            self.check();
            zone.unisolate_block(pfn).expect("an isolated block");
        }
    }

    fn check(&self) {
        self.memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", self.context));
    }
}

fn run(name: &str, switches: Switches, seed: u64, steps: u32) {
    let zones = [zone(ZoneType::Dma32, 0x305, 1100), zone(ZoneType::Normal, 0x1000, 4097)];
    let config = config(&zones, switches);
    let mut bytes = metadata(&config);
    let memory = all_free(&config, &mut bytes);
    let free_at_start: u64 = memory.zones().iter().map(freehold::Zone::free_pages).sum();
    assert_eq!(free_at_start, 1100 + 4097, "{name}");
    let mut churn = Churn {
        memory: &memory,
        random: Random::new(seed),
        in_use: Vec::new(),
        steps: 0,
        context: String::new(),
    };
    for step in 0..steps {
        churn.context = format!("{name}, seed {seed}, step {step}");
        churn.step();
        churn.check();
    }
    while !churn.in_use.is_empty() {
        churn.free_one(1);
    }
    memory.drain_all();
    churn.check();
    let free_at_end: u64 = memory.zones().iter().map(freehold::Zone::free_pages).sum();
    assert_eq!(free_at_end, free_at_start, "{name}, seed {seed}: pages got lost");
    if switches.hygiene {
        let stats = memory.zone_stats();
        assert_eq!((stats.hygiene_violations, stats.foreign_leaves), (0, 0), "{name}, seed {seed}");
    }
}

/// Tests every second set of switches, so that two tests run in parallel. Each set has its own seed.
fn invariants_hold_after_every_step(first: usize) {
    for (number, (name, switches)) in all_switch_sets().into_iter().enumerate().skip(first).step_by(2) {
        run(&name, switches, 1 + number as u64, 4000);
    }
}

#[test]
fn invariants_hold_after_every_step_of_even_sets() {
    invariants_hold_after_every_step(0);
}

#[test]
fn invariants_hold_after_every_step_of_odd_sets() {
    invariants_hold_after_every_step(1);
}
