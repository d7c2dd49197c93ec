//! Free blocks as the kernel's own texts.

use std::fmt;

use freehold::{Order, PAGETYPEINFO_CAP, pagetypeinfo, write_buddyinfo_row};
use freehold_linux::sensor::{FreeBlocks, ZoneFreeBlocks};
use freehold_trace::{ByOrder, ByType, FreeCount, KernelType, KernelTypes};

/// Why a text cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// Free blocks by migratetype.
    Types,
    /// Pageblocks by migratetype.
    Pageblocks,
}

/// How much of a text is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// All of it.
    Whole,
    /// Free blocks, without the number of pageblocks by type.
    FreeBlocks,
}

/// The largest number that is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cap {
    /// 100 000; a larger number is printed as `>100000`.
    Kernels,
    /// No limit.
    Exact,
}

/// A zone with everything that pagetypeinfo prints of it.
struct Typed<'a> {
    zone: &'a ZoneFreeBlocks,
    by_type: &'a ByType<ByOrder<FreeCount>>,
    /// `None` if they are not wanted.
    pageblocks: Option<&'a ByType<u64>>,
}

/// Returns the contents of `/proc/pagetypeinfo`, byte for byte with [`Cap::Kernels`] and [`Part::Whole`].
///
/// # Errors
/// The first thing that `free` lacks for this text.
pub fn pagetypeinfo(free: &FreeBlocks, cap: Cap, part: Part) -> Result<String, Missing> {
    let order = free.pageblock_order.and_then(Order::new).ok_or(Missing::Types)?;
    let typed = free.zones.iter().map(|zone| {
        let by_type = zone.by_type.as_ref().ok_or(Missing::Types)?;
        let pageblocks = match part {
            Part::Whole => Some(zone.pageblocks.as_ref().ok_or(Missing::Pageblocks)?),
            Part::FreeBlocks => None,
        };
        Ok(Typed { zone, by_type, pageblocks })
    });
    let typed: Vec<Typed<'_>> = typed.collect::<Result<_, _>>()?;
    let mut text = String::new();
    for node in typed.chunk_by(|one, next| one.zone.node == next.zone.node) {
        // Writing to a `String` cannot fail.
        let _ = write_node(&mut text, order, &free.types, node, cap);
    }
    Ok(text)
}

fn write_node(
    text: &mut String,
    order: Order,
    types: &KernelTypes,
    zones: &[Typed<'_>],
    cap: Cap,
) -> fmt::Result {
    let largest = zones.first().map_or_else(Default::default, |typed| typed.zone.total.largest());
    pagetypeinfo::write_head(text, order, largest)?;
    for typed in zones {
        for kind in types {
            let counted = typed.by_type[kind.index()].iter().map(|count| {
                let over = cap == Cap::Kernels && count.blocks >= PAGETYPEINFO_CAP;
                (if over { PAGETYPEINFO_CAP } else { count.blocks }, over || count.capped)
            });
            pagetypeinfo::write_free_row(text, typed.zone.node, &typed.zone.name, kind.name(), counted)?;
        }
    }
    if zones.iter().any(|typed| typed.pageblocks.is_none()) {
        return Ok(());
    }
    pagetypeinfo::write_blocks_head(text, types.iter().map(KernelType::name))?;
    for (typed, pageblocks) in zones.iter().filter_map(|typed| Some((typed, typed.pageblocks?))) {
        let blocks = types.iter().map(|kind| pageblocks[kind.index()]);
        pagetypeinfo::write_blocks_row(text, typed.zone.node, &typed.zone.name, blocks)?;
    }
    Ok(())
}

/// Returns the contents of `/proc/buddyinfo`, byte for byte.
pub fn buddyinfo(free: &FreeBlocks) -> String {
    let mut text = String::new();
    for zone in &free.zones {
        let blocks = zone.total.iter().map(|count| count.blocks);
        // Writing to a `String` cannot fail.
        let _ = write_buddyinfo_row(&mut text, zone.node, &zone.name, blocks);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use freehold_linux::sensor::{Choice, Ration, Sensor};

    use super::*;

    fn fixture(kernel: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures").join(kernel)
    }

    fn read(kernel: &str) -> FreeBlocks {
        Sensor::open(&fixture(kernel), Choice::Procfs, Ration::Unlimited).unwrap().read().unwrap()
    }

    #[test]
    fn the_kernels_texts_come_out_as_they_went_in() {
        for kernel in ["linux-5.15", "linux-6.12-cma", "linux-6.18"] {
            let file = |name: &str| std::fs::read_to_string(fixture(kernel).join("proc").join(name)).unwrap();
            let free = read(kernel);
            let text = pagetypeinfo(&free, Cap::Kernels, Part::Whole).unwrap();
            assert_eq!(text, file("pagetypeinfo"), "{kernel}");
            if free.zones.iter().all(|zone| zone.total.iter().all(|count| !count.capped)) {
                assert_eq!(buddyinfo(&free), file("buddyinfo"), "{kernel}");
            }
        }
    }

    #[test]
    fn numbers_above_the_cap_are_exact_on_request() {
        let mut free = read("linux-6.18");
        free.zones[2].by_type.as_mut().unwrap()[1][0] = FreeCount { blocks: 1_062_332, capped: false };
        assert!(pagetypeinfo(&free, Cap::Kernels, Part::Whole).unwrap().contains(">100000 "));
        assert!(pagetypeinfo(&free, Cap::Exact, Part::Whole).unwrap().contains(" 1062332 "));
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut free = read("linux-6.18");
        free.zones[0].pageblocks = None;
        assert_eq!(pagetypeinfo(&free, Cap::Kernels, Part::Whole), Err(Missing::Pageblocks));
        let short = pagetypeinfo(&free, Cap::Kernels, Part::FreeBlocks).unwrap();
        let whole = std::fs::read_to_string(fixture("linux-6.18").join("proc/pagetypeinfo")).unwrap();
        assert_eq!(short, whole.split_once("\nNumber of blocks type").unwrap().0, "all but the pageblocks");
        free.zones[1].by_type = None;
        free.zones.remove(0);
        assert_eq!(pagetypeinfo(&free, Cap::Kernels, Part::Whole), Err(Missing::Types));
    }
}
