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

    /// Returns the flags, in the engine's numbering, or `None` if the bits of that kernel are not known. `version` is the
    /// kernel's, if it is known.
    pub(crate) fn flags(&self, version: Option<(u32, u32)>) -> Option<GfpFlags> {
        let Some(names) = &self.names else { return self.by_number(version) };
        let mut flags = names.split('|').map(by_name).fold(GfpFlags::empty(), GfpFlags::union);
        // GFP_ATOMIC had a flag of its own until 6.2, and the names do not say so.
        if names.split('|').any(|name| name == "GFP_ATOMIC") && version.is_none_or(|v| v < (6, 3)) {
            flags |= GfpFlags::ATOMIC;
        }
        Some(flags)
    }

    fn by_number(&self, version: Option<(u32, u32)>) -> Option<GfpFlags> {
        let version = version.unwrap_or_else(|| self.likely_version());
        if version >= (4, 6) {
            // These kernels print names, and their bits have moved four times until 5.3. A log may have lost the names.
            let is_set = |&&(bit, _): &&(u32, GfpFlags)| self.number >> bit & 1 == 1;
            let flags = SINCE_5_3.iter().filter(is_set).fold(GfpFlags::empty(), |all, &(_, flag)| all | flag);
            return (version >= (5, 3)).then_some(flags);
        }
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
        Some(flags)
    }

    /// Returns a version whose bits fit a number without names and without a release.
    fn likely_version(&self) -> (u32, u32) {
        let has = |bit: u32| self.number >> bit & 1 == 1;
        // Until 4.5 bits 4, 10 and 11 are those of waiting, of repeating and of never failing: of these three, the last alone
        // makes no sense, and neither do the last two together.
        if has(11) && (has(10) || !has(4)) {
            (5, 3)
        } else if has(25) {
            // Of the kernels that print numbers alone, 4.4 and 4.5 have this bit, the wake of kswapd.
            (4, 4)
        } else {
            (3, 10)
        }
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
const ALWAYS: [(u32, GfpFlags); 10] = [
    (0, GfpFlags::DMA),
    (1, GfpFlags::HIGHMEM),
    (2, GfpFlags::DMA32),
    (5, GfpFlags::HIGH),
    (6, GfpFlags::IO),
    (7, GfpFlags::FS),
    (12, GfpFlags::NORETRY),
    (16, GfpFlags::NOMEMALLOC),
    (17, GfpFlags::HARDWALL),
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

/// The bits since 5.3. Bit 9 came to mean nothing with 6.3.
const SINCE_5_3: &[(u32, GfpFlags)] = &[
    (0, GfpFlags::DMA),
    (1, GfpFlags::HIGHMEM),
    (2, GfpFlags::DMA32),
    (3, GfpFlags::MOVABLE),
    (4, GfpFlags::RECLAIMABLE),
    (5, GfpFlags::HIGH),
    (6, GfpFlags::IO),
    (7, GfpFlags::FS),
    (9, GfpFlags::ATOMIC),
    (10, GfpFlags::DIRECT_RECLAIM),
    (11, GfpFlags::KSWAPD_RECLAIM),
    (15, GfpFlags::NOFAIL),
    (16, GfpFlags::NORETRY),
    (17, GfpFlags::MEMALLOC),
    (18, GfpFlags::COMP),
    (19, GfpFlags::NOMEMALLOC),
    (20, GfpFlags::HARDWALL),
    (21, GfpFlags::THISNODE),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_release() {
        let flags = |text: &str, version| GfpText::read(text).unwrap().flags(version).unwrap();
        let atomic = GfpFlags::GFP_ATOMIC | GfpFlags::ATOMIC;
        assert_eq!(flags("0x200020", Some((3, 10))), atomic);
        assert_eq!(flags("0x2080020", None), atomic);
        assert_eq!(flags("0xd0", Some((2, 26))), GfpFlags::KERNEL);
        assert!(flags("0x1200d2", Some((2, 26))).contains(GfpFlags::MOVABLE));
        assert!(!flags("0x1200d2", Some((3, 2))).contains(GfpFlags::MOVABLE));
        assert_eq!(flags("0x4020", Some((2, 32))), atomic);
        let zeroed = GfpFlags::KERNEL | GfpFlags::COMP;
        assert_eq!((flags("0x40dc0", Some((5, 15))), flags("0x40dc0", None)), (zeroed, zeroed));
        assert_eq!((flags("0xa20", None), flags("0x8d0", Some((3, 10)))), (atomic, GfpFlags::KERNEL));
        assert_eq!(GfpText::read("0x14000c0").unwrap().flags(Some((4, 14))), None);
    }

    #[test]
    fn names_are_read() {
        let text = GfpText::read("0x40c40(GFP_NOFS|__GFP_COMP), nodemask=").unwrap();
        assert_eq!(text.flags(None), Some(GfpFlags::NOFS | GfpFlags::COMP));
        let is_atomic = |text, version| {
            GfpText::read(text).unwrap().flags(Some(version)).unwrap().contains(GfpFlags::ATOMIC)
        };
        assert!(is_atomic("0xa20(GFP_ATOMIC)", (6, 1)) && !is_atomic("0x820(GFP_ATOMIC)", (6, 3)));
        for cut in ["0x40c40(GFP_NO", "0x", "40", ""] {
            assert_eq!(GfpText::read(cut), None, "{cut}");
        }
    }
}
