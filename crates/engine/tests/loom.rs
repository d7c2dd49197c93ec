//! Model checking: every interleaving of two threads, and every value that a relaxed load may see.
//!
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p freehold --release --test loom`
#![cfg(loom)]
#![expect(unsafe_code, reason = "a lock of the model checker behind the interface of the engine's")]

use core::cell::{OnceCell, UnsafeCell};
use core::mem::{ManuallyDrop, MaybeUninit};

use freehold::{
    Era, FreeError, GfpFlags, Memory, MemoryConfig, Migratetype, NoReclaim, Order, PerCpuSettings, Pfn,
    Request, Sections, Watermarks, ZoneConfig, ZoneType, required_bytes,
};
use loom::sync::atomic::{AtomicU32, Ordering, fence};
use loom::sync::{Arc, Mutex, MutexGuard};
use loom::thread;

/// The model checker's mutex. It cannot be made at compile time, so the first lock call
/// makes it. The tests lock everything before they start a second thread.
struct CheckedLock {
    mutex: ManuallyDrop<OnceCell<&'static Mutex<()>>>,
    guard: UnsafeCell<ManuallyDrop<Option<MutexGuard<'static, ()>>>>,
}

// SAFETY: threads run one at a time under the model checker, `mutex` is set before
// there is a second one, and only the lock's holder touches `guard`.
unsafe impl Sync for CheckedLock {}
// SAFETY: as above.
unsafe impl Send for CheckedLock {}

impl CheckedLock {
    fn mutex(&self) -> &'static Mutex<()> {
        self.mutex.get_or_init(|| Box::leak(Box::new(Mutex::new(()))))
    }

    fn hold(&self, guard: MutexGuard<'static, ()>) {
        // SAFETY: the guard says that this thread holds the lock.
        unsafe { *self.guard.get() = ManuallyDrop::new(Some(guard)) };
    }
}

// SAFETY: the model checker's mutex guarantees exclusion.
unsafe impl lock_api::RawMutex for CheckedLock {
    const INIT: Self =
        Self { mutex: ManuallyDrop::new(OnceCell::new()), guard: UnsafeCell::new(ManuallyDrop::new(None)) };

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        self.hold(self.mutex().lock().expect("no thread panicked"));
    }

    fn try_lock(&self) -> bool {
        let Ok(guard) = self.mutex().try_lock() else { return false };
        self.hold(guard);
        true
    }

    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        let guard = unsafe { (*self.guard.get()).take() };
        drop(guard);
    }
}

struct Host;

impl freehold::Platform for Host {
    type ZoneLock = CheckedLock;
    type PerCpuLock = CheckedLock;
    type Tracepoints = ();
    type Rule = ();
}

type Machine = Memory<'static, Host>;

/// Four pages in pageblocks of two, all free, with per-CPU lists of one page.
const PAGES: u64 = 4;

/// Runs `act` on a small machine in every interleaving.
fn check(preemptions: Option<usize>, act: impl Fn(&'static Machine) + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 20_000;
    builder.check(move || {
        let zones = [ZoneConfig {
            node: 0,
            kind: ZoneType::Normal,
            start: Pfn(0x400),
            spanned: PAGES,
            managed: PAGES,
            watermarks: Watermarks::default(),
            lowmem_reserve: [0; 6],
            percpu: PerCpuSettings { batch: 1, high_min: 2, high_max: 2, flush_needs_batch: false },
        }];
        let config = MemoryConfig {
            zones: &zones,
            sections: Sections::ALL,
            cpus: 2,
            max_order: Order::new(1).expect("an order"),
            pageblock_order: Order::new(1).expect("an order"),
            huge_pages: false,
            switches: Era::Freehold.switches(),
            watermark_boost_factor: None,
        };
        let bytes = vec![MaybeUninit::<u8>::uninit(); required_bytes::<Host>(&config)];
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: the bytes live until the end of this closure, and every thread that
        // `act` starts has ended by then.
        let memory = Machine::new(&config, unsafe { &mut *bytes }).expect("valid");
        memory.zones()[0].add_free(Pfn(0x400), PAGES).expect("absent frames");
        memory.check().expect("intact; every lock exists from here on");
        let memory = Box::into_raw(Box::new(memory));
        // SAFETY: as above.
        act(unsafe { &*memory });
        // SAFETY: no other reference to either exists any more.
        drop(unsafe { (Box::from_raw(memory), Box::from_raw(bytes)) });
    });
}

fn request(cpu: u16) -> Request {
    Request { cpu, node: 0, order: Order::ZERO, gfp: GfpFlags::HIGHUSER_MOVABLE }
}

fn all_is_back(memory: &Machine) {
    memory.drain_all();
    memory.check().expect("intact");
    assert_eq!(memory.zones()[0].free_pages(), PAGES);
}

#[test]
fn one_of_two_racing_frees_succeeds() {
    check(None, |memory| {
        let pfn = memory.alloc(request(0), NoReclaim).expect("free pages");
        let other = thread::spawn(move || memory.free(1, pfn, Order::ZERO));
        let mine = memory.free(0, pfn, Order::ZERO);
        let theirs = other.join().expect("no panic");
        let lost = |result| matches!(result, Err(FreeError::AlreadyFree | FreeError::NotAllocated));
        assert!(mine.is_ok() && lost(theirs) || theirs.is_ok() && lost(mine), "{mine:?} {theirs:?}");
        all_is_back(memory);
    });
}

/// A free by an owner of a CPU's lists, in two ways, races with a free with locks.
#[test]
fn one_of_racing_owner_and_locked_frees_succeeds() {
    for free in [
        |memory: &Machine, pfn| memory.exclusive(0).expect("a CPU").free(pfn, Order::ZERO),
        |memory: &Machine, pfn| {
            let freed = memory.exclusive(0).expect("a CPU").free_batch(Order::ZERO, &[pfn]);
            freed.map_err(|(_, error)| error)
        },
    ] {
        check(Some(3), move |memory| {
            // The second page takes the fast path, if there is one.
            let [first, pfn] = [(); 2].map(|()| memory.alloc(request(0), NoReclaim).expect("free pages"));
            memory.exclusive(0).expect("a CPU").free(first, Order::ZERO).expect("allocated");
            let other = thread::spawn(move || memory.free(1, pfn, Order::ZERO));
            let mine = free(memory, pfn);
            let theirs = other.join().expect("no panic");
            let lost = |result| matches!(result, Err(FreeError::AlreadyFree | FreeError::NotAllocated));
            assert!(mine.is_ok() && lost(theirs) || theirs.is_ok() && lost(mine), "{mine:?} {theirs:?}");
            all_is_back(memory);
        });
    }
}

#[test]
fn a_cpu_frees_and_allocates_while_another_drains_it() {
    check(None, |memory| {
        let pfn = memory.alloc(request(0), NoReclaim).expect("free pages");
        let drainer = thread::spawn(move || memory.zones()[0].drain_cpu(0));
        memory.free(0, pfn, Order::ZERO).expect("allocated");
        let again = memory.alloc(request(0), NoReclaim).expect("free pages");
        drainer.join().expect("no panic");
        memory.check().expect("intact");
        memory.free(0, again, Order::ZERO).expect("allocated");
        all_is_back(memory);
    });
}

#[test]
fn a_consistent_reader_never_sees_half_a_hold() {
    check(None, |memory| {
        let zone = &memory.zones()[0];
        let free = |blocks: [u64; 2]| blocks[0] + 2 * blocks[1];
        let reader = thread::spawn(move || zone.counts_consistent(2));
        // The request splits a block of two pages. In one lock hold, the block leaves its list and a page enters
        // another.
        let pfn = memory.alloc(Request { order: Order::ZERO, ..request(1) }, NoReclaim).expect("free pages");
        if let Some(counts) = reader.join().expect("no panic") {
            assert!(counts.totals_agree(), "{counts:?}");
            let movable = [0, 1].map(|order| counts.by_type[order][Migratetype::Movable.index()]);
            assert!([[0, 2], [1, 1], [0, 1]].contains(&movable), "{movable:?}");
            assert!((PAGES - 2..=PAGES).contains(&free(movable)));
        }
        memory.free(1, pfn, Order::ZERO).expect("allocated");
        all_is_back(memory);
    });
}

/// The protocol of the counts with two numbers. Parameters select the fences and orderings.
fn two_counts(writer_fence: bool, reader_fence: bool, end: Ordering, begin: Ordering) {
    loom::model(move || {
        let shared = Arc::new([0; 3].map(AtomicU32::new));
        let writer = Arc::clone(&shared);
        let writing = thread::spawn(move || {
            let [sequence, a, b] = &*writer;
            sequence.store(1, Ordering::Relaxed);
            if writer_fence {
                fence(Ordering::Release);
            }
            a.store(1, Ordering::Relaxed);
            b.store(1, Ordering::Relaxed);
            sequence.store(2, end);
        });
        let [sequence, a, b] = &*shared;
        let before = sequence.load(begin);
        let seen = (a.load(Ordering::Relaxed), b.load(Ordering::Relaxed));
        if reader_fence {
            fence(Ordering::Acquire);
        }
        if before & 1 == 0 && sequence.load(Ordering::Relaxed) == before {
            assert_eq!(seen.0, seen.1, "a torn read was taken for a consistent one");
        }
        writing.join().expect("no panic");
    });
}

#[test]
fn counts_protocol_has_no_torn_reads() {
    two_counts(true, true, Ordering::Release, Ordering::Acquire);
}

#[test]
#[should_panic(expected = "torn read")]
fn a_writer_without_its_fence_is_caught() {
    two_counts(false, true, Ordering::Release, Ordering::Acquire);
}

#[test]
#[should_panic(expected = "torn read")]
fn a_reader_without_its_fence_is_caught() {
    two_counts(true, false, Ordering::Release, Ordering::Acquire);
}

#[test]
#[should_panic(expected = "torn read")]
fn an_end_without_release_is_caught() {
    two_counts(true, true, Ordering::Relaxed, Ordering::Acquire);
}

#[test]
#[should_panic(expected = "torn read")]
fn a_reader_without_acquire_is_caught() {
    two_counts(true, true, Ordering::Release, Ordering::Relaxed);
}
