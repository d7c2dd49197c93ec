//! Code that may have allocated the objects of a slab cache, by their size.

use freehold_linux::procfs::AllocationSite;

/// Returns the size of the objects of a cache of `kmalloc`, by what the table calls it: those of `slab kmalloc-cg-1k` have 1024 bytes.
///
/// Other caches say by their name what they are for.
pub(super) fn object_bytes(what: &str) -> Option<u64> {
    let (_, name) = what.strip_prefix("slab ")?.split_once("kmalloc-")?;
    let size = name.rsplit_once('-').map_or(name, |(_, size)| size);
    let (digits, unit) = size.strip_suffix('k').map_or((size, 1), |digits| (digits, 1024));
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Returns the functions of at most `most` of the `sites` that have objects of `bytes` in use and of no other size, in their order.
///
/// A site whose sizes differ may be the culprit, too.
pub(super) fn of_size<'a>(
    sites: impl Iterator<Item = &'a AllocationSite>,
    bytes: u64,
    most: usize,
) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for site in sites.filter(|site| site.calls > 0 && Some(site.bytes) == site.calls.checked_mul(bytes)) {
        if found.len() < most && !found.contains(&site.function.as_str()) {
            found.push(&site.function);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_of_kmalloc_has_its_size_in_its_name() {
        for (what, bytes) in [
            ("slab kmalloc-8", Some(8)),
            ("slab kmalloc-cg-1k", Some(1024)),
            ("slab kmalloc-rnd-05-192", Some(192)),
            ("slab dma-kmalloc-8k", Some(8192)),
            ("slab kmalloc-cg", None),
            ("slab kmalloc-18446744073709551615k", None),
            ("slab dentry", None),
            ("slab", None),
            ("kernel pages", None),
        ] {
            assert_eq!(object_bytes(what), bytes, "{what}");
        }
    }

    #[test]
    fn code_with_objects_of_another_size_is_left_out() {
        let site = |function: &str, bytes, calls| AllocationSite {
            function: function.to_owned(),
            bytes,
            calls,
            ..AllocationSite::default()
        };
        let sites = [
            site("same", 1024, 1),
            site("other", 2048, 1),
            site("again", 4096, 4),
            site("same", 2048, 2),
            site("mixed", 2049, 2),
            site("none", 0, 0),
            site("last", 1024, 1),
        ];
        assert_eq!(of_size(sites.iter(), 1024, 9), ["same", "again", "last"]);
        assert_eq!(of_size(sites.iter(), 1024, 2), ["same", "again"]);
        assert!(of_size(sites.iter(), 8, 9).is_empty());
    }
}
