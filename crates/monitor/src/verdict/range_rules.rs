//! What a kernel does to empty a contiguous range.

use freehold_linux::procfs::release_numbers;

/// The rules by which a kernel makes contiguous ranges for gigantic pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RangeRules {
    /// True if pages in use are moved away; before Linux 5.13 only ranges without any are taken.
    ///
    /// Source: "`mm,page_alloc: drop unnecessary checks from pfn_range_valid_contig`".
    pub in_use: bool,
    /// True if huge pages smaller than the range are moved, since Linux 7.0; before, ranges with any
    /// are left alone.
    ///
    /// Source: "`page_alloc: allow migration of smaller hugepages during contig_alloc`".
    pub hugetlb: bool,
    /// True if gigantic pages may lie in the zone Movable: `vm.movable_gigantic_pages`.
    pub movable_zone: bool,
}

impl Default for RangeRules {
    fn default() -> Self {
        Self { in_use: true, hugetlb: false, movable_zone: false }
    }
}

impl RangeRules {
    /// Returns the rules of a kernel's release, such as `6.18.44-arm64`; today's if it is unknown.
    pub fn of_release(release: &str, movable_zone: bool) -> Self {
        let version = release_numbers(release);
        let since = |from| version.is_some_and(|version| version >= from);
        Self { in_use: version.is_none() || since((5, 13)), hugetlb: since((7, 0)), movable_zone }
    }

    /// Returns true if ranges of a zone of this name are given to requests for a gigantic page.
    pub(super) fn uses_zone(self, name: &str) -> bool {
        match name {
            "Device" => false,
            "Movable" => self.movable_zone,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_rules() {
        let rules = |release| {
            let rules = RangeRules::of_release(release, false);
            (rules.in_use, rules.hugetlb)
        };
        assert_eq!(rules("5.10.0-46-amd64"), (false, false));
        assert_eq!(rules("5.13.1"), (true, false));
        assert_eq!(rules("6.18.44-fc-v782"), (true, false));
        assert_eq!(rules("7.0.0-rc1"), (true, true));
        assert_eq!(rules("unknown"), (true, false));
        assert!(!RangeRules::default().uses_zone("Movable") && !RangeRules::default().uses_zone("Device"));
        assert!(RangeRules::of_release("7.3.4", true).uses_zone("Movable"));
    }
}
