//! The flags of a request: names, or numbers whose bits depend on the release.

use freehold::GfpFlags;

/// The flags of a request, as printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GfpText {
    /// The number.
    pub(crate) number: u64,
    /// The names in brackets, which kernels since 4.6 print.
    pub(crate) names: Option<String>,
}

/// The most bytes of names that are kept.
const MAX_NAMES: usize = 512;

impl GfpText {
    /// Reads `0x40c40(GFP_NOFS|__GFP_COMP)` or `0x20` at the start of a text. Returns `None` where it is cut off.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let number = u64::from_str_radix(&hex[..end], 16).ok()?;
        let rest = &hex[end..];
        let Some(inside) = rest.strip_prefix('(') else { return Some(Self { number, names: None }) };
        let (names, _) = inside.split_once(')')?;
        Some(Self { number, names: Some(names.chars().take(MAX_NAMES).collect()) })
    }

    /// Returns the flags, in the engine's numbering. `version` is the kernel's, if it is known.
    pub(crate) fn flags(&self, version: Option<(u32, u32)>) -> GfpFlags {
        let Some(names) = &self.names else { return self.by_number(version) };
        let mut flags = names.split('|').map(by_name).fold(GfpFlags::empty(), GfpFlags::union);
        // GFP_ATOMIC had a flag of its own until 6.2, and the names do not say so.
        if names.split('|').any(|name| name == "GFP_ATOMIC") && version.is_none_or(|v| v < (6, 3)) {
            flags |= GfpFlags::ATOMIC;
        }
        flags
    }

    fn by_number(&self, version: Option<(u32, u32)>) -> GfpFlags {
        // Without a release: only kernels 4.4 and 4.5 print numbers alone and have bit 25, the wake of kswapd.
        let version = version.unwrap_or(if self.number >> 25 & 1 == 1 { (4, 4) } else { (3, 10) });
        let layout = if version < (2, 31) {
            BEFORE_2_6_31
        } else if version < (4, 4) {
            BEFORE_4_4
        } else {
            SINCE_4_4
        };
        let set = ALWAYS.iter().chain(layout).filter(|(bit, _)| self.number >> bit & 1 == 1);
        let mut flags = set.fold(GfpFlags::empty(), |all, &(_, flag)| all | flag);
        if version < (4, 4) {
            let no_kswapd = self.number >> 22 & 1 == 1;
            flags.set(GfpFlags::KSWAPD_RECLAIM, !no_kswapd);
            // Until 4.3 a caller that did not wait was the urgent one, without a flag of its own.
            flags.set(GfpFlags::ATOMIC, !flags.contains(GfpFlags::DIRECT_RECLAIM) && !no_kswapd);
        }
        flags
    }
}

fn by_name(name: &str) -> GfpFlags {
    match name {
        "GFP_TEMPORARY" => GfpFlags::KERNEL | GfpFlags::RECLAIMABLE,
        "__GFP_WAIT" => GfpFlags::RECLAIM,
        other => GfpFlags::from_linux_name(other).unwrap_or(GfpFlags::empty()),
    }
}

/// Bits that have been the same from 2.6.26 to 4.5. Later kernels print names.
const ALWAYS: [(u32, GfpFlags); 9] = [
    (0, GfpFlags::DMA),
    (1, GfpFlags::HIGHMEM),
    (2, GfpFlags::DMA32),
    (5, GfpFlags::HIGH),
    (6, GfpFlags::IO),
    (7, GfpFlags::FS),
    (12, GfpFlags::NORETRY),
    (16, GfpFlags::NOMEMALLOC),
    (18, GfpFlags::THISNODE),
];

/// The other bits until 2.6.30.
const BEFORE_2_6_31: &[(u32, GfpFlags)] =
    &[(4, GfpFlags::DIRECT_RECLAIM), (19, GfpFlags::RECLAIMABLE), (20, GfpFlags::MOVABLE)];

/// The other bits from 2.6.31 to 4.3.
const BEFORE_4_4: &[(u32, GfpFlags)] = &[
    (3, GfpFlags::MOVABLE),
    (4, GfpFlags::DIRECT_RECLAIM),
    (13, GfpFlags::MEMALLOC),
    (19, GfpFlags::RECLAIMABLE),
];

/// The other bits of 4.4 and 4.5.
const SINCE_4_4: &[(u32, GfpFlags)] = &[
    (3, GfpFlags::MOVABLE),
    (4, GfpFlags::RECLAIMABLE),
    (13, GfpFlags::MEMALLOC),
    (19, GfpFlags::ATOMIC),
    (22, GfpFlags::DIRECT_RECLAIM),
    (25, GfpFlags::KSWAPD_RECLAIM),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_release() {
        let flags = |text: &str, version| GfpText::read(text).unwrap().flags(version);
        let atomic = GfpFlags::GFP_ATOMIC | GfpFlags::ATOMIC;
        assert_eq!(flags("0x200020", Some((3, 10))), atomic);
        assert_eq!(flags("0x2080020", None), atomic);
        assert_eq!(flags("0xd0", Some((2, 26))), GfpFlags::KERNEL);
        assert!(flags("0x1200d2", Some((2, 26))).contains(GfpFlags::MOVABLE));
        assert!(!flags("0x1200d2", Some((3, 2))).contains(GfpFlags::MOVABLE));
        assert_eq!(flags("0x4020", Some((2, 32))), atomic);
    }

    #[test]
    fn names_are_read() {
        let text = GfpText::read("0x40c40(GFP_NOFS|__GFP_COMP), nodemask=").unwrap();
        assert_eq!(text.flags(None), GfpFlags::NOFS | GfpFlags::COMP);
        assert!(GfpText::read("0xa20(GFP_ATOMIC)").unwrap().flags(Some((6, 1))).contains(GfpFlags::ATOMIC));
        assert!(!GfpText::read("0x820(GFP_ATOMIC)").unwrap().flags(Some((6, 3))).contains(GfpFlags::ATOMIC));
        for cut in ["0x40c40(GFP_NO", "0x", "40", ""] {
            assert_eq!(GfpText::read(cut), None, "{cut}");
        }
    }
}
