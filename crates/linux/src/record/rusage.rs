//! The CPU time of commands that have ended.
//!
//! Unsafe island: `getrusage`, for which no safe interface is in use here. Other sources round to
//! hundredths of a second.
#![expect(unsafe_code, reason = "getrusage has no safe form here")]

use std::mem::MaybeUninit;

/// Returns user and system time of this process's children that were waited for, and of theirs.
///
/// Units: nanoseconds.
pub(super) fn children_cpu_ns() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a `rusage` of this function's own, which the call fills.
    let answer = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) };
    if answer != 0 {
        return 0;
    }
    // SAFETY: all-zero bytes are a valid `rusage`, and the call has written one.
    let usage = unsafe { usage.assume_init() };
    let nanos = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    nanos(usage.ru_utime) + nanos(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_was_waited_for_counts() {
        let before = children_cpu_ns();
        let count = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let status = std::process::Command::new("sh").args(["-c", count]).status().unwrap();
        assert!(status.success());
        assert!(children_cpu_ns() > before);
    }
}
