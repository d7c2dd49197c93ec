//! The settings that the engine computes from sizes are those that Linux printed on the recorded machines.

use std::fs;
use std::path::Path;

use crate::common::recorded;
use freehold::{Sysctls, ZoneConfig};
use freehold_lab::RecordedMachine;
use freehold_trace::Snapshot;

fn sysctls(start: &Snapshot, cpus: u16, page_bytes: u64) -> Sysctls {
    let number = |name: &str| {
        let text = start.sysctl.get(name).unwrap_or_else(|| panic!("{name} was recorded"));
        text.trim().parse().unwrap_or_else(|_| panic!("{name} is {text}"))
    };
    let mut sysctls = Sysctls::linux(cpus);
    sysctls.page_bytes = page_bytes;
    sysctls.min_free_kbytes = Some(number("min_free_kbytes"));
    sysctls.watermark_scale_factor = number("watermark_scale_factor");
    sysctls.percpu_pagelist_high_fraction = number("percpu_pagelist_high_fraction");
    sysctls
}

#[test]
fn computed_watermarks_reserves_and_lists_match_linux() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let names = fs::read_dir(folder).expect("the traces").map(|entry| entry.expect("an entry").path());
    let names = names.filter(|path| path.extension().is_some_and(|kind| kind == "arrows"));
    let mut zones_compared = 0;
    for path in names {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name in UTF-8");
        let loaded = recorded(name);
        let trace = loaded.trace();
        let machine = RecordedMachine::new(trace.start, trace.events).expect("a machine");
        let bare = |zone: &ZoneConfig| ZoneConfig {
            spanned: zone.spanned,
            ..ZoneConfig::sized(zone.node, zone.kind, zone.start, zone.managed)
        };
        let mut computed: Vec<_> = machine.zones.iter().map(bare).collect();
        sysctls(trace.start, machine.cpus, trace.origin.page_bytes).apply(&mut computed);
        for (own, linux) in computed.iter().zip(&machine.zones) {
            // The CPU cache does not follow from the size of a zone.
            let mut own = *own;
            own.percpu.flush_needs_batch = linux.percpu.flush_needs_batch;
            assert_eq!(own, *linux, "{name}: {} of node {}", own.kind.name(), own.node);
            zones_compared += 1;
        }
    }
    assert!(zones_compared >= 30, "{zones_compared} zones");
}
