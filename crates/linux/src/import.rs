//! Imports traces from what other tracers wrote.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use freehold::{Order, Pfn};
use freehold_trace::{Ending, Event, EventKind, Origin, Snapshot, ZoneSnapshot};

use crate::error::{Error, ParseError, PerfDataError};
use crate::ftrace_text::{PfnRadix, TextCounts, TextOptions, open_packed, read_text_events, unpack};
use crate::perf_data::{PerfCounts, PerfData, PerfOptions, looks_like_perf_data};
use crate::procfs::{fold_kpageflags_file, read_pagetypeinfo_file, read_zoneinfo_file};
use crate::sink::EventSink;

/// The files that an import reads.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The text, plain or compressed by gzip, xz or zstd, or a file of `perf record`.
    pub source: PathBuf,
    /// A copy of `/proc/zoneinfo` from before the recording.
    pub zoneinfo: PathBuf,
    /// A copy of `/proc/pagetypeinfo` from before the recording.
    pub pagetypeinfo: PathBuf,
    /// A copy of `/proc/kpageflags` from before the recording. Without it the trace has no
    /// occupancy.
    pub kpageflags: Option<PathBuf>,
    /// A copy of `/proc/pagetypeinfo` from after the recording.
    pub pagetypeinfo_end: Option<PathBuf>,
    /// `uname -r` of the recorded machine, or empty, for what a file of `perf record` says.
    pub kernel_release: String,
    /// How frame numbers without `0x` are read.
    pub pfn_radix: PfnRadix,
    /// The bytes of a page of the recorded machine. Files of `perf record` tell them themselves.
    pub page_bytes: u64,
}

/// Counts of what an import read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Imported {
    /// It was a text.
    Text(TextCounts),
    /// It was a file of `perf record`.
    PerfData(PerfCounts),
}

/// Imports a text or a file of `perf record` into `sink`. The first bytes tell which it is.
///
/// The start snapshot gets the time of the first event. The end snapshot, if there is one, holds nothing
/// but `pagetypeinfo`.
///
/// # Errors
///
/// The errors of [`read_text_events`], those of [`PerfData`], and of reading the other files.
pub fn import(options: &ImportOptions, sink: &mut dyn EventSink) -> Result<Imported, Error> {
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
    let source = Source::open(&options.source)?;
    let types = pagetypeinfo.types.clone();
    let largest = pagetypeinfo.largest_order().unwrap_or(Order::MAX_PAGE_ORDER);
    let mut importer = Importer {
        options,
        origin: source.origin(options, &zones),
        spans: zones.iter().map(|z| (z.start_pfn, z.start_pfn.saturating_add(z.spanned))).collect(),
        start: Some(Snapshot { zones, pagetypeinfo, occupancy, ..Snapshot::default() }),
        last_ns: 0,
        lost_by_cpu: Vec::new(),
        sink,
    };
    let mut take = |event: Event| importer.take(event);
    let imported = match source {
        Source::Text(mut text) => {
            let reading = TextOptions {
                pfn_radix: options.pfn_radix,
                types,
                largest,
                kernel_release: options.kernel_release.clone(),
                ..TextOptions::default()
            };
            let counts = read_text_events(&options.source, &mut *text, &reading, &mut take)?;
            if counts.events == 0 {
                return Err(Error::NoEvents { file: options.source.clone(), lines: counts.lines });
            }
            Imported::Text(counts)
        }
        Source::PerfData(file) => {
            Imported::PerfData(file.read_events(&PerfOptions { types, largest }, &mut take)?)
        }
    };
    let Importer { last_ns, lost_by_cpu, sink, .. } = importer;
    let snapshot = end.map(|pagetypeinfo| Snapshot { time_ns: last_ns, pagetypeinfo, ..Snapshot::default() });
    sink.end(&Ending { snapshot, lost_by_cpu, ..Ending::default() }).map_err(Error::Sink)?;
    Ok(imported)
}

/// Reads the events of a text or a file of `perf record`, without the machine that they are of.
///
/// # Errors
///
/// Those of [`read_text_events`] and [`PerfData`], [`Error::NoEvents`], and every one of `take`.
pub fn read_events(
    path: &Path,
    options: &TextOptions,
    take: &mut dyn FnMut(Event) -> Result<(), Error>,
) -> Result<Imported, Error> {
    match Source::open(path)? {
        Source::Text(mut text) => {
            let counts = read_text_events(path, &mut *text, options, take)?;
            if counts.events == 0 {
                return Err(Error::NoEvents { file: path.to_owned(), lines: counts.lines });
            }
            Ok(Imported::Text(counts))
        }
        Source::PerfData(file) => {
            let reading = PerfOptions { types: options.types.clone(), largest: options.largest };
            Ok(Imported::PerfData(file.read_events(&reading, take)?))
        }
    }
}

/// What is imported, before its events are read.
enum Source<'p> {
    Text(Box<dyn BufRead>),
    PerfData(Box<PerfData<'p, File>>),
}

impl<'p> Source<'p> {
    fn open(path: &'p Path) -> Result<Self, Error> {
        let starts_as_perf_data = |start: io::Result<&[u8]>| {
            start.map(looks_like_perf_data).map_err(|e| Error::io("read", path, e))
        };
        let mut file = open_packed(path)?;
        if starts_as_perf_data(file.fill_buf())? {
            return Ok(Self::PerfData(Box::new(PerfData::open(path, file)?)));
        }
        let mut text = unpack(path, file)?;
        // The reader of the text reports what cannot be unpacked.
        if text.fill_buf().is_ok_and(looks_like_perf_data) {
            return Err(PerfDataError::Packed.in_file(path));
        }
        Ok(Self::Text(text))
    }

    /// Returns what is known of the recorded machine.
    fn origin(&self, options: &ImportOptions, zones: &[ZoneSnapshot]) -> Origin {
        let (mut kernel_release, mut page_bytes) = (options.kernel_release.clone(), options.page_bytes);
        if let Self::PerfData(file) = self {
            page_bytes = file.page_bytes();
            if kernel_release.is_empty() {
                file.kernel_release().clone_into(&mut kernel_release);
            }
        }
        Origin {
            kernel_release,
            cpus: zones.iter().map(|z| z.pagesets.len() as u32).max().unwrap_or(0),
            page_bytes,
            recorder: format!("import, freehold {}", env!("CARGO_PKG_VERSION")),
            ..Origin::default()
        }
    }
}

/// Passes on events, checked, behind the start snapshot.
struct Importer<'a> {
    options: &'a ImportOptions,
    origin: Origin,
    /// The first frame and the frame behind the last one of each zone.
    spans: Vec<(u64, u64)>,
    /// The start snapshot, until the first event.
    start: Option<Snapshot>,
    last_ns: u64,
    lost_by_cpu: Vec<u64>,
    sink: &'a mut dyn EventSink,
}

impl Importer<'_> {
    fn take(&mut self, event: Event) -> Result<(), Error> {
        check_zones(self.options, &self.spans, &event)?;
        if let Some(start) = self.start.take() {
            let start = Snapshot { time_ns: event.time_ns, ..start };
            self.sink.begin(&self.origin, &start).map_err(Error::Sink)?;
        }
        self.last_ns = event.time_ns;
        count_lost(&mut self.lost_by_cpu, &event);
        self.sink.push(event).map_err(Error::Sink)
    }
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
    let (recorded, zoneinfo) = (options.source.clone(), options.zoneinfo.clone());
    Err(Error::OutsideZones { recorded, zoneinfo, time_ns: event.time_ns, pfn, pages })
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
