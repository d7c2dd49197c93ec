//! A memory in a `static`.
#![expect(unsafe_code, reason = "hands out a value that was written after the static came into being")]

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering};

use super::config::MemoryConfig;
use super::state::Memory;
use crate::types::{Platform, SetupError};

/// A [`Memory`] for a `static`. The `static` exists before the memory is set up.
///
/// ```
/// use core::mem::MaybeUninit;
/// use freehold::{MemoryConfig, Pfn, StaticMemory, Sysctls, ZoneConfig, ZoneType, required_bytes};
///
/// struct Host;
///
/// impl freehold::Platform for Host {
///     type ZoneLock = parking_lot::RawMutex;
///     type PerCpuLock = parking_lot::RawMutex;
///     type Tracepoints = ();
///     type Rule = ();
/// }
/// static MEMORY: StaticMemory<Host> = StaticMemory::new();
///
/// let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0x400), 8192)];
/// Sysctls::linux(2).apply(&mut zones);
/// let config = MemoryConfig::linux(&zones, 2);
/// let metadata = Box::leak(vec![MaybeUninit::uninit(); required_bytes::<Host>(&config)].into());
/// MEMORY.set_up(&config, metadata, &())?;
///
/// let memory = MEMORY.get().expect("it was set up");
/// memory.zones()[0].add_free(Pfn(0x400), 8192)?;
/// # Ok::<(), freehold::SetupError>(())
/// ```
pub struct StaticMemory<P: Platform + 'static> {
    /// [`EMPTY`], [`BUSY`] or [`READY`]. Invariant: if the state is [`READY`], `memory` is initialized, and the state
    /// never changes again. Only the caller that set the state to [`BUSY`] writes `memory`.
    state: AtomicU8,
    memory: UnsafeCell<MaybeUninit<Memory<'static, P>>>,
}

const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const READY: u8 = 2;

// SAFETY: all threads read the memory, so it must be `Sync`. One thread writes it before the state becomes READY for
// the others. That thread need not be the one that drops it, so it must be `Send`.
unsafe impl<P: Platform + 'static> Sync for StaticMemory<P> where Memory<'static, P>: Sync + Send {}

impl<P: Platform + 'static> StaticMemory<P> {
    /// Returns a memory that is not set up.
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), memory: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Sets the memory up as [`Memory::with_tracepoints`] does, and returns it. An interrupt may call this function.
    ///
    /// # Errors
    /// [`SetupError::AlreadySetUp`] if the memory is set up, or another caller is setting it up; others as
    /// [`Memory::with_tracepoints`]. A failed call changes nothing.
    pub fn set_up(
        &self,
        config: &MemoryConfig<'_>,
        metadata: &'static mut [MaybeUninit<u8>],
        tracepoints: &'static P::Tracepoints,
    ) -> Result<&Memory<'static, P>, SetupError>
    where
        P: Platform<Rule = ()>,
    {
        self.set_up_with_policy(config, metadata, tracepoints, &())
    }

    /// Sets the memory up as [`Memory::with_policy`] does, and returns it. An interrupt may call this function.
    ///
    /// # Errors
    /// As [`StaticMemory::set_up`].
    pub fn set_up_with_policy(
        &self,
        config: &MemoryConfig<'_>,
        metadata: &'static mut [MaybeUninit<u8>],
        tracepoints: &'static P::Tracepoints,
        rule: &'static P::Rule,
    ) -> Result<&Memory<'static, P>, SetupError> {
        self.state
            .compare_exchange(EMPTY, BUSY, Ordering::Relaxed, Ordering::Relaxed)
            .map_err(|_| SetupError::AlreadySetUp)?;
        match Memory::with_policy(config, metadata, tracepoints, rule) {
            Ok(memory) => {
                // SAFETY: only the caller that made the state BUSY gets here, and no caller reads before it is READY.
                let memory = unsafe { (*self.memory.get()).write(memory) };
                // Pairs with the Acquire in `get`.
                self.state.store(READY, Ordering::Release);
                Ok(memory)
            }
            Err(error) => {
                self.state.store(EMPTY, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    /// Returns the memory, or `None` until it is set up.
    #[inline]
    pub fn get(&self) -> Option<&Memory<'static, P>> {
        // Pairs with the Release in `set_up`.
        let is_ready = self.state.load(Ordering::Acquire) == READY;
        // SAFETY: the memory was written before the state became READY, and no caller writes it again.
        is_ready.then(|| unsafe { (*self.memory.get()).assume_init_ref() })
    }
}

impl<P: Platform + 'static> Default for StaticMemory<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform + 'static> fmt::Debug for StaticMemory<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticMemory").field("is_set_up", &self.get().is_some()).finish_non_exhaustive()
    }
}
