//! The sums over all zones.

use crate::text::{field, kib, number};

/// Sums over all zones and nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Totals {
    /// Pages, by the kernel's names.
    pages: Vec<(&'static str, u64)>,
    /// Swap that is free. Units: KiB.
    pub(crate) swap_free_kib: Option<u64>,
    /// All swap. Units: KiB.
    pub(crate) swap_total_kib: Option<u64>,
    /// All pages of the machine.
    pub(crate) ram_pages: Option<u64>,
    /// Those of them that the kernel keeps from the allocator.
    pub(crate) reserved_pages: Option<u64>,
}

/// The kernel's names of what is counted in pages.
const NAMES: [&str; 17] = [
    "free:",
    "free_pcp:",
    "free_cma:",
    "active_anon:",
    "inactive_anon:",
    "active_file:",
    "inactive_file:",
    "active:",
    "inactive:",
    "unevictable:",
    "dirty:",
    "writeback:",
    "slab_reclaimable:",
    "slab_unreclaimable:",
    "mapped:",
    "shmem:",
    "pagetables:",
];

impl Totals {
    /// Takes what a line counts. Returns true if it counts anything.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let before = self.pages.len();
        for name in NAMES {
            if self.get(name).is_none()
                && let Some(pages) = pages(text, name)
            {
                self.pages.push((name, pages));
            }
        }
        let free = kib(text, "Free swap  =").or_else(|| kib(text, "Free swap ="));
        let total = kib(text, "Total swap =");
        let counted = |end: &str| text.strip_suffix(end).and_then(|number| number.trim().parse().ok());
        let ram = counted(" pages RAM").or_else(|| counted(" pages of RAM"));
        let reserved = counted(" pages reserved").or_else(|| counted(" reserved pages"));
        let found = free.or(total).or(ram).or(reserved).is_some();
        self.swap_free_kib = self.swap_free_kib.or(free);
        self.swap_total_kib = self.swap_total_kib.or(total);
        self.ram_pages = self.ram_pages.or(ram);
        self.reserved_pages = self.reserved_pages.or(reserved);
        found || self.pages.len() > before
    }

    /// Returns the pages of a name such as `free:`, or `None` if the text does not count them.
    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.pages.iter().find(|(known, _)| *known == name).map(|&(_, pages)| pages)
    }

    /// Returns the pages of page cache.
    pub(crate) fn page_cache(&self) -> Option<u64> {
        Some(self.get("active_file:")?.saturating_add(self.get("inactive_file:")?))
    }
}

/// Returns the number behind a name that has no unit.
fn pages(text: &str, name: &str) -> Option<u64> {
    let rest = field(text, name)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_unitless = matches!(rest.as_bytes().get(end), None | Some(b' '));
    if is_unitless { number(text, name) } else { None }
}
