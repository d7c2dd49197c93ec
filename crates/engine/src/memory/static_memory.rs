//! A memory that a `static` holds.
#![expect(unsafe_code, reason = "hands out a value that was written after the static came into being")]

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering};

use super::config::MemoryConfig;
use super::state::Memory;
use crate::table::sync::Locks;
use crate::types::SetupError;

/// A [`Memory`] for a `static`, which exists before there is metadata to set it up with.
///
/// ```
/// use core::mem::MaybeUninit;
/// use freehold::{MemoryConfig, Pfn, StaticMemory, Sysctls, ZoneConfig, ZoneType, required_bytes};
///
/// type Locks = (parking_lot::RawMutex, parking_lot::RawMutex);
/// static MEMORY: StaticMemory<Locks> = StaticMemory::new();
///
/// let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0x400), 8192)];
/// Sysctls::linux(2).apply(&mut zones);
/// let config = MemoryConfig::linux(&zones, 2);
/// let metadata = Box::leak(vec![MaybeUninit::uninit(); required_bytes::<Locks>(&config)].into());
/// MEMORY.set_up(&config, metadata, &())?;
///
/// let memory = MEMORY.get().expect("it was set up");
/// memory.zones()[0].add_free(Pfn(0x400), 8192)?;
/// # Ok::<(), freehold::SetupError>(())
/// ```
pub struct StaticMemory<L: Locks + 'static> {
    /// [`EMPTY`], [`BUSY`] or [`READY`]. Invariant: `memory` is initialized if it is [`READY`], which it stays;
    /// only the caller that made it [`BUSY`] writes `memory`.
    state: AtomicU8,
    memory: UnsafeCell<MaybeUninit<Memory<'static, L>>>,
}

const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const READY: u8 = 2;

// SAFETY: all threads read the memory, which is `Sync`; the one that sets it up writes it before the others
// are told, and may be another than the one that drops it, which needs `Send`.
unsafe impl<L: Locks + 'static> Sync for StaticMemory<L> where Memory<'static, L>: Sync + Send {}

impl<L: Locks + 'static> StaticMemory<L> {
    /// Returns a memory that is not set up.
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), memory: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Sets the memory up as [`Memory::watched`] does, and returns it. An interrupt may call it.
    ///
    /// # Errors
    /// [`SetupError::AlreadySetUp`] if it is set up, or another caller is about to; others as
    /// [`Memory::watched`]. A call that failed leaves it as it was.
    pub fn set_up(
        &self,
        config: &MemoryConfig<'_>,
        metadata: &'static mut [MaybeUninit<u8>],
        tracepoints: &'static L::Tracepoints,
    ) -> Result<&Memory<'static, L>, SetupError>
    where
        L: Locks<Rule = ()>,
    {
        self.set_up_ruled(config, metadata, tracepoints, &())
    }

    /// Sets the memory up as [`Memory::ruled`] does, and returns it. An interrupt may call it.
    ///
    /// # Errors
    /// As [`StaticMemory::set_up`].
    pub fn set_up_ruled(
        &self,
        config: &MemoryConfig<'_>,
        metadata: &'static mut [MaybeUninit<u8>],
        tracepoints: &'static L::Tracepoints,
        rule: &'static L::Rule,
    ) -> Result<&Memory<'static, L>, SetupError> {
        self.state
            .compare_exchange(EMPTY, BUSY, Ordering::Relaxed, Ordering::Relaxed)
            .map_err(|_| SetupError::AlreadySetUp)?;
        match Memory::ruled(config, metadata, tracepoints, rule) {
            Ok(memory) => {
                // SAFETY: only the caller that made the state BUSY gets here, and nobody reads before it is READY.
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
    pub fn get(&self) -> Option<&Memory<'static, L>> {
        // Pairs with the Release in `set_up`.
        let is_ready = self.state.load(Ordering::Acquire) == READY;
        // SAFETY: the memory was written before the state became READY, and nobody writes it again.
        is_ready.then(|| unsafe { (*self.memory.get()).assume_init_ref() })
    }
}

impl<L: Locks + 'static> Default for StaticMemory<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: Locks + 'static> fmt::Debug for StaticMemory<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticMemory").field("is_set_up", &self.get().is_some()).finish_non_exhaustive()
    }
}
