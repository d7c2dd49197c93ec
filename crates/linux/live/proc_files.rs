//! The files of `/proc` as this machine has them.

use std::num::NonZero;
use std::path::Path;

use freehold_linux::Error;
use freehold_linux::pageblocks::{Unflagged, read_pageblocks};
use freehold_linux::procfs::{Occupancy, read_zoneinfo, snapshot};
use freehold_needs::{is_root, skip};
use freehold_trace::FrameUse;

#[test]
fn this_machine_is_read() {
    let root = Path::new("/");
    let zones = read_zoneinfo(root).unwrap();
    let map = match read_pageblocks(root, &zones, Unflagged::NONE, NonZero::new(2).unwrap()) {
        Err(error @ (Error::NotRoot { .. } | Error::NoKpageflags { .. })) => {
            return skip("this_machine_is_read", error);
        }
        other => other.unwrap(),
    };
    let blocks = map.zones.iter().flat_map(|zone| &zone.blocks);
    let (free, movable, stuck) = blocks.fold((0, 0, 0), |(free, movable, stuck), block| {
        (free + u64::from(block.free), movable + u64::from(block.movable()), stuck + u64::from(block.stuck()))
    });
    let said: u64 = zones.iter().map(|zone| zone.free).sum();
    assert!(movable > 0 && stuck > 0);
    let off = free.abs_diff(said);
    assert!(off < said / 4 + 200_000, "{free} pages in free blocks, {said} by zoneinfo");
}

#[test]
fn the_live_snapshot_agrees_with_itself() {
    let test = "the_live_snapshot_agrees_with_itself";
    if !is_root(test) {
        return;
    }
    let began = std::time::Instant::now();
    let snapshot = match snapshot(Path::new("/"), Occupancy::Read) {
        Ok(snapshot) => snapshot,
        Err(error @ Error::NoKpageflags { .. }) => {
            return skip(test, error);
        }
        Err(error) => panic!("{error}"),
    };
    let pages =
        |wanted| snapshot.occupancy.iter().filter(|r| r.used_for == wanted).map(|r| r.pages).sum::<u64>();
    println!("snapshot in {:?}, {} runs", began.elapsed(), snapshot.occupancy.len());
    for used_for in FrameUse::ALL {
        println!("{used_for:?}: {}", pages(used_for));
    }
    let spanned: u64 = snapshot.zones.iter().map(|z| z.spanned).sum();
    let managed: u64 = snapshot.zones.iter().map(|z| z.managed).sum();
    let free: u64 = snapshot.zones.iter().map(|z| z.free).sum();
    assert_eq!(snapshot.occupancy.iter().map(|r| r.pages).sum::<u64>(), spanned);
    let near = |a: u64, b: u64| a.abs_diff(b) <= managed / 20;
    assert!(near(pages(FrameUse::Free), free), "KPF_BUDDY is set on all pages of free blocks");
    assert!(near(spanned - pages(FrameUse::Absent), managed), "memory that is not set up is absent");
}
