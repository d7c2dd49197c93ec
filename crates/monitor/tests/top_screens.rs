//! The page of `freehold top` as text, on screens of many sizes, against the texts in `tests/screens`.
//!
//! `FREEHOLD_WRITE_SCREENS=1 cargo test -p freehold-monitor --test top_screens` writes them anew: look at what
//! changed before keeping it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use freehold::Migratetype;
use freehold_linux::procfs::{Machine, Pressure, Stall};
use freehold_linux::sample::{Sample, Sampler};
use freehold_linux::sensor::{Choice, Source};
use freehold_monitor::model::{Holds, Map, Model, ZoneMap};
use freehold_monitor::series::Monitor;
use freehold_monitor::top::{Action, LEAST, Page, Theme, View, draw};
use freehold_trace::{ByOrder, ByType, KernelTypes};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

/// A machine that was watched for some time.
struct Watched {
    monitor: Monitor,
    model: Model,
}

/// A sample of a fixture, with all that differs from run to run fixed.
fn sample(kernel: &str) -> Sample {
    let root = Path::new("../linux/tests/fixtures").join(kernel);
    let mut sampler = Sampler::open(&root, Choice::Procfs).unwrap();
    let mut sample = sampler.sample().unwrap();
    sample.unix_ms = 1_790_000_000_000;
    sample.free.time_ns = 1_000_000_000;
    sample.free.types_time_ns = sample.free.types_time_ns.map(|_| 1_000_000_000);
    sample.free.cost_ns = 312_000;
    sample.notes.retain(|note| !note.contains("fixtures"));
    let stall = |avg10| Stall { avg10, avg60: 0.25, avg300: 0.05, total_us: 123_456 };
    sample.pressure = Some(Pressure { some: stall(1.5), full: stall(0.0) });
    sample
}

fn machine() -> Machine {
    let kernel_release = "6.18.44".to_owned();
    Machine {
        kernel_release,
        cpus: 2,
        page_bytes: 4096,
        memory_bytes: 24 << 30,
        drains_lists: false,
        bounds_lists: false,
    }
}

/// A machine like the fixture whose largest blocks get fewer every second.
fn watched(kernel: &str, change: impl Fn(&mut Sample, u64)) -> Watched {
    let first = sample(kernel);
    let mut monitor = Monitor::new(machine());
    let mut model = None;
    for second in 0..240 {
        let mut now = first.clone();
        now.unix_ms += second * 1000;
        now.free.time_ns += second * 1_000_000_000;
        now.free.types_time_ns = now.free.types_time_ns.map(|_| now.free.time_ns);
        let normal = now.free.zones.last_mut().unwrap();
        normal.total[10].blocks -= 2 * second + second % 7;
        for (name, each) in [("pgalloc_normal", 41_300), ("pgfree", 39_900), ("thp_fault_fallback", 12)] {
            if let Some(counter) = now.counters.get_mut(name) {
                *counter += each * second;
            }
        }
        change(&mut now, second);
        model = Some(monitor.take(now));
    }
    Watched { monitor, model: model.unwrap() }
}

fn watched_fixture() -> Watched {
    watched("linux-6.18", |_, _| {})
}

/// A map that looks like one: a free end, movable memory, and what stays in between.
fn with_map(mut watched: Watched) -> Watched {
    let mut zones = Vec::new();
    for (zone, blocks) in watched.model.zones.iter().zip([8_usize, 1528, 10752]) {
        let kind = |at: usize| match (at * 7919) % 101 {
            _ if at * 10 / blocks >= 8 => Holds::Free,
            0..8 => Holds::Mixed,
            8..12 if at * 4 < blocks => Holds::Stuck,
            12..30 => Holds::Free,
            _ => Holds::Movable,
        };
        let mut map = ZoneMap { node: zone.node, name: zone.name.clone(), ..ZoneMap::default() };
        map.first_block = zones.iter().map(|zone: &ZoneMap| zone.blocks.len() as u64).sum();
        map.blocks = (0..blocks).map(kind).collect();
        zones.push(map);
    }
    watched.model.map = Some(Arc::new(Map { zones, age_ms: 4200, ..Map::default() }));
    watched
}

fn screen(watched: &Watched, view: &View, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, &watched.model, watched.monitor.history(), view)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width)) {
        let line: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The styles of a page: a letter a cell, and what each letter stands for.
fn styles(buffer: &Buffer) -> String {
    let mut known = BTreeMap::new();
    let mut grid = String::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width)) {
        let mut line = String::new();
        for cell in row {
            let style = format!("{} on {} {:?}", cell.fg, cell.bg, cell.modifier);
            let next = known.len();
            let letter = *known.entry(style).or_insert_with(|| char::from(b'a' + next as u8));
            line.push(if letter == 'a' && next == 0 { '.' } else { letter });
        }
        grid.push_str(line.trim_end());
        grid.push('\n');
    }
    let mut legend: Vec<_> = known.into_iter().map(|(style, letter)| (letter, style)).collect();
    legend.sort_unstable();
    for (letter, style) in legend {
        // A string takes everything.
        let _ = writeln!(grid, "{letter}: {style}");
    }
    grid
}

#[track_caller]
fn same(name: &str, text: &str) {
    let path = Path::new("tests/screens").join(name).with_extension("txt");
    if std::env::var_os("FREEHOLD_WRITE_SCREENS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == kept, "{} differs from this screen:\n{text}", path.display());
}

fn view() -> View {
    View::default()
}

fn in_colour() -> View {
    View { theme: Theme { colour: true }, ..view() }
}

#[test]
fn the_page_at_every_usual_size() {
    let watched = with_map(watched_fixture());
    for (width, height) in [(80, 24), (120, 40), (200, 60), (60, 16), (100, 30)] {
        same(&format!("table-{width}x{height}"), &text(&screen(&watched, &view(), width, height)));
    }
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    same("small-40x10", &text(&screen(&watched_fixture(), &view(), 40, 10)));
}

#[test]
fn the_other_pages() {
    let watched = with_map(watched_fixture());
    for (name, page) in
        [("map", Page::Map), ("rates", Page::Rates), ("notes", Page::Notes), ("help", Page::Help)]
    {
        same(&format!("{name}-80x24"), &text(&screen(&watched, &View { page, ..view() }, 80, 24)));
    }
    let map = View { page: Page::Map, ..view() };
    same("map-200x60", &text(&screen(&watched, &map, 200, 60)));
    same("map-none-80x24", &text(&screen(&watched_fixture(), &map, 80, 24)));
    same("table-map-none-200x60", &text(&screen(&watched_fixture(), &view(), 200, 60)));
}

#[test]
fn looks_with_and_without_colour() {
    let watched = with_map(watched_fixture());
    same("styles-colour-80x24", &styles(&screen(&watched, &in_colour(), 80, 24)));
    let plain = screen(&watched, &view(), 80, 24);
    same("styles-monochrome-80x24", &styles(&plain));
    let reset = ratatui::style::Color::Reset;
    assert!(plain.content.iter().all(|cell| cell.fg == reset && cell.bg == reset), "no colour at all");
    assert_eq!(text(&plain), text(&screen(&watched, &in_colour(), 80, 24)), "colours change no text");
}

#[test]
fn without_root_types_are_unknown() {
    let closed = watched("linux-6.18", |sample, _| {
        sample.free.source = Source::Buddyinfo;
        sample.free.types_time_ns = None;
        sample.free.types = KernelTypes::default();
        sample.free.pageblock_order = None;
        for zone in &mut sample.free.zones {
            (zone.by_type, zone.pageblocks) = (None, None);
        }
        sample.notes = vec!["free blocks by migratetype are missing: /proc/pagetypeinfo is open to root only. Run as root to have them".to_owned()];
    });
    same("unprivileged-80x24", &text(&screen(&closed, &view(), 80, 24)));
}

#[test]
fn six_types_and_a_capped_count_fit() {
    let cma = watched("linux-6.12-cma", |_, _| {});
    same("cma-80x24", &text(&screen(&cma, &view(), 80, 24)));
    same("cma-60x16", &text(&screen(&cma, &view(), 60, 16)));
}

#[test]
fn larger_blocks_and_a_type_that_a_vendor_added_have_their_places() {
    let mut sample = sample("linux-6.18-arm64-16k");
    let names = ["Unmovable", "Movable", "Reclaimable", "HighAtomic", "VENDORS_OWN", "Isolate"];
    sample.free.types = KernelTypes::from_names(names).unwrap();
    for zone in &mut sample.free.zones {
        let of_linux = zone.by_type.take().unwrap();
        let mut by_type = ByType::new(&sample.free.types, ByOrder::new(zone.total.largest()));
        by_type[..6].copy_from_slice(&of_linux);
        by_type.swap(Migratetype::Cma.index(), 6);
        zone.by_type = Some(by_type);
        zone.pageblocks = None;
    }
    let mut monitor = Monitor::new(Machine { page_bytes: 16384, ..machine() });
    let model = monitor.take(sample);
    let large = Watched { monitor, model };
    same("large-80x24", &text(&screen(&large, &view(), 80, 24)));
    same("large-60x16", &text(&screen(&large, &view(), 60, 16)));
}

#[test]
fn the_first_page_has_no_rates_and_no_trend() {
    let mut monitor = Monitor::new(machine());
    let model = monitor.take(sample("linux-5.15"));
    same("first-80x24", &text(&screen(&Watched { monitor, model }, &view(), 80, 24)));
}

#[test]
fn only_ascii_where_nothing_else_is_known() {
    let watched = with_map(watched("linux-6.12-cma", |_, _| {}));
    for (width, height) in [(80, 24), (200, 60)] {
        let ascii = View { ascii: true, ..view() };
        let page = text(&screen(&watched, &ascii, width, height));
        assert!(page.is_ascii(), "{page}");
    }
}

#[test]
fn no_size_and_no_machine_panics() {
    let huge = watched("linux-6.18", |sample, _| {
        for zone in &mut sample.free.zones {
            zone.total[0].blocks = u64::MAX >> 16;
            zone.name = "a zone with a name that no kernel would give to one".to_owned();
        }
        for counter in sample.counters.values_mut() {
            *counter = u64::MAX;
        }
    });
    let none = watched("linux-6.18", |_, _| {});
    let none = Watched { model: Model { zones: Vec::new(), rates: Vec::new(), ..none.model }, ..none };
    let pages = [Page::Table, Page::Map, Page::Rates, Page::Notes, Page::Help];
    for machine in [with_map(watched_fixture()), huge, none] {
        for (width, height) in (0..230).step_by(23).flat_map(|w| (0..70).step_by(9).map(move |h| (w, h))) {
            for page in pages {
                let view = View { page, order: Some(usize::MAX), ..in_colour() };
                screen(&machine, &view, width, height);
            }
        }
    }
    for (width, height) in [LEAST, (1, 1), (0, 0), (LEAST.0, 1), (u16::MAX, 1)] {
        screen(&watched_fixture(), &view(), width, height);
    }
}

#[test]
fn keys_change_what_is_shown() {
    let watched = watched_fixture();
    let mut view = view();
    for action in [Action::NextZone, Action::LargerOrder, Action::Pause, Action::Rarer] {
        view.apply(action, &watched.model);
    }
    let page = text(&screen(&watched, &view, 80, 24));
    for shown in ["[0 DMA]", "\n>10", "PAUSED", "order 10:"] {
        assert!(page.contains(shown), "{shown} is not in\n{page}");
    }
}

/// A machine on which no huge page is free, and nothing is known of what its pageblocks hold.
fn without_huge_pages() -> Watched {
    watched("linux-6.18", |now, _| {
        for zone in &mut now.free.zones {
            zone.total[9].blocks = 0;
            zone.total[10].blocks = 0;
        }
    })
}

#[test]
fn the_thing_to_do_stands_below_the_verdict() {
    let watched = without_huge_pages();
    let action = watched.model.verdicts[0].action.clone().expect("a thing to do");
    for (width, height) in [(60, 16), (80, 24), (200, 60)] {
        let shown = text(&screen(&watched, &view(), width, height));
        let below = shown.lines().skip_while(|line| !line.trim_start().starts_with("verdict")).nth(1);
        let below = below.unwrap_or_else(|| panic!("no verdict: {shown}")).trim();
        let whole = below == action;
        assert!(whole || (width == 60 && action.starts_with(below.trim_end_matches('…'))), "{shown}");
    }
}
