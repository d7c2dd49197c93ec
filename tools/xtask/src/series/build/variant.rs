//! The variants of a series.

use std::fmt;

use clap::ValueEnum;

/// A variant of a kernel: the parts of a series that it has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ValueEnum)]
pub enum Variant {
    /// Unchanged Linux, without the series
    Vanilla,
    /// The series counts with the harness's patch that also keeps the total
    Beside,
    /// The series counts, which derives the total from the counts
    Derived,
    /// The series counts with the harness's patch that puts masks beside the free lists
    ByLists,
    /// Any other series
    Patched,
}

/// The harness's option for counts beside the total.
const BESIDE: &str = "FREE_COUNTS_BESIDE_TOTAL";

/// The harness's option for masks beside the first free lists.
const BY_LISTS: &str = "FREE_ORDERS_BY_LISTS";

impl Variant {
    /// Every variant, the least changed first.
    pub const ALL: [Self; 5] = [Self::Vanilla, Self::Beside, Self::Derived, Self::ByLists, Self::Patched];

    /// Returns the default variants of a series, the least changed first.
    pub fn of(series: &str) -> &'static [Self] {
        if series == "counts" { &Self::ALL[..3] } else { &[Self::Vanilla, Self::Patched] }
    }

    /// Returns the name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vanilla => "vanilla",
            Self::Beside => "beside",
            Self::Derived => "derived",
            Self::ByLists => "by-lists",
            Self::Patched => "patched",
        }
    }

    /// Returns true if the series is applied.
    pub const fn has_series(self) -> bool {
        !matches!(self, Self::Vanilla)
    }

    /// Returns true if free blocks are counted by type, so that the counts can be tested.
    pub const fn has_counts(self) -> bool {
        matches!(self, Self::Beside | Self::Derived | Self::ByLists)
    }

    /// Returns the `KUnit` suite of the variant's series.
    pub const fn suite(self) -> Option<&'static str> {
        match self {
            Self::Vanilla => None,
            Self::Beside | Self::Derived | Self::ByLists => Some("free_counts"),
            Self::Patched => Some("pageblock_tidying"),
        }
    }

    /// Returns the kernel parameter that enables the variant's work during a test.
    pub fn parameter(self, check_every: u64) -> String {
        match self {
            Self::Vanilla => String::new(),
            Self::Beside | Self::Derived | Self::ByLists => format!("free_counts.check_every={check_every}"),
            Self::Patched => "sysctl.vm.pageblock_tidying_pages=1000000".to_owned(),
        }
    }

    /// Returns the variant's lines of the kernel's configuration.
    pub fn configuration(self) -> Option<String> {
        if !self.has_counts() {
            return None;
        }
        let line = |option, is_on| {
            if is_on { format!("CONFIG_{option}=y\n") } else { format!("# CONFIG_{option} is not set\n") }
        };
        Some(line(BESIDE, self == Self::Beside) + &line(BY_LISTS, self == Self::ByLists))
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
    fn variants_set_their_options() {
        assert_eq!(Variant::Vanilla.configuration(), None);
        let on = |variant: Variant| {
            let lines = variant.configuration().expect("of the series counts");
            lines.lines().filter_map(|line| line.strip_suffix("=y")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(on(Variant::Beside), ["CONFIG_FREE_COUNTS_BESIDE_TOTAL"]);
        assert_eq!(on(Variant::ByLists), ["CONFIG_FREE_ORDERS_BY_LISTS"]);
        assert!(on(Variant::Derived).is_empty());
    }
}
