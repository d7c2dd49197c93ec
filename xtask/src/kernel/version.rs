//! Where Debian keeps the kernels.

pub use freehold_oracle::KernelVersion;

/// The Debian package that has a kernel's source.
pub fn package_of(version: KernelVersion) -> String {
    format!("linux-source-{version}")
}

/// The Debian suite to ask when the machine's own suites have no such package.
pub(super) const fn suite_of(version: KernelVersion) -> &'static str {
    match version {
        KernelVersion::V6_1 => "bookworm",
        KernelVersion::V6_12 => "trixie",
        KernelVersion::V7_3 => "trixie-backports",
    }
}
