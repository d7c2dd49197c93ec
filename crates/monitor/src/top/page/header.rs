//! The lines about the machine and about how it is looked at.

use freehold_linux::procfs::Stall;
use freehold_linux::sensor::Source;
use ratatui::text::{Line, Span};

use crate::model::{Model, SensorModel};
use crate::top::keys::BINDINGS;
use crate::top::text::numbers::{bytes, clock, cost, interval};
use crate::top::text::rows::{LABEL, Rows, both, fit, label, whole};
use crate::top::theme::Theme;
use crate::top::view::View;

/// The first line: which machine, and when.
pub(super) fn title(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let machine = &model.machine;
    let mut words = vec!["freehold top".to_owned()];
    words.extend((!machine.kernel_release.is_empty()).then(|| format!("Linux {}", machine.kernel_release)));
    let plural = if machine.cpus == 1 { "" } else { "s" };
    words.extend((machine.cpus > 0).then(|| format!("{} CPU{plural}", machine.cpus)));
    words.extend((machine.memory_bytes > 0).then(|| bytes(machine.memory_bytes)));
    let mode = if view.paused {
        Span::styled(" PAUSED ", view.theme.alarm())
    } else {
        Span::raw(format!("every {}", interval(view.interval)))
    };
    let right = Line::from(vec![mode, Span::raw(format!("  {} ", clock(model.unix_ms)))]);
    let width = rows.width();
    let mut room = width.saturating_sub(right.width() + 2);
    let mut left = String::new();
    for word in words {
        // The release may be of any length: as much of it as fits still tells kernels apart.
        let word: String = format!(" {word} ").chars().take(room).collect();
        if !word.ends_with(' ') && !word.starts_with(" Linux") {
            break;
        }
        room -= word.chars().count();
        left += &word;
    }
    rows.bar(&both(Line::raw(left), right, width), view.theme.bar());
}

/// Where the numbers come from, how exact they are and what they cost.
pub(super) fn sensor(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let text = fit(&sensor_text(&model.sensor), rows.width().saturating_sub(LABEL));
    rows.line(&Line::from(vec![label("sensor", view.theme.label()), Span::raw(text)]));
}

fn sensor_text(sensor: &SensorModel) -> String {
    let (name, cost) = (sensor.source.name(), cost(sensor.cost_ns));
    match (sensor.source, sensor.types_age_ms) {
        (Source::Bpf, _) => format!("{name}, {cost} a reading, no lock taken; every number is exact"),
        (Source::Pagetypeinfo, _) => {
            format!("{name}, {cost} under zone locks; counts of types stop at 100,000")
        }
        (Source::Buddyinfo, Some(age_ms)) => {
            let age = age_ms as f64 / 1000.0;
            format!("{name}, {cost}; totals exact; types {age:.1} s old, up to 100,000 each")
        }
        (Source::Buddyinfo, None) => format!("{name}, {cost}; totals are exact, types unknown"),
    }
}

/// How long tasks waited for memory.
pub(super) fn pressure(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let label = label("pressure", view.theme.label());
    let width = rows.width();
    let Some(pressure) = &model.pressure else {
        rows.line(&Line::from(vec![
            label,
            Span::styled("- (this kernel does not tell)", view.theme.faint()),
        ]));
        return;
    };
    let row = |name: &'static str, stall: &Stall| {
        let shares = [stall.avg10, stall.avg60, stall.avg300].map(|share| format!("{share:6.1}"));
        let style = if stall.avg10 >= 0.05 { Theme::chosen() } else { view.theme.faint() };
        [Span::raw(name), Span::styled(shares.concat(), style)]
    };
    let [some, some_shares] = row("some", &pressure.some);
    let [full, full_shares] = row("  full", &pressure.full);
    let of = Span::styled("  % of 10, 60, 300 s", view.theme.faint());
    rows.line(&whole([label, some, some_shares, full, full_shares, of], width));
}

/// The first of the notes, and how many more there are.
pub(super) fn note(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let Some(first) = model.notes.first() else { return rows.line(&Line::default()) };
    let more = match model.notes.len() {
        1 => "n: in full".to_owned(),
        count => format!("n: all {count}"),
    };
    let room = rows.width().saturating_sub(LABEL);
    let all = first.chars().count() <= room && model.notes.len() == 1;
    let text = if all { first.clone() } else { fit(first, room.saturating_sub(more.len() + 2)) };
    let left = Line::from(vec![label("note", view.theme.label()), Span::raw(text)]);
    let right = if all { Line::default() } else { Line::styled(more, Theme::chosen()) };
    let line = both(left, right, rows.width());
    rows.line(&line);
}

/// The last line: the keys.
pub(super) fn hints(rows: &mut Rows<'_>, view: &View) {
    let hinted = BINDINGS.iter().filter(|binding| !binding.hint.is_empty());
    let pieces = hinted.flat_map(|binding| {
        let key = binding.keys.first().map_or_else(String::new, |key| key.name());
        [Span::styled(format!(" {key}"), Theme::chosen()), Span::raw(format!(" {} ", binding.hint))]
    });
    let mut line = whole(pieces, rows.width());
    // A key without its word would be the last thing of a line that is too short.
    if line.spans.len() % 2 == 1 {
        line.spans.pop();
    }
    rows.bar(&line, view.theme.bar());
}
