//! The watch of allocations: BPF programs at the page allocator's tracepoints.

use std::collections::HashMap;

use libbpf_rs::{Link, Map, MapCore, MapFlags, Object};

use super::allocations::{Allocation, Allocations};
use super::stacks::{StackId, Stacks};
use super::symbols::Symbols;
use super::watched::{Share, Watched};
use crate::clock;
use crate::error::BpfError;
use crate::sensor::{BpfSensor, open_object, refusal};

/// The compiled programs.
static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocations.bpf.o"));

/// What a call of a program takes beside the program itself, which cannot time it; a rough number, as what page faults take with the
/// watch and without varies (`docs/evidence/blame.md`).
const CALL_NS: u64 = 50;

/// The smallest share: with less nothing is learned, and the calls alone take what they take.
const SMALLEST_SHARE: f64 = 1.0 / 64.0;

/// For how long more may be allocated than the programs can follow in their time.
const BURST_NS: u64 = 500_000_000;

/// Bytes of a number.
const WORD: usize = 8;

/// A running watch of allocations of other types than Movable, and of their frees. It ends when it is dropped.
#[derive(Debug)]
pub struct AllocationWatch {
    object: Object,
    links: Vec<Link>,
    page_table: u64,
    pageblock_order: u8,
    share: Share,
    started_ns: u64,
    /// When the share was last made smaller, and the cost until then.
    shrunk: (u64, u64),
}

/// The sums over all CPUs of `struct counters`.
#[derive(Clone, Copy, Default)]
struct Counters {
    allocations: u64,
    frees: u64,
    lost: u64,
    without_stack: u64,
    metered: u64,
    metered_ns: u64,
    clock_ns: u64,
}

impl Counters {
    /// Returns the time that all calls took, by that of those which were timed.
    fn cost_ns(self) -> u64 {
        let calls = self.allocations + self.frees;
        let each = self.metered_ns.saturating_sub(self.clock_ns).checked_div(self.metered).unwrap_or(0);
        calls.saturating_mul(each + CALL_NS)
    }
}

impl AllocationWatch {
    /// Starts to watch. `sensor` tells where frames are described.
    ///
    /// # Errors
    /// If the kernel does not let this process load or attach programs, or frame numbers cannot be determined.
    pub fn start(sensor: &mut BpfSensor) -> Result<Self, BpfError> {
        let page_table = sensor.page_table()?;
        let pageblock_order = sensor.pageblock_order().ok_or(BpfError::NoPageblockOrder)?;
        let object = open_object(OBJECT)?.load().map_err(|e| refusal(&e))?;
        let now = clock::monotonic_ns();
        let mut watch = Self {
            object,
            links: Vec::new(),
            page_table,
            pageblock_order,
            share: Share::ALL,
            started_ns: now,
            shrunk: (now, 0),
        };
        watch.set()?;
        // Frees first: what is allocated between the two is then known to be freed.
        for name in ["freed", "allocated"] {
            let found = watch.object.progs_mut().find(|program| program.name() == name);
            let program = found.ok_or_else(|| missing(name))?;
            let link = program.attach().map_err(|e| refusal(&e))?;
            watch.links.push(link);
        }
        Ok(watch)
    }

    /// Halves the share, down to a 64th, if the programs took more than `most` of a CPU's time since it was last halved, bursts of
    /// half a second aside.
    ///
    /// # Errors
    /// If the programs' counters cannot be read.
    pub fn keep_below(&mut self, most: f64) -> Result<(), BpfError> {
        let (now, cost) = (clock::monotonic_ns(), self.counters()?.cost_ns());
        let (then, before) = self.shrunk;
        let allowed = most * (now.saturating_sub(then) + BURST_NS) as f64;
        if cost.saturating_sub(before) as f64 > allowed && self.share.fraction() > SMALLEST_SHARE {
            self.share = self.share.half();
            self.shrunk = (now, cost);
            self.set()?;
        }
        Ok(())
    }

    /// Ends the watch. Returns what is still in use; stacks are added to `stacks`, with names from `symbols`.
    ///
    /// # Errors
    /// If the programs' maps cannot be read.
    pub fn finish(mut self, symbols: &Symbols, stacks: &mut Stacks) -> Result<Watched, BpfError> {
        self.links.clear();
        let duration_ns = clock::monotonic_ns().saturating_sub(self.started_ns);
        let live = self.map("live")?;
        let mut known: HashMap<i64, Option<StackId>> = HashMap::new();
        let mut found = Vec::new();
        for key in live.keys() {
            let Some(value) = live.lookup(&key, MapFlags::ANY).map_err(|e| failed(&e))? else { continue };
            let pfn = word(&key, 0);
            if !self.share.has(pfn >> self.pageblock_order) {
                continue;
            }
            let number = word(&value, 1).cast_signed();
            let stack = if let Some(stack) = known.get(&number) {
                *stack
            } else {
                let addresses = self.stack(number)?.unwrap_or_default();
                let names: Vec<_> = addresses.into_iter().map(|address| symbols.name(address)).collect();
                let stack = (!names.is_empty()).then(|| stacks.keep(names));
                known.insert(number, stack);
                stack
            };
            found.push(Allocation {
                pfn,
                order: word(&value, 2).min(63) as u8,
                time_ns: word(&value, 0),
                stack,
            });
        }
        let counters = self.counters()?;
        Ok(Watched {
            live: Allocations::new(found),
            share: self.share,
            allocations: counters.allocations,
            frees: counters.frees,
            lost: counters.lost,
            without_stack: counters.without_stack,
            duration_ns,
            cost_ns: counters.cost_ns(),
        })
    }

    /// Reads the addresses of a stack, the innermost first; `None` for a number that is none.
    fn stack(&self, number: i64) -> Result<Option<Vec<u64>>, BpfError> {
        let Ok(number) = u32::try_from(number) else { return Ok(None) };
        let stack =
            self.map("stacks")?.lookup(&number.to_ne_bytes(), MapFlags::ANY).map_err(|e| failed(&e))?;
        let addresses = |bytes: Vec<u8>| -> Vec<u64> {
            (0..bytes.len() / WORD).map(|at| word(&bytes, at)).take_while(|&address| address != 0).collect()
        };
        Ok(stack.map(addresses))
    }

    fn counters(&self) -> Result<Counters, BpfError> {
        let key = 0_u32.to_ne_bytes();
        let cpus = self.map("counters")?.lookup_percpu(&key, MapFlags::ANY).map_err(|e| failed(&e))?;
        let mut sum = Counters::default();
        for cpu in cpus.unwrap_or_default() {
            sum.allocations += word(&cpu, 0);
            sum.frees += word(&cpu, 1);
            sum.lost += word(&cpu, 3);
            sum.without_stack += word(&cpu, 4);
            sum.metered += word(&cpu, 5);
            sum.metered_ns += word(&cpu, 6);
            sum.clock_ns += word(&cpu, 7);
        }
        Ok(sum)
    }

    /// Gives the programs their settings.
    fn set(&self) -> Result<(), BpfError> {
        let words = [self.page_table, self.pageblock_order.into(), self.share.bound()];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let settings = self.map("settings")?;
        settings.update(&0_u32.to_ne_bytes(), &bytes, MapFlags::ANY).map_err(|e| failed(&e))
    }

    fn map(&self, name: &'static str) -> Result<Map<'_>, BpfError> {
        self.object.maps().find(|map| map.name() == name).ok_or_else(|| missing(name))
    }
}

fn word(bytes: &[u8], index: usize) -> u64 {
    let bytes = bytes.get(index * WORD..(index + 1) * WORD).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_ne_bytes)
}

fn missing(name: &'static str) -> BpfError {
    BpfError::Run { program: name, detail: "it is not in the object".to_owned() }
}

fn failed(error: &libbpf_rs::Error) -> BpfError {
    BpfError::Run { program: "allocations", detail: error.to_string() }
}
