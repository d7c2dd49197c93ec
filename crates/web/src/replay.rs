//! The replay of a trace for the page, moment by moment.

use freehold::{Era, Migratetype};
use freehold_lab::{
    FallbackPlace, Lab, LabError, Loaded, Measures, Moment, Options, ReplayPageblocks, ReplaySample,
    SampleDetail, sentence,
};
use freehold_trace::{ReadOptions, TraceError, TraceReader};
use serde_json::{Value, json};

use crate::message::Reply;

/// Replays a trace in an era. Sends the machine, about a hundred moments of the replay, and the sums.
///
/// # Errors
/// A sentence with the reason why the trace cannot be replayed.
pub fn replay(
    options: ReadOptions,
    trace: Vec<u8>,
    era: &str,
    send: &mut dyn FnMut(Reply),
) -> Result<(), String> {
    let era = Era::from_name(era).ok_or_else(|| format!("there is no era {era:?}"))?;
    let open = || TraceReader::open(&trace[..], options.clone());
    let whole = Loaded::read(&options.file, open, |_| ()).map_err(|error| unread(&error))?;
    let file = options.file;
    drop(trace);
    let of_file = |error: LabError| format!("{file}: {}", sentence(&error));
    let lab = Lab::new(whole.trace()).map_err(of_file)?;
    send(head(&lab, era).into());
    let first_ns = whole.trace().events.first().map_or(0, |event| event.time_ns);
    let options = Options { runs: 1, threads: Some(1), detail: SampleDetail::Places, ..Options::default() };
    let mut send_moment = |moment: Moment<'_>| send(self::moment(moment, first_ns));
    let replay = lab.replay_observed(&era.into(), options, &mut send_moment).map_err(of_file)?;
    send(end(&replay.measures).into());
    Ok(())
}

/// Returns the reason why a trace cannot be read, and the remedy on the page.
fn unread(error: &TraceError) -> String {
    match error {
        TraceError::Truncated { file, batch: 1.., bytes, events_before } => format!(
            "{file}: the file stops after {bytes} bytes; tick “Accept cut-short files” to replay the {events_before} events before it"
        ),
        error => sentence(error),
    }
}

/// Returns the message before the first event: the machine and the trace.
fn head(lab: &Lab<'_>, era: Era) -> Value {
    let origin = lab.trace.origin;
    let mut zones: Vec<_> = (0..lab.machine.zones.len()).collect();
    zones.sort_by_key(|&zone| lab.machine.engine_rank(zone));
    let zones = zones.into_iter().map(
        |zone| json!({"name": lab.machine.zone_name(zone), "first_pfn": lab.machine.zones[zone].start.0}),
    );
    json!({
        "kind": "head",
        "era": era.name(),
        "events": lab.trace.events.len(),
        "kernel": origin.kernel_release,
        "command": origin.command.join(" "),
        "cpus": origin.cpus,
        "page_bytes": origin.page_bytes,
        "managed_pages": lab.machine.zones.iter().map(|zone| zone.managed).sum::<u64>(),
        "pageblock_order": lab.machine.pageblock_order.get(),
        "types": Migratetype::ALL.map(Migratetype::name),
        "zones": zones.collect::<Vec<_>>(),
        "start": lab.start_report().summary(),
        "is_cut_short": lab.trace.ending.is_none(),
    })
}

/// Returns the message of a moment. The bytes are the cells of its map, zone after zone.
fn moment(moment: Moment<'_>, first_ns: u64) -> Reply {
    let Moment { events, sample } = moment;
    let seconds = |time_ns: u64| time_ns.saturating_sub(first_ns) as f64 / 1e9;
    let no_map = ReplayPageblocks::default();
    let map = sample.map.as_ref().unwrap_or(&no_map);
    let share = map.pageblocks_per_cell.max(1);
    let place = |place: &FallbackPlace| {
        let found = place.found;
        json!([
            seconds(place.time_ns),
            place.zone,
            place.pageblock / share,
            found.alloc_order.get(),
            found.fallback_order.get(),
            found.alloc_migratetype.index(),
            found.fallback_migratetype.index(),
            u8::from(found.change_ownership),
        ])
    };
    let json = json!({
        "kind": "moment",
        "events": events,
        "time_s": seconds(sample.time_ns),
        "mixed": map.mixed(),
        "free_pages": sample.zones.iter().map(|zone| zone.free_pages).sum::<u64>(),
        "empty": empty(map),
        "pageblocks_per_cell": share,
        "cells": map.zones.iter().map(Vec::len).collect::<Vec<_>>(),
        "places": sample.places.iter().map(place).collect::<Vec<_>>(),
    });
    Reply { json, bytes: map.zones.iter().flatten().map(|cell| cell.0).collect() }
}

/// Returns the number of cells without pages in use.
fn empty(map: &ReplayPageblocks) -> usize {
    map.zones.iter().flatten().filter(|cell| cell.migratetype().is_some() && cell.fill() == 0).count()
}

/// Returns the message of the sums over the trace.
fn end(measures: &Measures) -> Value {
    let of = |claimed: bool| {
        let counts = measures.samples.iter().flat_map(|sample: &ReplaySample| &sample.fallbacks);
        counts.filter(|count| count.claimed == claimed).map(|count| count.events).sum::<u64>()
    };
    json!({
        "kind": "end",
        "claims": of(true),
        "steals": of(false),
        "failed": measures.failed(),
        "allocs": measures.followed.allocs,
        "frees": measures.followed.frees,
        "mixed": measures.mixed.end,
    })
}
