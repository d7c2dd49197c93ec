//! The kernels that the series is for.

use crate::kernel::KernelVersion;

/// The kernels that the series is for.
pub const KERNELS: [KernelVersion; 2] = [KernelVersion::V6_12, KernelVersion::V7_3];

/// Returns the kernels' names, separated by `between`.
pub(super) fn names(between: &str) -> String {
    KERNELS.map(KernelVersion::name).join(between)
}

/// Returns the kernel of a name, if the series is for it.
pub(super) fn from_name(name: &str) -> Option<KernelVersion> {
    KERNELS.into_iter().find(|version| version.name() == name)
}
