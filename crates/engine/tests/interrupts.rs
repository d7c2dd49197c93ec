//! Interrupts, or other CPUs, that act just before a lock is taken.
#![expect(unsafe_code, reason = "locks behind the interface of the engine's")]

mod common;

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::thread;

use common::{Random, geometry, order, plain_zone};
use freehold::{
    Era, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, Pfn, Platform, Request, ZoneConfig,
    ZoneType, required_bytes,
};

/// An action that runs before a lock of a kind is taken, and how often locks of this kind are taken before that.
type Next = Option<(Name, u32, Box<dyn FnOnce()>)>;

thread_local! {
    static NEXT: RefCell<Next> = const { RefCell::new(None) };
}

/// The two kinds of locks.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Name {
    Zone,
    PerCpu,
}

/// Makes `act` run before a lock is taken, after locks of the same kind were taken `skip` times. The caller keeps all
/// data of `act` alive until then.
fn before(name: Name, skip: u32, act: impl FnOnce()) {
    let act: Box<dyn FnOnce()> = Box::new(act);
    // SAFETY: only the lifetime of the box changes, and the caller guarantees it.
    let act = unsafe { core::mem::transmute::<Box<dyn FnOnce()>, Box<dyn FnOnce() + 'static>>(act) };
    NEXT.set(Some((name, skip, act)));
}

fn come_between(name: Name) {
    let act = NEXT.take();
    match act {
        Some((of, 0, act)) if of == name => act(),
        Some((of, skip, act)) if of == name => NEXT.set(Some((of, skip - 1, act))),
        other => NEXT.set(other),
    }
}

/// A spin lock that runs the pending action before it is taken.
struct Interrupted<const PERCPU: bool>(AtomicBool);

impl<const PERCPU: bool> Interrupted<PERCPU> {
    const NAME: Name = if PERCPU { Name::PerCpu } else { Name::Zone };

    fn take(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }
}

// SAFETY: `take` succeeds for one caller until `unlock`.
unsafe impl<const PERCPU: bool> lock_api::RawMutex for Interrupted<PERCPU> {
    const INIT: Self = Self(AtomicBool::new(false));

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        come_between(Self::NAME);
        while !self.take() {
            std::thread::yield_now();
        }
    }

    fn try_lock(&self) -> bool {
        come_between(Self::NAME);
        self.take()
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

struct Interruptible;

impl Platform for Interruptible {
    type ZoneLock = Interrupted<false>;
    type PerCpuLock = Interrupted<true>;
    type Tracepoints = ();
    type Rule = ();
}

const MOVABLE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE;

fn request(size: u8) -> Request {
    Request { cpu: 0, node: 0, order: order(size), gfp: MOVABLE }
}

/// Runs on four free pageblocks of 16 pages.
fn on_a_machine<P: Platform<Tracepoints = (), Rule = ()>>(era: Era, act: impl FnOnce(&Memory<'_, P>)) {
    let zones = [ZoneConfig { percpu: common::fixed_lists(4, 64), ..plain_zone(0x400, 64) }];
    let config: MemoryConfig<'_> = geometry(&zones, era.switches(), 4, 5);
    let mut bytes = vec![MaybeUninit::uninit(); required_bytes::<P>(&config)];
    let memory = Memory::new(&config, &mut bytes).expect("valid");
    memory.zones()[0].add_free(Pfn(0x400), 64).expect("absent frames");
    act(&memory);
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
}

#[test]
fn a_free_during_an_isolation_leaves_no_page_on_a_list() {
    for era in Era::ALL {
        for size in [0, 1, 3] {
            on_a_machine::<Interruptible>(era, |memory| {
                let zone = &memory.zones()[0];
                let mut pfn = memory.alloc(request(size), NoReclaim).expect("free pages");
                memory.drain_all();
                for skip in 0..3 {
                    before(Name::PerCpu, skip, || {
                        zone.isolate_block(pfn).expect("movable");
                        zone.drain_all();
                    });
                    memory.free(0, pfn, order(size)).expect("allocated");
                    if NEXT.take().is_none() {
                        assert_eq!(zone.percpu_pages(0), 0, "{}: {size}, {skip}", era.name());
                        zone.unisolate_block(pfn).expect("isolated");
                    }
                    pfn = memory.alloc(request(size), NoReclaim).expect("free pages");
                    memory.drain_all();
                }
                memory.free(0, pfn, order(size)).expect("allocated");
            });
        }
    }
}

#[test]
fn range_is_found_and_taken_in_one_lock_hold() {
    for era in Era::ALL {
        for skip in 0..12 {
            on_a_machine::<Interruptible>(era, |memory| {
                let zone = &memory.zones()[0];
                // The range is free. The action frees its neighbour, and the two merge.
                let block = memory.alloc(request(4), NoReclaim).expect("free pages");
                memory.split(block, order(4), Order::ZERO).expect("allocated");
                memory.free_contig_range(0, block, 15).expect("single pages");
                memory.drain_all();
                let last = block.add(15);
                before(Name::Zone, skip, || memory.free(0, last, Order::ZERO).expect("allocated"));
                let taken = memory.alloc_contig_range(block.add(12), 3, Migratetype::Movable, 0, NoReclaim);
                assert_eq!(taken, Ok(()), "{}: {skip}", era.name());
                if NEXT.take().is_some() {
                    memory.free(0, last, Order::ZERO).expect("allocated");
                }
                memory.free_contig_range(0, block.add(12), 3).expect("single pages");
                memory.drain_all();
                assert_eq!(zone.free_pages(), 64, "{}: {skip}", era.name());
            });
        }
    }
}

thread_local! {
    /// True if interrupts are on for this CPU, which is a thread.
    static ON: Cell<bool> = const { Cell::new(true) };
}

/// A kernel's lock that saves the interrupt state: it turns interrupts off, and the unlock turns them on again if they
/// were on before.
struct Saving {
    in_use: AtomicBool,
    were_on: AtomicBool,
}

// SAFETY: the swap succeeds for one caller until `unlock`.
unsafe impl lock_api::RawMutex for Saving {
    const INIT: Self = Self { in_use: AtomicBool::new(false), were_on: AtomicBool::new(false) };

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        assert!(self.try_lock(), "one thread waits for itself");
    }

    fn try_lock(&self) -> bool {
        let were_on = ON.replace(false);
        if self.in_use.swap(true, Ordering::Acquire) {
            ON.set(were_on);
            return false;
        }
        self.were_on.store(were_on, Ordering::Relaxed);
        true
    }

    unsafe fn unlock(&self) {
        let were_on = self.were_on.load(Ordering::Relaxed);
        self.in_use.store(false, Ordering::Release);
        ON.set(were_on);
    }
}

struct NestedLocks;

impl Platform for NestedLocks {
    type ZoneLock = Saving;
    type PerCpuLock = Saving;
    type Tracepoints = ();
    type Rule = ();
}

#[test]
fn an_owner_of_two_zones_leaves_interrupts_as_they_were() {
    let zones = [ZoneConfig { kind: ZoneType::Dma32, ..plain_zone(0x400, 64) }, plain_zone(0x800, 64)];
    for era in Era::ALL {
        let config = geometry(&zones, era.switches(), 4, 5);
        let mut bytes = vec![MaybeUninit::uninit(); required_bytes::<NestedLocks>(&config)];
        let memory = Memory::<NestedLocks>::new(&config, &mut bytes).expect("valid");
        memory.zones()[0].add_free(Pfn(0x400), 64).expect("absent frames");
        memory.zones()[1].add_free(Pfn(0x800), 64).expect("absent frames");
        assert!(ON.get());
        let mut owner = memory.exclusive(0).expect("a CPU");
        assert!(!ON.get(), "an owner holds its locks");
        owner.pause();
        assert!(!ON.get());
        let pfn = owner.alloc(request(0)).expect("free pages");
        // The owner's lists cannot serve these requests, so it releases the locks and takes them again.
        while owner.alloc(request(3)).is_ok() {
            assert!(!ON.get());
        }
        owner.free(pfn, Order::ZERO).expect("allocated");
        assert!(!ON.get());
        drop(owner);
        assert!(ON.get(), "{}: interrupts are off for good", era.name());
        let _ = memory.alloc(request(0), NoReclaim).map(|pfn| memory.free(0, pfn, Order::ZERO));
        memory.drain_all();
        memory.check().expect("intact");
        assert!(ON.get(), "{}", era.name());
    }
}

/// A lock that blocks signals, as [`Saving`] turns interrupts off.
struct Masking {
    in_use: AtomicBool,
    mask: Cell<MaybeUninit<libc::sigset_t>>,
}

// SAFETY: only the holder touches `mask`.
unsafe impl Sync for Masking {}

// SAFETY: the swap succeeds for one caller until `unlock`.
unsafe impl lock_api::RawMutex for Masking {
    const INIT: Self = Self { in_use: AtomicBool::new(false), mask: Cell::new(MaybeUninit::uninit()) };

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        while !self.try_lock() {
            std::hint::spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the calls fill both sets of signals.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        }
        if self.in_use.swap(true, Ordering::Acquire) {
            // SAFETY: `before` was filled above.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), core::ptr::null_mut()) };
            return false;
        }
        self.mask.set(before);
        true
    }

    unsafe fn unlock(&self) {
        let before = self.mask.get();
        self.in_use.store(false, Ordering::Release);
        // SAFETY: the lock is held, so `mask` was filled by `try_lock`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), core::ptr::null_mut()) };
    }
}

/// A lock that does not block signals. A signal handler that interrupted the holder would wait for ever, so a handler
/// must not wait for this lock.
struct Plain(AtomicBool);

// SAFETY: the swap succeeds for one caller until `unlock`.
unsafe impl lock_api::RawMutex for Plain {
    const INIT: Self = Self(AtomicBool::new(false));

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        if IN_SIGNAL.get() {
            WAITED.store(true, Ordering::Relaxed);
        }
        while !self.try_lock() {
            std::hint::spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The platform of Linux: interrupts are off only under the zone lock, and a caller that cannot wait does not use a
/// list whose lock is taken.
struct Kernel;

impl Platform for Kernel {
    type ZoneLock = Masking;
    type PerCpuLock = Plain;
    type Tracepoints = ();
    type Rule = ();
}

thread_local! {
    static IN_SIGNAL: Cell<bool> = const { Cell::new(false) };
}

/// True if a signal handler has waited for the lock of a list.
static WAITED: AtomicBool = AtomicBool::new(false);
static SIGNALS: AtomicU32 = AtomicU32::new(0);
/// The memory that signals use.
static MEMORY: AtomicPtr<Memory<'static, Kernel>> = AtomicPtr::new(core::ptr::null_mut());
/// Blocks that signal handlers have in use: frame and order as `pfn << 8 | order`, 0 for none.
static IN_USE: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];

/// Sends signals to this thread while it allocates and frees. Thread and signals use the same CPU number.
fn under_signals(memory: &'static Memory<'static, Kernel>, era: Era) {
    let pages = memory.zones()[0].spanned_pages();
    MEMORY.store(core::ptr::from_ref(memory).cast_mut(), Ordering::Release);
    let stop = AtomicBool::new(false);
    // SAFETY: the call cannot fail.
    let target = unsafe { libc::pthread_self() };
    let before = SIGNALS.load(Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // SAFETY: the thread waits for this one before it ends.
                unsafe { libc::pthread_kill(target, libc::SIGUSR1) };
                (0..200).for_each(|_| std::hint::spin_loop());
            }
        });
        let mut random = Random::new(5);
        let mut in_use = Vec::new();
        let mut step = 0;
        while step < 20_000 || SIGNALS.load(Ordering::Relaxed) - before < 1000 {
            step += 1;
            if in_use.len() < 150 && random.below(2) == 0 {
                let size = [0, 0, 0, 1, 3, 5][random.below(6) as usize];
                let gfp = [GfpFlags::KERNEL, MOVABLE][random.below(2) as usize];
                let ask = Request { gfp, ..request(size) };
                in_use.extend(memory.alloc(ask, NoReclaim).ok().map(|pfn| (pfn, order(size))));
            } else if !in_use.is_empty() {
                let (pfn, size) = in_use.swap_remove(random.below(in_use.len() as u64) as usize);
                memory.free(0, pfn, size).expect("in use");
            }
            match random.below(400) {
                0 => memory.drain_all(),
                1 => drop(memory.refresh(0)),
                2 => {
                    let mut owner = memory.exclusive(0).expect("a CPU");
                    let mut found = [None; 20];
                    let filled = owner.alloc_batch(request(0), &mut found);
                    owner.pause();
                    let found: Vec<Pfn> = found[..filled].iter().copied().flatten().collect();
                    owner.free_batch(Order::ZERO, &found).expect("in use");
                }
                _ => {}
            }
        }
        for (pfn, size) in in_use {
            memory.free(0, pfn, size).expect("in use");
        }
        stop.store(true, Ordering::Relaxed);
    });
    MEMORY.store(core::ptr::null_mut(), Ordering::Release);
    for place in &IN_USE {
        let in_use = place.swap(0, Ordering::Relaxed);
        assert_ne!(in_use, u64::MAX, "{}: a signal could not free its block", era.name());
        if in_use != 0 {
            memory.free(0, Pfn(in_use >> 8), order(in_use as u8)).expect("in use");
        }
    }
    assert!(!WAITED.load(Ordering::Relaxed), "{}: a signal waited for a list's lock", era.name());
    memory.drain_all();
    memory.check().unwrap_or_else(|broken| panic!("{}: {broken}", era.name()));
    assert_eq!(memory.zones()[0].free_pages(), pages, "{}", era.name());
}

/// Makes the calls that an interrupt may make: a request that cannot wait, a free, and reads that need no lock.
extern "C" fn on_signal(_: libc::c_int) {
    IN_SIGNAL.set(true);
    let number = SIGNALS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the pointer is null, or refers to a memory that lives until the process ends.
    if let Some(memory) = unsafe { MEMORY.load(Ordering::Acquire).as_ref() } {
        let place = &IN_USE[(number % 8) as usize];
        let in_use = place.load(Ordering::Relaxed);
        let now = if in_use == 0 {
            let size = order([0, 0, 1, 0, 4, 3][(number % 6) as usize]);
            let gfp = [GfpFlags::GFP_ATOMIC, GfpFlags::NOWAIT, GfpFlags::NOWAIT | GfpFlags::MOVABLE];
            let ask = Request { order: size, gfp: gfp[(number % 3) as usize], ..request(0) };
            memory.alloc(ask, NoReclaim).map_or(0, |pfn| pfn.0 << 8 | u64::from(size.get()))
        } else {
            let freed = memory.free(0, Pfn(in_use >> 8), order(in_use as u8));
            if freed.is_ok() { 0 } else { u64::MAX }
        };
        place.store(now, Ordering::Relaxed);
        let _ = memory.zones()[0].counts_relaxed();
        let _ = memory.is_kswapd_wanted(0);
    }
    IN_SIGNAL.set(false);
}

#[test]
fn signals_interrupt_requests_anywhere() {
    const PAGES: u64 = 4096;
    // SAFETY: the handler takes no lock that the thread may hold, and allocates nothing.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, core::ptr::null_mut()), 0);
    }
    for era in [Era::Freehold, Era::Linux7_3, Era::Linux6_1] {
        // Signals refer to the memory until the process ends.
        let zones = [ZoneConfig { percpu: common::fixed_lists(7, 60), ..plain_zone(0x400, PAGES) }];
        let config = geometry(&zones, era.switches(), 5, 8);
        let bytes = vec![MaybeUninit::uninit(); required_bytes::<Kernel>(&config)];
        let memory = Memory::<Kernel>::new(&config, bytes.leak()).expect("valid");
        memory.zones()[0].add_free(Pfn(0x400), PAGES).expect("absent frames");
        let memory: &'static Memory<'static, Kernel> = Box::leak(Box::new(memory));
        under_signals(memory, era);
    }
}
