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
    /// Linux 7.3 with the patch series `tidying` turned on.
    V7_3Tidying,
}

impl KernelVersion {
    /// Every kernel, oldest first.
    pub const ALL: [Self; 4] = [Self::V6_1, Self::V6_12, Self::V7_3, Self::V7_3Tidying];

    /// Returns the name: the first two numbers of the release, and the patch series if the kernel has one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::V7_3 => "7.3",
            Self::V7_3Tidying => "7.3-tidying",
        }
    }

    /// Returns the patch series of the kernel: the name of a folder of `kernel/series`.
    pub const fn series(self) -> Option<&'static str> {
        match self {
            Self::V6_1 | Self::V6_12 | Self::V7_3 => None,
            Self::V7_3Tidying => Some("tidying"),
        }
    }

    /// Returns the engine's era for this kernel.
    pub const fn era(self) -> Era {
        match self {
            Self::V6_1 => Era::Linux6_1,
            Self::V6_12 => Era::Linux6_12,
            Self::V7_3 => Era::Linux7_3,
            Self::V7_3Tidying => Era::Linux7_3Tidying,
        }
    }

    /// Returns the kernel of a release, as `uname -r` prints it. A kernel with a patch series has the name of the
    /// series at the end of its release.
    pub fn of_release(release: &str) -> Option<Self> {
        let mut numbers = release.split(['.', '-']);
        let (major, minor) = (numbers.next()?, numbers.next()?);
        let has = |series: &str| release.rsplit('-').next() == Some(series);
        let series = Self::ALL.into_iter().filter_map(Self::series).find(|series| has(series));
        let of_series = series.map_or_else(String::new, |series| format!("-{series}"));
        let name = format!("{major}.{minor}{of_series}");
        Self::ALL.into_iter().find(|kernel| kernel.name() == name)
    }

    /// Returns the most CPUs of this kernel under User-Mode Linux.
    pub const fn most_cpus(self) -> u16 {
        match self {
            Self::V6_1 | Self::V6_12 => 1,
            Self::V7_3 | Self::V7_3Tidying => 2,
        }
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a name that is not the name of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is none of the kernels that an era follows: 6.1, 6.12, 7.3, 7.3-tidying")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_release_reads_version_and_series() {
        let of = |release| KernelVersion::of_release(release);
        assert_eq!(of("7.3.4"), Some(KernelVersion::V7_3));
        assert_eq!(of("7.3.4-tidying"), Some(KernelVersion::V7_3Tidying));
        assert_eq!(of("7.3.4-rc1-tidying"), Some(KernelVersion::V7_3Tidying));
        assert_eq!(of("6.12.90"), Some(KernelVersion::V6_12));
        assert_eq!((of("6.12.90-tidying"), of("7.2.1"), of("7")), (None, None, None));
    }

    #[test]
    fn name_ends_with_the_series() {
        for kernel in KernelVersion::ALL {
            let series = kernel.name().split_once('-').map(|(_, series)| series);
            assert_eq!(kernel.series(), series, "{kernel}");
            assert_eq!(kernel.name().parse(), Ok(kernel));
        }
    }
}
