//! Imports traces from the texts of other tracers.

use std::path::{Path, PathBuf};

use freehold::{Order, Pfn};
use freehold_trace::{Ending, Event, EventKind, Origin, Snapshot, ZoneSnapshot};

use crate::error::{Error, ParseError};
use crate::ftrace_text::{PfnRadix, TextCounts, TextOptions, open_text, read_text_events};
use crate::procfs::{fold_kpageflags_file, read_pagetypeinfo_file, read_zoneinfo_file};
use crate::sink::EventSink;

/// The files that an import reads.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The text, plain or compressed by xz or zstd.
    pub text: PathBuf,
    /// A copy of `/proc/zoneinfo` from before the recording.
    pub zoneinfo: PathBuf,
    /// A copy of `/proc/pagetypeinfo` from before the recording.
    pub pagetypeinfo: PathBuf,
    /// A copy of `/proc/kpageflags` from before the recording. Without it the trace has no
    /// occupancy.
    pub kpageflags: Option<PathBuf>,
    /// A copy of `/proc/pagetypeinfo` from after the recording.
    pub pagetypeinfo_end: Option<PathBuf>,
    /// `uname -r` of the recorded machine, or empty.
    pub kernel_release: String,
    /// How frame numbers without `0x` are read.
    pub pfn_radix: PfnRadix,
    /// The bytes of a page of the recorded machine, which no other file tells.
    pub page_bytes: u64,
}

/// Imports a text into `sink`.
///
/// The start snapshot gets the time of the first event. The end snapshot, if there is one, holds nothing
/// but `pagetypeinfo`.
///
/// # Errors
///
/// The errors of [`read_text_events`], and of reading the other files.
pub fn import(options: &ImportOptions, sink: &mut dyn EventSink) -> Result<TextCounts, Error> {
    let zones = read_zoneinfo_file(&options.zoneinfo)?;
    let pagetypeinfo = read_pagetypeinfo_file(&options.pagetypeinfo)?;
    let occupancy = match &options.kpageflags {
        Some(path) => {
            check_kpageflags(path, &zones)?;
            fold_kpageflags_file(path, &zones)?
        }
        None => Vec::new(),
    };
    let end = options.pagetypeinfo_end.as_deref().map(read_pagetypeinfo_file).transpose()?;
    let text_options = TextOptions {
        pfn_radix: options.pfn_radix,
        types: pagetypeinfo.types.clone(),
        largest: pagetypeinfo.largest_order().unwrap_or(Order::MAX_PAGE_ORDER),
        ..TextOptions::default()
    };
    let origin = Origin {
        kernel_release: options.kernel_release.clone(),
        cpus: zones.iter().map(|z| z.pagesets.len() as u32).max().unwrap_or(0),
        page_bytes: options.page_bytes,
        recorder: format!("import, freehold {}", env!("CARGO_PKG_VERSION")),
        ..Origin::default()
    };
    let spans: Vec<_> = zones.iter().map(|z| (z.start_pfn, z.start_pfn.saturating_add(z.spanned))).collect();
    let mut start = Some(Snapshot { zones, pagetypeinfo, occupancy, ..Snapshot::default() });
    let mut last_ns = 0;
    let mut lost_by_cpu = Vec::new();

    let mut text = open_text(&options.text)?;
    let counts = read_text_events(&options.text, &mut *text, &text_options, &mut |event: Event| {
        check_zones(options, &spans, &event)?;
        if let Some(start) = start.take() {
            sink.begin(&origin, &Snapshot { time_ns: event.time_ns, ..start }).map_err(Error::Sink)?;
        }
        last_ns = event.time_ns;
        count_lost(&mut lost_by_cpu, &event);
        sink.push(event).map_err(Error::Sink)
    })?;
    if counts.events == 0 {
        return Err(Error::NoEvents { file: options.text.clone(), lines: counts.lines });
    }
    let snapshot = end.map(|pagetypeinfo| Snapshot { time_ns: last_ns, pagetypeinfo, ..Snapshot::default() });
    sink.end(&Ending { snapshot, lost_by_cpu, ..Ending::default() }).map_err(Error::Sink)?;
    Ok(counts)
}

/// Fails if the file is too short for the frames of the zones.
fn check_kpageflags(path: &Path, zones: &[ZoneSnapshot]) -> Result<(), Error> {
    let there = path.metadata().map_err(|e| Error::io("read", path, e))?;
    let frames = zones.iter().map(|z| z.start_pfn.saturating_add(z.managed)).max().unwrap_or(0);
    if !there.is_file() || (there.len() % 8 == 0 && there.len() / 8 >= frames) {
        return Ok(());
    }
    let expected = format!("8 bytes for each of {frames} frames");
    let remedy = "Check that it is a whole copy of /proc/kpageflags from the machine of the zoneinfo, or leave \
                  `--kpageflags` out";
    Err(ParseError::new(0, expected, &format!("{} bytes", there.len())).in_file(path, remedy))
}

/// Fails if an event is about frames outside the zones.
fn check_zones(options: &ImportOptions, spans: &[(u64, u64)], event: &Event) -> Result<(), Error> {
    let Some((Pfn(pfn), order)) = event.kind.block() else { return Ok(()) };
    let pages = 1 << order.get();
    let end = pfn.checked_add(pages);
    if end.is_some_and(|end| spans.iter().any(|&(first, last)| first <= pfn && end <= last)) {
        return Ok(());
    }
    let (text, zoneinfo) = (options.text.clone(), options.zoneinfo.clone());
    Err(Error::OutsideZones { text, zoneinfo, time_ns: event.time_ns, pfn, pages })
}

/// Adds lost events to their CPU's count.
fn count_lost(lost_by_cpu: &mut Vec<u64>, event: &Event) {
    let EventKind::Lost { count } = event.kind else { return };
    let cpu = usize::from(event.cpu);
    if lost_by_cpu.len() <= cpu {
        lost_by_cpu.resize(cpu + 1, 0);
    }
    lost_by_cpu[cpu] = lost_by_cpu[cpu].saturating_add(count);
}
