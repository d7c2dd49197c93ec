//! The property of the `/proc` readers: each returns values or an error, free pages fit 64 bits, and a text without
//! its end is an error.

use freehold_linux::procfs::{
    parse_allocinfo, parse_buddyinfo, parse_pagetypeinfo, parse_pressure, parse_slabinfo, parse_vmallocinfo,
    parse_vmstat, parse_zoneinfo,
};

/// Checks the property for these bytes.
///
/// # Panics
/// If the property is violated.
pub fn body(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let zones = parse_buddyinfo(&text);
    for zone in zones.iter().flatten() {
        assert!(pages(zone.free.iter().copied()) < 1 << 60);
    }
    let types = parse_pagetypeinfo(&text);
    if let Ok(info) = &types {
        for zone in &info.zones {
            let all = zone.free.iter().map(|counts| pages(counts.iter().map(|count| count.blocks)));
            assert!(all.sum::<u64>() < 1 << 60);
        }
    }
    for zone in parse_zoneinfo(&text).iter().flatten() {
        assert!(zone.start_pfn.checked_add(zone.spanned).is_some() && zone.present > 0);
    }
    let _ = parse_vmstat(&text);
    let _ = parse_pressure(&text);
    let _ = parse_slabinfo(&text);
    let _ = parse_vmallocinfo(&text);
    for site in parse_allocinfo(&text).iter().flatten() {
        assert!(site.bytes > 0 && !site.file.is_empty() && !site.function.is_empty());
    }
    let cut = text.trim_end_matches('\n');
    if cut.len() < text.len() {
        // A last row counts without its line break if nothing of it can be missing.
        assert!(parse_buddyinfo(cut).map_or(true, |read| zones == Ok(read)));
        assert!(parse_pagetypeinfo(cut).map_or(true, |read| types == Ok(read)));
        assert!(parse_zoneinfo(cut).map_or(true, |read| parse_zoneinfo(&text) == Ok(read)));
        assert!(parse_vmstat(cut).is_err() && parse_pressure(cut).is_err());
        assert!(parse_slabinfo(cut).is_err() && parse_allocinfo(cut).is_err());
        // Without a row there are no areas.
        assert!(cut.is_empty() || parse_vmallocinfo(cut).is_err());
    }
}

fn pages(blocks: impl Iterator<Item = u64>) -> u64 {
    blocks.enumerate().map(|(order, blocks)| blocks << order).sum()
}
