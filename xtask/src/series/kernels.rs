//! The kernels that the series is for.

use crate::kernel::KernelVersion;

/// The kernels that the series is for.
pub const KERNELS: [KernelVersion; 2] = [KernelVersion::V6_12, KernelVersion::V7_3];

/// The names of the kernels with `between` between two of them.
pub(super) fn names(between: &str) -> String {
    KERNELS.map(KernelVersion::name).join(between)
}

/// The kernel of a name, if the series is for it.
pub(super) fn from_name(name: &str) -> Option<KernelVersion> {
    KERNELS.into_iter().find(|version| version.name() == name)
}
