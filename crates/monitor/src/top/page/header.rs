//! The lines about the machine, the sensor and the keys.

use freehold_linux::procfs::Stall;
use freehold_linux::sensor::Source;
use freehold_measure::duration;
use ratatui::text::{Line, Span};

use crate::model::{Model, SensorModel};
use crate::top::keys::BINDINGS;
use crate::top::text::numbers::{bytes, clock, interval, stretch};
use crate::top::text::rows::{LABEL, Rows, both, fit, label, whole};
use crate::top::theme::Theme;
use crate::top::view::View;
use crate::verdict::State;

/// Draws the first line: the machine and the time.
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
        // A release can have any length. It is cut, as its start still identifies the kernel.
        let word: String = format!(" {word} ").chars().take(room).collect();
        if !word.ends_with(' ') && !word.starts_with(" Linux") {
            break;
        }
        room -= word.chars().count();
        left += &word;
    }
    rows.bar(&both(Line::raw(left), right, width), view.theme.bar());
}

/// Returns the lines that the first `verdicts` take.
pub(super) fn verdict_rows(model: &Model, verdicts: usize) -> usize {
    model.verdicts.iter().take(verdicts).map(|verdict| 1 + usize::from(verdict.action.is_some())).sum()
}

/// Draws what the machine can give: the first `verdicts`, each with the one thing to do below it.
pub(super) fn verdicts(rows: &mut Rows<'_>, model: &Model, view: &View, verdicts: usize) {
    for verdict in model.verdicts.iter().take(verdicts) {
        let style = match verdict.state_of_need().map(State::exit_code) {
            None | Some(0) => Theme::chosen(),
            Some(_) => view.theme.alarm(),
        };
        let age_ms = verdict.age_ms(model.unix_ms);
        let age =
            if age_ms < 2000 { String::new() } else { format!(" ({} old)", stretch(age_ms as f64 / 1e3)) };
        let room = rows.width().saturating_sub(LABEL);
        let title = fit(&verdict.title, room);
        let numbers = whole_numbers(&format!("; {}", verdict.numbers), room - title.chars().count());
        let pieces = [
            label("verdict", view.theme.label()),
            Span::styled(title, style),
            Span::raw(numbers),
            Span::styled(age, view.theme.faint()),
        ];
        let width = rows.width();
        rows.line(&whole(pieces, width));
        if let Some(action) = &verdict.action {
            rows.line(&Line::from(vec![label("", view.theme.label()), Span::raw(fit(action, room))]));
        }
    }
}

/// Returns the numbers that a line has room for: the text is cut before a comma or a bracket, never inside a number.
fn whole_numbers(text: &str, room: usize) -> String {
    let mut ends = text.match_indices([',', '(']).map(|(at, _)| at).chain([text.len()]);
    let fitting = ends.rfind(|&end| text[..end].trim_end().chars().count() <= room);
    fitting.map_or_else(String::new, |end| text[..end].trim_end().to_owned())
}

/// Draws where the numbers come from, how exact they are and what they cost.
pub(super) fn sensor(rows: &mut Rows<'_>, model: &Model, view: &View) {
    let text = fit(&sensor_text(&model.sensor), rows.width().saturating_sub(LABEL));
    rows.line(&Line::from(vec![label("sensor", view.theme.label()), Span::raw(text)]));
}

fn sensor_text(sensor: &SensorModel) -> String {
    let (name, cost) = (sensor.source.name(), duration(sensor.cost_ns));
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

/// Draws how long tasks waited for memory.
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

/// Draws the first note and the number of the others.
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

/// Draws the last line: the keys.
pub(super) fn hints(rows: &mut Rows<'_>, view: &View) {
    let hinted = BINDINGS.iter().filter(|binding| !binding.hint.is_empty());
    let pieces = hinted.flat_map(|binding| {
        let key = binding.keys.first().map_or_else(String::new, |key| key.name());
        [Span::styled(format!(" {key}"), Theme::chosen()), Span::raw(format!(" {} ", binding.hint))]
    });
    let mut line = whole(pieces, rows.width());
    // On a line that is too short the last key would have no word: it is removed.
    if line.spans.len() % 2 == 1 {
        line.spans.pop();
    }
    rows.bar(&line, view.theme.bar());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_whole_or_not_at_all() {
        let text = "; 9893 free now, 10818 (9895 to 11464) expected";
        let cut = |room| whole_numbers(text, room);
        assert_eq!(cut(47), text);
        assert_eq!(cut(46), "; 9893 free now, 10818");
        assert_eq!(cut(21), "; 9893 free now");
        assert_eq!(cut(14), "");
    }
}
