//! The kernels whose source can be fetched, and its place on Debian's mirror.

use std::fmt;

/// A kernel whose source can be fetched. The engine's eras follow some of them: [`freehold_oracle::KernelVersion`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KernelVersion {
    /// Linux 6.1.
    V6_1,
    /// Linux 6.12.
    V6_12,
    /// Linux 6.18.
    V6_18,
    /// Linux 7.2.
    V7_2,
    /// Linux 7.3.
    V7_3,
}

impl KernelVersion {
    /// Every version, oldest first.
    pub const ALL: [Self; 5] = [Self::V6_1, Self::V6_12, Self::V6_18, Self::V7_2, Self::V7_3];

    /// Returns the first two numbers of the release.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::V6_18 => "6.18",
            Self::V7_2 => "7.2",
            Self::V7_3 => "7.3",
        }
    }

    /// Returns the version with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Returns the most CPUs of this kernel under User-Mode Linux.
    pub const fn most_cpus(self) -> u16 {
        match self {
            Self::V6_1 | Self::V6_12 | Self::V6_18 => 1,
            Self::V7_2 | Self::V7_3 => 2,
        }
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<freehold_oracle::KernelVersion> for KernelVersion {
    fn from(version: freehold_oracle::KernelVersion) -> Self {
        match version {
            freehold_oracle::KernelVersion::V6_1 => Self::V6_1,
            freehold_oracle::KernelVersion::V6_12 => Self::V6_12,
            freehold_oracle::KernelVersion::V7_3 | freehold_oracle::KernelVersion::V7_3Tidying => Self::V7_3,
        }
    }
}

/// The place of a package on Debian's mirror.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shelf {
    /// The first of these suites that has it; `None` stands for the machine's own suites.
    Suites(&'static [Option<&'static str>]),
    /// The archive's pool, which keeps files that no suite lists any more.
    Pool(PoolFile),
}

/// A file of the archive's pool. No signed list names it, so its checksum is kept here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PoolFile {
    /// The path below the archive's address.
    pub(super) path: &'static str,
    /// The SHA-256, as `sha256sum` prints it.
    pub(super) sha256: &'static str,
}

/// Returns the Debian package with a kernel's source.
pub fn package_of(version: KernelVersion) -> String {
    format!("linux-source-{version}")
}

/// Returns the place of this package.
pub(super) const fn shelf_of(version: KernelVersion) -> Shelf {
    match version {
        KernelVersion::V6_1 => Shelf::Suites(&[None, Some("bookworm")]),
        KernelVersion::V6_12 => Shelf::Suites(&[None, Some("trixie")]),
        KernelVersion::V6_18 => Shelf::Pool(PoolFile {
            path: "pool/main/l/linux/linux-source-6.18_6.18.15-1~bpo13+1_all.deb",
            sha256: "1638c9e5f4307c722231d8000e30cd2fa2fb71f55e081ff9eecfd0a756955c18",
        }),
        KernelVersion::V7_2 | KernelVersion::V7_3 => Shelf::Suites(&[Some("trixie-backports")]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let numbers = |version: KernelVersion| {
            let (major, minor) = version.name().split_once('.').unwrap();
            (major.parse::<u32>().unwrap(), minor.parse::<u32>().unwrap())
        };
        assert!(KernelVersion::ALL.is_sorted_by(|a, b| a < b && numbers(*a) < numbers(*b)));
    }

    #[test]
    fn only_whole_names_are_parsed() {
        for version in KernelVersion::ALL {
            assert_eq!(KernelVersion::from_name(version.name()), Some(version));
        }
        for name in ["6", "6.1 ", "6.1.50", "6.180", "7.20", "v7.3", ""] {
            assert_eq!(KernelVersion::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn versions_agree_with_those_of_the_oracle() {
        for version in freehold_oracle::KernelVersion::ALL {
            let own = KernelVersion::from(version);
            let number = version.name().split('-').next();
            assert_eq!((Some(own.name()), own.most_cpus()), (number, version.most_cpus()));
        }
    }

    #[test]
    fn pool_files_name_their_kernel_and_have_a_checksum() {
        for version in KernelVersion::ALL {
            let Shelf::Pool(PoolFile { path, sha256 }) = shelf_of(version) else { continue };
            let begins = format!("pool/main/l/linux/{}_{version}.", package_of(version));
            assert!(path.starts_with(&begins) && path.ends_with("_all.deb"), "{path}");
            assert!(
                sha256.len() == 64 && sha256.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')),
                "{sha256}"
            );
        }
    }
}
