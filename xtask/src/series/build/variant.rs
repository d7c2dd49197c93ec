//! The variants of the series.

use std::collections::BTreeSet;
use std::fmt;

use clap::ValueEnum;

/// A variant: how the kernel counts free blocks by type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ValueEnum)]
pub enum Variant {
    /// Linux as it is, the series not applied
    Vanilla,
    /// The series applied and switched off
    Off,
    /// Counts beside the total
    Beside,
    /// Counts, and the total derived from them
    Derived,
}

/// The options of the Kconfig choice, in the order of the variants with the series.
const CHOICE: [&str; 3] = ["FREE_COUNTS_OFF", "FREE_COUNTS_BESIDE_TOTAL", "FREE_COUNTS_DERIVED_TOTAL"];

impl Variant {
    /// Every variant, the least changed first.
    pub const ALL: [Self; 4] = [Self::Vanilla, Self::Off, Self::Beside, Self::Derived];

    /// Returns the name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vanilla => "vanilla",
            Self::Off => "off",
            Self::Beside => "beside",
            Self::Derived => "derived",
        }
    }

    /// Returns true if the series is applied.
    pub const fn has_series(self) -> bool {
        !matches!(self, Self::Vanilla)
    }

    /// Returns true if the kernel has counts that can be tested and checked.
    pub(in crate::series) const fn has_counts(self) -> bool {
        matches!(self, Self::Beside | Self::Derived)
    }

    /// Returns the options that select the variant.
    pub(super) fn options(self) -> BTreeSet<String> {
        let options: &[&str] = if self.has_series() { &CHOICE } else { &[] };
        options.iter().map(|option| (*option).to_owned()).collect()
    }

    /// Returns the variant's lines of the kernel's configuration.
    pub fn configuration(self) -> Vec<String> {
        let chosen = match self {
            Self::Vanilla => return Vec::new(),
            Self::Off => CHOICE[0],
            Self::Beside => CHOICE[1],
            Self::Derived => CHOICE[2],
        };
        let others = CHOICE.iter().filter(|option| **option != chosen);
        let mut lines = vec![format!("CONFIG_{chosen}=y")];
        lines.extend(others.map(|option| format!("# CONFIG_{option} is not set")));
        lines
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_one_option_of_the_choice() {
        assert!(Variant::Vanilla.configuration().is_empty());
        assert_eq!(
            Variant::Beside.configuration(),
            [
                "CONFIG_FREE_COUNTS_BESIDE_TOTAL=y",
                "# CONFIG_FREE_COUNTS_OFF is not set",
                "# CONFIG_FREE_COUNTS_DERIVED_TOTAL is not set"
            ]
        );
    }
}
