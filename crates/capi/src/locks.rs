//! The engine's locks: spin locks, or the caller's own locks through functions.
#![expect(unsafe_code, reason = "implementations of RawMutex, and calls of the caller's functions")]

use core::hint;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use lock_api::{GuardNoSend, RawMutex};

use crate::status::FreeholdStatus;

/// The memory of one lock. All words are 0 at first, which must mean unlocked. The address does not change.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdLock {
    /// The words belong to the caller from the first call of one of its functions on.
    pub words: [usize; 4],
}

/// The functions of the caller's own locks. None may be null.
///
/// The thread that took locks releases them, in the reverse order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdLockFunctions {
    /// Takes a lock, and waits for it.
    pub lock: Option<unsafe extern "C" fn(lock: *mut FreeholdLock)>,
    /// Takes a lock if it is free. Returns true if it took the lock.
    pub try_lock: Option<unsafe extern "C" fn(lock: *mut FreeholdLock) -> bool>,
    /// Releases a lock.
    pub unlock: Option<unsafe extern "C" fn(lock: *mut FreeholdLock)>,
}

/// The engine's locks for C.
#[derive(Debug)]
pub(crate) struct CPlatform;

impl freehold::Platform for CPlatform {
    type ZoneLock = RawLock<OfZones>;
    type PerCpuLock = RawLock<OfCpus>;
    type Tracepoints = ();
    type Rule = ();
}

/// The kind of a lock: of zones or of CPUs' lists.
pub(crate) trait Kind: Send + Sync + 'static {
    /// The functions of this kind's locks; null for spin locks.
    fn functions() -> &'static AtomicPtr<FreeholdLockFunctions>;
}

/// The locks of zones' free lists.
#[derive(Debug)]
pub(crate) struct OfZones;

/// The locks of CPUs' lists.
#[derive(Debug)]
pub(crate) struct OfCpus;

impl Kind for OfZones {
    fn functions() -> &'static AtomicPtr<FreeholdLockFunctions> {
        static FUNCTIONS: AtomicPtr<FreeholdLockFunctions> = AtomicPtr::new(ptr::null_mut());
        &FUNCTIONS
    }
}

impl Kind for OfCpus {
    fn functions() -> &'static AtomicPtr<FreeholdLockFunctions> {
        static FUNCTIONS: AtomicPtr<FreeholdLockFunctions> = AtomicPtr::new(ptr::null_mut());
        &FUNCTIONS
    }
}

/// True after a memory was set up. Its locks must not change.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Makes all memories of the program use the caller's locks: `zone` for zones' free lists, `percpu` for CPUs' lists.
/// Null stands for spin locks that leave interrupts on, which is the default for both. The function must be called
/// before any other thread uses the library, and before the first `freehold_new`. Later it returns
/// `FREEHOLD_STATUS_ALREADY_SET_UP`.
///
/// If interrupts use the memory, the zone lock must turn them off while it is held. The lock of CPUs' lists need not:
/// functions that an interrupt may call only try it.
///
/// # Safety
/// Both pointers refer to functions that exclude two callers from each other, and live as long as the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freehold_use_locks(
    zone: *const FreeholdLockFunctions,
    percpu: *const FreeholdLockFunctions,
) -> FreeholdStatus {
    if IN_USE.load(Ordering::Relaxed) {
        return FreeholdStatus::AlreadySetUp;
    }
    for functions in [zone, percpu] {
        // SAFETY: by the caller.
        if let Some(given) = unsafe { functions.as_ref() }
            && (given.lock.is_none() || given.try_lock.is_none() || given.unlock.is_none())
        {
            return FreeholdStatus::NullPointer;
        }
    }
    // Pairs with the Acquire in `RawLock::functions`.
    OfZones::functions().store(zone.cast_mut(), Ordering::Release);
    OfCpus::functions().store(percpu.cast_mut(), Ordering::Release);
    FreeholdStatus::Ok
}

/// Makes `freehold_use_locks` refuse all later calls.
pub(crate) fn settle() {
    IN_USE.store(true, Ordering::Relaxed);
}

/// A lock in the caller's words. Without functions the first word is 1 while the lock is held.
pub(crate) struct RawLock<K> {
    words: [AtomicUsize; 4],
    kind: PhantomData<K>,
}

impl<K: Kind> RawLock<K> {
    fn functions() -> Option<&'static FreeholdLockFunctions> {
        // Pairs with the Release in `freehold_use_locks`.
        let functions = K::functions().load(Ordering::Acquire);
        // SAFETY: null or functions that live as long as the program, by the caller of `freehold_use_locks`.
        unsafe { functions.as_ref() }
    }

    fn room(&self) -> *mut FreeholdLock {
        ptr::from_ref(&self.words).cast_mut().cast()
    }

    fn try_spin(&self) -> bool {
        let word = &self.words[0];
        word.load(Ordering::Relaxed) == 0
            && word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: the exchange from 0 to 1 succeeds for one caller until `unlock`, whose Release it pairs with; the caller's
// functions exclude two callers from each other, as `freehold_use_locks` requires.
unsafe impl<K: Kind> RawMutex for RawLock<K> {
    const INIT: Self = Self { words: [const { AtomicUsize::new(0) }; 4], kind: PhantomData };

    type GuardMarker = GuardNoSend;

    fn lock(&self) {
        if let Some(lock) = Self::functions().and_then(|functions| functions.lock) {
            // SAFETY: the words belong to this lock, and the function is for locks of this kind.
            return unsafe { lock(self.room()) };
        }
        while !self.try_spin() {
            hint::spin_loop();
        }
    }

    fn try_lock(&self) -> bool {
        match Self::functions().and_then(|functions| functions.try_lock) {
            // SAFETY: as in `lock`.
            Some(try_lock) => unsafe { try_lock(self.room()) },
            None => self.try_spin(),
        }
    }

    unsafe fn unlock(&self) {
        match Self::functions().and_then(|functions| functions.unlock) {
            // SAFETY: as in `lock`; the caller holds the lock.
            Some(unlock) => unsafe { unlock(self.room()) },
            None => self.words[0].store(0, Ordering::Release),
        }
    }
}
