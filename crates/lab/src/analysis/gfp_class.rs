//! Classes of requests, derived from their flags.

use freehold::GfpFlags;

/// Flags that describe how a page is allocated, not its purpose.
const MANNERS: GfpFlags = GfpFlags::ZERO
    .union(GfpFlags::ZEROTAGS)
    .union(GfpFlags::COMP)
    .union(GfpFlags::NOWARN)
    .union(GfpFlags::NO_OBJ_EXT);

/// Flags that readahead adds to those of a mapping. Linux counterpart: `readahead_gfp_mask`.
const READAHEAD: GfpFlags = GfpFlags::MOVABLE.union(GfpFlags::NORETRY).union(GfpFlags::NOWARN);

/// Returns the name of a request's class: the flags as Linux prints them, without flags that only describe how
/// the page is allocated (such as `__GFP_ZERO`, `__GFP_COMP` and `__GFP_NOWARN`).
///
/// The page cache has its own class names: the flags of `readahead_gfp_mask` identify readahead, and
/// `__GFP_WRITE` identifies pages about to be written.
pub(super) fn name(gfp: GfpFlags) -> String {
    if gfp.contains(READAHEAD) && !gfp.intersects(GfpFlags::NOMEMALLOC | GfpFlags::THISNODE) {
        return "page-cache readahead".to_owned();
    }
    if gfp.contains(GfpFlags::MOVABLE | GfpFlags::WRITE) {
        return "page-cache write".to_owned();
    }
    let named = gfp.named().filter(|(_, flags)| !MANNERS.contains(*flags));
    let mut names: Vec<_> = named.map(|(name, _)| name).collect();
    if gfp.contains(GfpFlags::UNKNOWN) {
        names.push("other flags");
    }
    if names.is_empty() { "none".to_owned() } else { names.join("|") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_names_that_linux_prints() {
        let with = |flags: GfpFlags, more: GfpFlags| name(flags | more);
        assert_eq!(with(GfpFlags::KERNEL, GfpFlags::ZERO | GfpFlags::COMP), "GFP_KERNEL");
        assert_eq!(name(GfpFlags::KERNEL_ACCOUNT), "GFP_KERNEL_ACCOUNT");
        assert_eq!(with(GfpFlags::HIGHUSER_MOVABLE, GfpFlags::COMP | GfpFlags::ZERO), "GFP_HIGHUSER_MOVABLE");
        assert_eq!(name(GfpFlags::TRANSHUGE), "GFP_TRANSHUGE");
        assert_eq!(
            with(GfpFlags::TRANSHUGE_LIGHT, GfpFlags::KSWAPD_RECLAIM),
            "GFP_TRANSHUGE_LIGHT|__GFP_KSWAPD_RECLAIM"
        );
        assert_eq!(with(GfpFlags::GFP_ATOMIC, GfpFlags::NOWARN), "GFP_ATOMIC");
        assert_eq!(name(GfpFlags::NOWAIT), "GFP_NOWAIT");
        assert_eq!(with(GfpFlags::NOFS, GfpFlags::RECLAIMABLE), "GFP_NOFS|__GFP_RECLAIMABLE");
        assert_eq!(with(GfpFlags::KERNEL, GfpFlags::NORETRY | GfpFlags::NOWARN), "GFP_KERNEL|__GFP_NORETRY");
    }

    #[test]
    fn page_cache_requests_are_classified_by_their_extra_flags() {
        let mapping = GfpFlags::HIGHUSER_MOVABLE;
        assert_eq!(name(mapping | GfpFlags::NORETRY | GfpFlags::NOWARN), "page-cache readahead");
        assert_eq!(name((mapping - GfpFlags::FS) | GfpFlags::WRITE), "page-cache write");
        assert_eq!(name(GfpFlags::TRANSHUGE | GfpFlags::NORETRY), "GFP_TRANSHUGE|__GFP_NORETRY");
        assert_eq!((name(GfpFlags::UNKNOWN), name(GfpFlags::ZERO)), ("other flags".into(), "none".into()));
    }
}
