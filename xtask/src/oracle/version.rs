//! The kernels whose allocators are asked.

use std::fmt;
use std::str::FromStr;

/// A series of Linux that the oracle can be built into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KernelVersion {
    /// Before the per-migratetype accounting was made strict.
    V6_1,
    /// With strict accounting and automatic per-CPU limits.
    V6_12,
    /// With several CPUs in User-Mode Linux.
    V7_3,
}

impl KernelVersion {
    /// All of them, oldest first.
    pub const ALL: [Self; 3] = [Self::V6_1, Self::V6_12, Self::V7_3];

    /// The number as people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::V7_3 => "7.3",
        }
    }

    /// How many CPUs a script may use.
    pub const fn most_cpus(self) -> u16 {
        match self {
            Self::V6_1 | Self::V6_12 => 1,
            Self::V7_3 => 2,
        }
    }

    /// The Debian package that has the source.
    pub fn package(self) -> String {
        format!("linux-source-{self}")
    }

    /// The Debian suite to ask when the machine's own suites have no such package.
    pub(crate) const fn suite(self) -> &'static str {
        match self {
            Self::V6_1 => "bookworm",
            Self::V6_12 => "trixie",
            Self::V7_3 => "trixie-backports",
        }
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A number that is none of the known series.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no oracle for Linux {0}; it can be built into 6.1, 6.12 and 7.3")]
pub struct UnknownVersion(String);

impl FromStr for KernelVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|version| version.name() == text);
        known.ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for version in KernelVersion::ALL {
            assert_eq!(version.to_string().parse(), Ok(version));
        }
        let error = "6.6".parse::<KernelVersion>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no oracle for Linux 6.6; it can be built into 6.1, 6.12 and 7.3"
        );
    }
}
