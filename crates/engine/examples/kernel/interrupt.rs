//! The interrupt table, and the timer's interrupt, which allocates and frees.
#![expect(unsafe_code, reason = "the interrupt table and its entries")]

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use freehold::{GfpFlags, Memory, NoReclaim, Order, Pfn, Request};

use crate::apic::{self, SPURIOUS_VECTOR, TIMER_VECTOR};
use crate::demo::MEMORY;
use crate::lock::Host;
use crate::once::Once;
use crate::page;
use crate::verdict::{CPUS, must};

const CODE: u16 = 0x10;
const GATE: u16 = 0x8e00;

/// The most blocks that the interrupts of one CPU have in use.
const IN_USE: usize = 16;

/// An entry of the interrupt table.
#[derive(Clone, Copy)]
#[repr(C)]
struct Gate {
    low: u16,
    segment: u16,
    kind: u16,
    middle: u16,
    high: u32,
    reserved: u32,
}

#[repr(C, packed)]
struct TablePointer {
    limit: u16,
    address: *const Gate,
}

static TABLE: Once<[Gate; 256]> = Once::new();

/// The state of the interrupts of one CPU. Only they use it, and [`release`] on the same CPU.
struct Own {
    ticks: AtomicU64,
    /// Successful requests.
    requests: AtomicU64,
    refused: AtomicU64,
    /// Blocks in use by frame and order; 0 for none.
    in_use: [AtomicU64; IN_USE],
}

static OWN: [Own; CPUS] = [const {
    Own {
        ticks: AtomicU64::new(0),
        requests: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        in_use: [const { AtomicU64::new(0) }; IN_USE],
    }
}; CPUS];

unsafe extern "C" {
    fn timer_entry();
    fn spurious_entry();
    static fault_entries: [u8; 32 * 16];
}

impl Gate {
    fn new(entry: usize) -> Self {
        let entry = entry as u64;
        Self {
            low: entry as u16,
            segment: CODE,
            kind: GATE,
            middle: (entry >> 16) as u16,
            high: (entry >> 32) as u32,
            reserved: 0,
        }
    }
}

/// Loads the interrupt table. CPU 0 must do so first.
pub(crate) fn load_table() {
    let faults = (&raw const fault_entries).addr();
    let table = TABLE.get_or_set(|| {
        core::array::from_fn(|vector| {
            Gate::new(match vector {
                0..32 => faults + vector * 16,
                _ if vector == usize::from(TIMER_VECTOR) => timer_entry as *const () as usize,
                _ => spurious_entry as *const () as usize,
            })
        })
    });
    debug_assert!(usize::from(SPURIOUS_VECTOR) < table.len());
    let pointer = TablePointer { limit: size_of_val(table) as u16 - 1, address: table.as_ptr() };
    // SAFETY: the table is never moved, and each of its entries handles its vector.
    unsafe { asm!("lidt [{}]", in(reg) &raw const pointer, options(readonly, nostack, preserves_flags)) }
}

/// Ends the demo, because the kernel causes no exception on purpose. `frame` begins with the vector.
#[unsafe(no_mangle)]
extern "C" fn fault(frame: &[u64; 4]) -> ! {
    let address: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, cr2", out(reg) address, options(nomem, nostack, preserves_flags)) }
    panic!("exception {}: {:#x?}, address {address:#x}", frame[0], &frame[1..])
}

/// Frees the oldest block of this CPU's interrupts, and allocates another of order 0 to 3.
#[unsafe(no_mangle)]
extern "C" fn timer_interrupt() {
    let cpu = apic::cpu();
    let own = &OWN[usize::from(cpu)];
    let tick = own.ticks.fetch_add(1, Ordering::Relaxed);
    if let Some(memory) = MEMORY.get() {
        let slot = &own.in_use[tick as usize % IN_USE];
        free_in_use(memory, cpu, slot);
        let order = Order::new((tick / 3 % 4) as u8).unwrap_or(Order::ZERO);
        match memory.alloc(Request { cpu, node: 0, order, gfp: GfpFlags::GFP_ATOMIC }, NoReclaim) {
            Ok(pfn) => {
                page::stamp(pfn, order, pfn.0);
                slot.store(pfn.0 << 8 | u64::from(order.get()), Ordering::Relaxed);
                own.requests.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => _ = own.refused.fetch_add(1, Ordering::Relaxed),
        }
    }
    apic::end_interrupt();
}

fn free_in_use(memory: &Memory<'_, Host>, cpu: u16, slot: &AtomicU64) {
    let block = slot.swap(0, Ordering::Relaxed);
    if let Some(order) = Order::new(block as u8).filter(|_| block != 0) {
        let pfn = Pfn(block >> 8);
        must(page::has_stamp(pfn, order, pfn.0), "an interrupt's block has its contents");
        must(memory.free(cpu, pfn, order) == Ok(()), "an interrupt frees what it took");
    }
}

/// Frees all blocks of this CPU's interrupts. Its timer has stopped.
pub(crate) fn release(memory: &Memory<'_, Host>) {
    let cpu = apic::cpu();
    OWN[usize::from(cpu)].in_use.iter().for_each(|slot| free_in_use(memory, cpu, slot));
}

/// Returns the number of timer interrupts on a CPU.
pub(crate) fn ticks(cpu: usize) -> u64 {
    OWN[cpu].ticks.load(Ordering::Relaxed)
}

/// Returns the numbers of a CPU's requests from interrupts that succeeded and that failed.
pub(crate) fn requests(cpu: usize) -> (u64, u64) {
    (OWN[cpu].requests.load(Ordering::Relaxed), OWN[cpu].refused.load(Ordering::Relaxed))
}
