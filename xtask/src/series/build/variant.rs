//! The variants of the series.

use std::fmt;

use clap::ValueEnum;

/// A variant: how the kernel counts free blocks by type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ValueEnum)]
pub enum Variant {
    /// Linux as it is, the series not applied
    Vanilla,
    /// Counts beside the total: the series and a patch of the harness
    Beside,
    /// The series: counts, and the total derived from them
    Derived,
}

/// The harness's option for counts beside the total.
const BESIDE: &str = "FREE_COUNTS_BESIDE_TOTAL";

impl Variant {
    /// Every variant, the least changed first.
    pub const ALL: [Self; 3] = [Self::Vanilla, Self::Beside, Self::Derived];

    /// Returns the name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vanilla => "vanilla",
            Self::Beside => "beside",
            Self::Derived => "derived",
        }
    }

    /// Returns true if the series is applied, so that there are counts that can be tested and checked.
    pub const fn has_series(self) -> bool {
        !matches!(self, Self::Vanilla)
    }

    /// Returns the variant's line of the kernel's configuration.
    pub fn configuration(self) -> Option<String> {
        match self {
            Self::Vanilla => None,
            Self::Beside => Some(format!("CONFIG_{BESIDE}=y")),
            Self::Derived => Some(format!("# CONFIG_{BESIDE} is not set")),
        }
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
    fn a_variant_is_an_option() {
        assert_eq!(Variant::Vanilla.configuration(), None);
        assert_eq!(Variant::Beside.configuration().as_deref(), Some("CONFIG_FREE_COUNTS_BESIDE_TOTAL=y"));
        let off = "# CONFIG_FREE_COUNTS_BESIDE_TOTAL is not set";
        assert_eq!(Variant::Derived.configuration().as_deref(), Some(off));
    }
}
