//! The clocks of recordings.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time of `CLOCK_MONOTONIC`, which is tracefs's clock `mono`, in nanoseconds.
pub(super) fn monotonic_ns() -> u64 {
    nanos(ClockId::Monotonic)
}

/// Returns the user and system time of this process in nanoseconds.
pub(super) fn process_cpu_ns() -> u64 {
    nanos(ClockId::ProcessCPUTime)
}

fn nanos(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}
