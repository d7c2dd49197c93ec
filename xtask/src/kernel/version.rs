//! Debian's packages of the kernels.

pub use freehold_oracle::KernelVersion;

/// Returns the Debian package with a kernel's source.
pub fn package_of(version: KernelVersion) -> String {
    format!("linux-source-{version}")
}

/// Returns the Debian suite with this package, if the machine's own suites lack it.
pub(super) const fn suite_of(version: KernelVersion) -> &'static str {
    match version {
        KernelVersion::V6_1 => "bookworm",
        KernelVersion::V6_12 => "trixie",
        KernelVersion::V7_3 => "trixie-backports",
    }
}
