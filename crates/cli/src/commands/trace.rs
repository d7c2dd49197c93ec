//! `freehold trace`: shows what is in a trace, compresses it harder, or makes one to share.

use std::fmt::Write;

use freehold::GfpFlags;
use freehold_measure::{Cell, Table, foreign, grouped};
use freehold_trace::{
    Event, EventKind, ExactPart, TraceError, TraceFacts, TraceSummary, WriteOptions, recompress,
};
use serde::Serialize;

use super::anonymize;
use super::recording_text::{effect_lines, stop_text};
use crate::args::{Effort, Form, Trace, TraceHead, TraceInfo, TraceRepack};
use crate::exit::{Cause, Failure};
use crate::load::{self, Reader};
use crate::output::{self, FinishedFile, csv};

pub(crate) fn run(args: &Trace) -> Result<(), Failure> {
    match args {
        Trace::Info(args) => info(args),
        Trace::Head(args) => head(args),
        Trace::Repack(args) => repack(args),
        Trace::Anonymize(args) => anonymize::run(args),
    }
}

fn info(args: &TraceInfo) -> Result<(), Failure> {
    let mut reader = load::open(&args.input)?;
    let summary = TraceSummary::read(&mut reader)?;
    load::warn_if_cut_short(&reader, &args.input);
    if args.form.json {
        return output::print_json(&TraceFacts::new(&reader, &summary));
    }
    let tables = [events_table(&summary), orders_table(&summary), zones_table(&reader)];
    if args.form.csv {
        return output::print(&csv(&tables));
    }
    let mut text = provenance(&reader, &summary);
    for table in &tables {
        text += "\n";
        text += &table.to_text();
        text += "\n";
    }
    output::print(&text)
}

/// Returns where the trace comes from, a line for each fact.
fn provenance(reader: &Reader, summary: &TraceSummary) -> String {
    let origin = reader.origin();
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{name:<12}{}", foreign::one_line(value));
        }
    };
    line("kernel", &format!("{} {}", origin.kernel_release, origin.architecture));
    line("machine", &format!("{} CPUs {}", origin.cpus, origin.cpu_model));
    line("command", &origin.command.join(" "));
    line("made by", &origin.recorder);
    line("clock", &origin.clock);
    line("without", &origin.missing_events.join(" "));
    line("seconds", &format!("{:.3}", summary.duration_ns() as f64 / 1e9));
    line("events/s", &summary.events_per_second().map_or_else(String::new, |rate| grouped(rate as u64)));
    line("start", &start_text(&reader.start().exact));
    line("bytes", &grouped(summary.bytes));
    line("lost", &grouped(summary.lost.max(summary.lost_at_end)));
    if let Some(ending) = reader.ending() {
        let disturbance = &ending.disturbance;
        let own = format!(
            "{:.2} s of CPU time, {} of the events",
            disturbance.cpu_ns as f64 / 1e9,
            grouped(disturbance.own_events)
        );
        line("recorder", if disturbance.wall_ns > 0 { &own } else { "" });
        let stopped = ending.stopped_by.map(|by| stop_text(by, ending.trigger.as_deref()));
        line("ended", stopped.as_deref().map_or("", |text| text.trim_start_matches("stopped: ")));
        for text in disturbance.effect.iter().flat_map(effect_lines) {
            line("effect", &text);
        }
    }
    text
}

/// Returns how exact the start is that a replay of the trace begins with.
fn start_text(exact: &ExactPart) -> String {
    match exact {
        ExactPart::Taken(state) => {
            let lists = state
                .zones
                .iter()
                .flat_map(|zone| zone.lists.iter().chain(zone.cpus.iter().flat_map(|cpu| &cpu.lists)));
            let blocks: u64 = lists.map(|list| list.pfns.len() as u64).sum();
            format!("exact: {} free blocks in the order of their lists", grouped(blocks))
        }
        ExactPart::Missing { missing } => {
            let why = if missing.is_empty() { "it was not read block by block" } else { missing };
            format!("a replay fits it, and guesses the order of the lists: {why}")
        }
    }
}

fn events_table(summary: &TraceSummary) -> Table {
    let kinds = &summary.kinds;
    let mut table = Table::new("Events", vec!["events".to_owned()]);
    for (name, count) in [
        ("mm_page_alloc", kinds.alloc),
        ("mm_page_free", kinds.free),
        ("mm_page_alloc_extfrag", kinds.extfrag),
        ("mm_page_alloc_zone_locked", kinds.zone_locked),
        ("mm_page_pcpu_drain", kinds.pcpu_drain),
        ("mm_compaction_begin", kinds.compaction),
        ("steps of compaction", kinds.compaction_steps),
        ("mm_vmscan_direct_reclaim_begin", kinds.direct_reclaim),
        ("mm_vmscan_lru_shrink_inactive", kinds.shrink_inactive),
        ("mm_vmscan_kswapd_wake", kinds.kswapd_wake),
        ("test_pages_isolated", kinds.isolation),
        ("cma_alloc_finish, cma_release", kinds.cma),
        ("places where events are lost", kinds.lost),
    ] {
        table.push("by kind", name, "", vec![Cell::Count(count)]);
    }
    for (cpu, &count) in &summary.cpus {
        table.push("by CPU", &format!("CPU {cpu}"), "", vec![Cell::Count(count)]);
    }
    table
}

fn orders_table(summary: &TraceSummary) -> Table {
    let columns = ["allocated", "failed", "freed"].map(str::to_owned).to_vec();
    let mut table = Table::new("Blocks by order", columns);
    let by_order = [summary.alloc_orders, summary.failed_orders, summary.free_orders];
    for order in 0..by_order.iter().map(|counts| counts.len()).max().unwrap_or(0) {
        let counts = by_order.map(|counts| counts.of(order));
        table.push("", &format!("order {order}"), "", counts.map(Cell::Count).to_vec());
    }
    table
}

fn zones_table(reader: &Reader) -> Table {
    let columns =
        ["first pfn", "spanned", "managed", "free", "min", "low", "high"].map(str::to_owned).to_vec();
    let mut table = Table::new("Zones at the start", columns);
    for zone in &reader.start().zones {
        let sizes = [
            zone.start_pfn,
            zone.spanned,
            zone.managed,
            zone.free,
            zone.watermark_min,
            zone.watermark_low,
            zone.watermark_high,
        ];
        let name = format!("node {} {}", zone.node, zone.name);
        table.push("", &name, "pages", sizes.map(Cell::Count).to_vec());
    }
    table
}

fn head(args: &TraceHead) -> Result<(), Failure> {
    let mut reader = load::open(&args.input)?;
    let mut rows: Vec<HeadRow> = Vec::new();
    while (rows.len() as u64) < args.events
        && let Some(batch) = reader.next_batch()?
    {
        let wanted = args.events - rows.len() as u64;
        rows.extend(batch.iter().take(usize::try_from(wanted).unwrap_or(usize::MAX)).map(HeadRow::new));
    }
    output::print(&match args.form {
        Form { json: true, .. } => return output::print_json(&rows),
        Form { csv: true, .. } => {
            let lines: Vec<_> = rows.iter().map(|row| format!("{}\r\n", row.fields().join(","))).collect();
            format!("{}\r\n{}", HeadRow::NAMES.join(","), lines.concat())
        }
        _ => aligned(&rows),
    })
}

/// One event as `trace head` shows it.
#[derive(Serialize)]
struct HeadRow {
    time_ns: u64,
    cpu: u16,
    pid: i32,
    event: &'static str,
    pfn: Option<u64>,
    order: Option<u8>,
    migratetype: Option<&'static str>,
    detail: String,
}

impl HeadRow {
    const NAMES: [&str; 8] = ["time_ns", "cpu", "pid", "event", "pfn", "order", "migratetype", "detail"];

    fn new(event: &Event) -> Self {
        let (name, pfn, order, migratetype, detail) = match event.kind {
            EventKind::Alloc { pfn, order, migratetype, gfp } => {
                ("mm_page_alloc", pfn, Some(order), Some(migratetype), flag_names(gfp))
            }
            EventKind::Free { pfn, order } => ("mm_page_free", Some(pfn), Some(order), None, String::new()),
            EventKind::ExtFrag { pfn, order, fallback_order, migratetype, fallback_migratetype, .. } => (
                "mm_page_alloc_extfrag",
                Some(pfn),
                Some(order),
                Some(migratetype),
                format!("from {fallback_migratetype} order {fallback_order}"),
            ),
            EventKind::ZoneLocked { pfn, order, migratetype, percpu_refill } => {
                let detail = if percpu_refill { "refill" } else { "" };
                ("mm_page_alloc_zone_locked", Some(pfn), Some(order), Some(migratetype), detail.to_owned())
            }
            EventKind::PcpuDrain { pfn, order, migratetype } => {
                ("mm_page_pcpu_drain", Some(pfn), Some(order), Some(migratetype), String::new())
            }
            EventKind::CompactionBegin => ("mm_compaction_begin", None, None, None, String::new()),
            EventKind::CompactionEnd => ("mm_compaction_end", None, None, None, String::new()),
            EventKind::Work { work, pages, obtained } => {
                (work.event(), None, None, None, format!("{obtained} of {pages} pages"))
            }
            EventKind::DirectReclaimBegin { order, gfp } => {
                ("mm_vmscan_direct_reclaim_begin", None, Some(order), None, flag_names(gfp))
            }
            EventKind::KswapdWake { order } => {
                ("mm_vmscan_kswapd_wake", None, Some(order), None, String::new())
            }
            EventKind::KswapdSleep => ("mm_vmscan_kswapd_sleep", None, None, None, String::new()),
            EventKind::Lost { count } => ("lost", None, None, None, format!("{count} events")),
        };
        Self {
            time_ns: event.time_ns,
            cpu: event.cpu,
            pid: event.pid,
            event: name,
            pfn: pfn.map(|pfn| pfn.0),
            order: order.map(freehold::Order::get),
            migratetype: migratetype.map(freehold::Migratetype::name),
            detail,
        }
    }

    fn fields(&self) -> [String; 8] {
        [
            self.time_ns.to_string(),
            self.cpu.to_string(),
            self.pid.to_string(),
            self.event.to_owned(),
            self.pfn.map_or_else(String::new, |pfn| format!("{pfn:#x}")),
            self.order.map_or_else(String::new, |order| order.to_string()),
            self.migratetype.unwrap_or_default().to_owned(),
            self.detail.clone(),
        ]
    }
}

fn flag_names(gfp: GfpFlags) -> String {
    gfp.iter_names().map(|(name, _)| name).collect::<Vec<_>>().join("|")
}

fn aligned(rows: &[HeadRow]) -> String {
    let lines: Vec<_> =
        [HeadRow::NAMES.map(str::to_owned)].into_iter().chain(rows.iter().map(HeadRow::fields)).collect();
    let widths: Vec<_> =
        (0..8).map(|at| lines.iter().map(|line| line[at].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

fn repack(args: &TraceRepack) -> Result<(), Failure> {
    let reader = load::open(&args.input)?;
    let mut file = FinishedFile::create(&args.made.output, args.made.force)?;
    let name = args.made.name();
    let options = match args.effort {
        Effort::Fast => WriteOptions::new(&name),
        Effort::Small => WriteOptions::small(&name),
    };
    recompress(reader, &mut file, options).map_err(|error| match &error {
        TraceError::Io { file, .. } if *file == name => Failure::new(Cause::Output, error),
        _ => error.into(),
    })?;
    file.keep()
}
