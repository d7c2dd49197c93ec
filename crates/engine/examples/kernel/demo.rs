//! The work of the two CPUs, from their first line of Rust to the verdict.
#![expect(unsafe_code, reason = "the symbol that boot.s calls, and the start info")]

use core::hint;
use core::sync::atomic::{AtomicBool, Ordering};

use freehold::{GfpFlags, Memory, NoReclaim, Order, PageTypeRows, Request, StaticMemory, Zone};
use lock_api::Mutex;

use crate::apic;
use crate::cache::Cache;
use crate::daemons::{self, Ballast};
use crate::hotplug;
use crate::interrupt;
use crate::load::{self, DONE};
use crate::lock::{self, Host, SpinLock};
use crate::page;
use crate::port;
use crate::serial::{self, SERIAL, line};
use crate::start_info::{Machine, Planted, StartInfo};
use crate::verdict::{failures, must};
use crate::zones;

/// The memory, once it is set up.
pub(crate) static MEMORY: StaticMemory<Host> = StaticMemory::new();

/// CPU 0's pages that can be moved, and its ballast: too large for a stack.
static CACHE: Mutex<SpinLock, Cache> = Mutex::new(Cache::new());
static BALLAST: Mutex<SpinLock, Ballast> = Mutex::new(Ballast::new());

/// The stages of CPU 1: it has started; it has done its load; it may stop; it has stopped and freed everything.
static STARTED: AtomicBool = AtomicBool::new(false);
static LOADED: AtomicBool = AtomicBool::new(false);
static MAY_STOP: AtomicBool = AtomicBool::new(false);
static STOPPED: AtomicBool = AtomicBool::new(false);

/// The longest that CPU 0 waits for CPU 1 to start, in writes to the delay port.
const START_US: u32 = 1_000_000;

/// Begins a CPU, in 64-bit mode, with interrupts off.
///
/// `info` is the start info on CPU 0.
#[unsafe(no_mangle)]
extern "C" fn kernel_main(cpu: u32, info: *const StartInfo) -> ! {
    if cpu > 0 {
        second_cpu();
    }
    serial::set_up();
    // SAFETY: the loader passed the address, and only the image has been written to since.
    let machine = unsafe { Machine::read(info) };
    for range in machine.ranges() {
        line!("memory: frames {:#x} to {:#x}", range.start, range.end);
    }
    let memory = zones::set_up(&MEMORY, &machine);
    for zone in memory.zones() {
        let (name, free) = (zone.kind().name(), zone.free_pages());
        line!("zone {name}: spanned {}, present {}, free {free}", zone.spanned_pages(), zone.present_pages());
    }
    interrupt::load_table();
    first_cpu(memory, machine.planted)
}

fn first_cpu(memory: &Memory<'_, Host>, planted: Option<Planted>) -> ! {
    let free_at_first = free_pages(memory);
    every_order(memory);
    apic::start_timer();
    lock::turn_interrupts_on();
    apic::start_second_cpu();
    let started = (0..START_US).any(|_| {
        port::delay(1);
        STARTED.load(Ordering::Acquire)
    });
    assert!(started, "CPU 1 does not start");

    hotplug::run(memory, &mut CACHE.lock());
    must(!LOADED.load(Ordering::Acquire), "CPU 1 is at work while a pageblock leaves");
    load::run(memory, 0);
    wait_for(&LOADED);
    daemons::run(memory, &mut CACHE.lock(), &mut BALLAST.lock());
    if let Some(error) = planted {
        make_error(memory, error);
    }

    MAY_STOP.store(true, Ordering::Release);
    wait_for(&STOPPED);
    lock::turn_interrupts_off();
    apic::stop_timer();
    interrupt::release(memory);
    report(memory, free_at_first);
    let success = failures() == 0;
    line!("{}", if success { "every check held" } else { "a check did not hold" });
    port::exit(success)
}

/// Begins CPU 1.
fn second_cpu() -> ! {
    let Some(memory) = MEMORY.get() else { panic!("CPU 1 came before the memory") };
    interrupt::load_table();
    apic::start_timer();
    lock::turn_interrupts_on();
    STARTED.store(true, Ordering::Release);
    load::run(memory, apic::cpu());
    LOADED.store(true, Ordering::Release);
    wait_for(&MAY_STOP);
    lock::turn_interrupts_off();
    apic::stop_timer();
    interrupt::release(memory);
    STOPPED.store(true, Ordering::Release);
    lock::stop()
}

/// Waits for a flag that the other CPU sets with Release.
fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        hint::spin_loop();
    }
}

/// Takes one block of each order, and frees them.
fn every_order(memory: &Memory<'_, Host>) {
    let orders = Order::ZERO.up_to(memory.zones()[0].max_order());
    let ask = |order| memory.alloc(Request { cpu: 0, node: 0, order, gfp: GfpFlags::KERNEL }, NoReclaim);
    let mut blocks = [None; 19];
    for order in orders.clone() {
        blocks[order.index()] = ask(order).ok();
    }
    let taken = blocks.iter().flatten().count();
    for (order, pfn) in orders.filter_map(|order| Some((order, blocks[order.index()]?))) {
        must(memory.free(0, pfn, order) == Ok(()), "a block of each order is freed");
        must(memory.free(0, pfn, order).is_err(), "a block is freed once");
    }
    must(taken == 11, "a block of each order is free");
    line!("orders: {taken} taken and freed");
}

/// Makes the error that the command line requests.
fn make_error(memory: &Memory<'_, Host>, error: Planted) {
    let request = Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL };
    let Ok(pfn) = memory.alloc(request, NoReclaim) else { return must(false, "a page is free") };
    let free = |pfn| must(memory.free(0, pfn, Order::ZERO) == Ok(()), "an owner frees what it took");
    // No other caller gets the page meanwhile.
    lock::turn_interrupts_off();
    match error {
        Planted::Leak => {}
        Planted::DoubleFree => (0..2).for_each(|_| free(pfn)),
        Planted::UseAfterFree => {
            free(pfn);
            if let Ok(next) = memory.alloc(request, NoReclaim) {
                page::stamp(next, Order::ZERO, 1);
                page::stamp(pfn, Order::ZERO, 2);
                must(page::has_stamp(next, Order::ZERO, 1), "a block has its owner's contents");
                free(next);
            }
        }
    }
    lock::turn_interrupts_on();
}

fn free_pages(memory: &Memory<'_, Host>) -> u64 {
    memory.zones().iter().map(Zone::free_pages).sum()
}

/// Prints the work done, and checks the memory while no CPU uses it.
fn report(memory: &Memory<'_, Host>, free_at_first: u64) {
    memory.drain_all();
    for (cpu, done) in DONE.iter().enumerate() {
        let requests: u64 = done.requests.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        let (answered, refused) = interrupt::requests(cpu);
        let refreshes = done.refreshes.load(Ordering::Relaxed);
        line!("cpu {cpu}: requests {requests}, refreshes {refreshes}");
        line!(
            "cpu {cpu}: interrupts {}, their requests {answered}, refused {refused}",
            interrupt::ticks(cpu)
        );
        must(requests > 0 && answered > 0 && refreshes > 0, "each CPU and its interrupts were at work");
    }
    for order in Order::ZERO.up_to(memory.zones()[0].max_order()) {
        let of_cpus = DONE.each_ref().map(|done| done.requests[order.index()].load(Ordering::Relaxed));
        line!("order {order}: {} blocks", of_cpus.iter().sum::<u64>());
    }
    // Writing to the port never fails.
    let _ = memory.write_buddyinfo(&mut *SERIAL.lock());
    let _ = memory.write_pagetypeinfo(&mut *SERIAL.lock(), PageTypeRows::default());
    let free = free_pages(memory);
    line!("free: {free_at_first} pages at first, {free} at the end");
    must(free == free_at_first, "all pages are free again");
    match memory.check() {
        Ok(()) => line!("check: clean"),
        Err(broken) => {
            line!("check: {broken}");
            must(false, "every invariant holds");
        }
    }
}
