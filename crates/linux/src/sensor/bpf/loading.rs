//! Loading BPF objects, and why the kernel refuses one.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use libbpf_rs::{ErrorKind, ObjectBuilder, OpenObject, PrintLevel, set_print};

use crate::error::BpfError;

/// The kernel's type information.
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// The warnings of libbpf about the object that is being loaded.
static WARNINGS: Mutex<String> = Mutex::new(String::new());

/// The most bytes of the warnings that an error quotes.
const QUOTED_BYTES: usize = 400;

/// Opens a compiled object, which is not loaded yet.
///
/// # Errors
/// If the kernel has no type information, or the object is damaged.
pub(crate) fn open_object(object: &[u8]) -> Result<OpenObject, BpfError> {
    if !Path::new(BTF).exists() {
        return Err(BpfError::NoBtf { path: BTF });
    }
    // Without a callback libbpf prints its messages to standard error.
    set_print(Some((PrintLevel::Warn, |_, text| {
        let mut warnings = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
        if warnings.len() < QUOTED_BYTES {
            warnings.push_str(text.lines().next().unwrap_or_default());
            warnings.push_str("; ");
        }
    })));
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    ObjectBuilder::default().open_memory(object).map_err(|e| refusal(&e))
}

/// Returns why the kernel did not load the object, by the kernel's answer.
pub(crate) fn refusal(error: &libbpf_rs::Error) -> BpfError {
    let warnings = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if error.kind() == ErrorKind::PermissionDenied && !may_load() {
        return BpfError::NotPermitted { detail: error.to_string() };
    }
    BpfError::Refused { detail: format!("{error}: {}", warnings.trim_end_matches("; ")) }
}

/// Returns true if this process has `CAP_BPF` and `CAP_PERFMON`, or `CAP_SYS_ADMIN`, which includes both.
///
/// EACCES alone does not show a missing capability: the verifier also returns it for a program that it
/// rejects.
fn may_load() -> bool {
    const SYS_ADMIN: u64 = 1 << 21;
    const PERFMON_AND_BPF: u64 = 1 << 38 | 1 << 39;
    let locked = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let has = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let has = has.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    !locked.contains("[confidentiality]")
        && (has & SYS_ADMIN != 0 || has & PERFMON_AND_BPF == PERFMON_AND_BPF)
}
