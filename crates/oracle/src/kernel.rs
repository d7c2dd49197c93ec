//! The kernels that the engine is compared with.

use std::fmt;
use std::str::FromStr;

use freehold::Era;

/// A kernel that the oracle is built for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KernelVersion {
    /// Linux 6.1.
    V6_1,
    /// Linux 6.12.
    V6_12,
    /// Linux 7.3.
    V7_3,
}

impl KernelVersion {
    /// Every version, oldest first.
    pub const ALL: [Self; 3] = [Self::V6_1, Self::V6_12, Self::V7_3];

    /// Returns the first two numbers of the release.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::V7_3 => "7.3",
        }
    }

    /// Returns the engine's era for this kernel.
    pub const fn era(self) -> Era {
        match self {
            Self::V6_1 => Era::Linux6_1,
            Self::V6_12 => Era::Linux6_12,
            Self::V7_3 => Era::Linux7_3,
        }
    }

    /// Returns the version of a release as `uname -r` prints it.
    pub fn of_release(release: &str) -> Option<Self> {
        let mut numbers = release.split(['.', '-']);
        let (major, minor) = (numbers.next()?, numbers.next()?);
        Self::ALL.into_iter().find(|kernel| kernel.name() == format!("{major}.{minor}"))
    }

    /// Returns the most CPUs of this kernel under User-Mode Linux.
    pub const fn most_cpus(self) -> u16 {
        match self {
            Self::V6_1 | Self::V6_12 => 1,
            Self::V7_3 => 2,
        }
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is not that of a kernel with an era.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is none of the kernels that an era follows: 6.1, 6.12, 7.3")]
pub struct UnknownKernel(String);

impl FromStr for KernelVersion {
    type Err = UnknownKernel;

    fn from_str(text: &str) -> Result<Self, UnknownKernel> {
        Self::ALL
            .into_iter()
            .find(|kernel| kernel.name() == text)
            .ok_or_else(|| UnknownKernel(text.to_owned()))
    }
}
