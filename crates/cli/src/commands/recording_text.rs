//! Sentences about a recording, for `freehold record` and `freehold trace info`.

use freehold_trace::{ObserverEffect, Quartiles, StoppedBy};

/// Returns why the recording ended.
pub(super) fn stop_text(by: StoppedBy, trigger: Option<&str>) -> String {
    match trigger {
        Some(seen) => format!("stopped: {}: {seen}", by.text()),
        None => format!("stopped: {}", by.text()),
    }
}

/// Returns what recording cost the command: a line about wall time, a line about CPU time.
pub(super) fn effect_lines(effect: &ObserverEffect) -> [String; 2] {
    let line = |what: &str, with: Quartiles, without: Quartiles, slowdown: Option<f64>| {
        let share = slowdown.map_or_else(String::new, |share| format!(" ({:+.1} %)", share * 100.0));
        format!("{what}: {} without recording, {} with{share}", spread(without), spread(with))
    };
    let ObserverEffect { runs, with, without } = effect;
    [
        line(
            &format!("time of the command, median and quartiles of {runs} runs each"),
            with.wall_ns,
            without.wall_ns,
            effect.wall_slowdown(),
        ),
        line("of that CPU time", with.cpu_ns, without.cpu_ns, effect.cpu_slowdown()),
    ]
}

fn spread(times: Quartiles) -> String {
    let [first, median, third] = [times.first, times.median, times.third].map(|ns| ns / 1e9);
    format!("{median:.3} s ({first:.3} to {third:.3})")
}

#[cfg(test)]
mod tests {
    use freehold_trace::RunTimes;

    use super::*;

    #[test]
    fn the_effect_is_said_with_its_spread() {
        let times = |ns: &[u64]| RunTimes { wall_ns: Quartiles::of(ns), cpu_ns: Quartiles::default() };
        let without = times(&[1_000_000_000, 2_000_000_000, 3_000_000_000]);
        let effect = ObserverEffect { runs: 3, without, with: times(&[2_100_000_000]) };
        let [wall, cpu] = effect_lines(&effect);
        assert!(
            wall.ends_with(
                "2.000 s (1.500 to 2.500) without recording, 2.100 s (2.100 to 2.100) with (+5.0 %)"
            )
        );
        assert!(cpu.ends_with("0.000 s (0.000 to 0.000) with"), "{cpu}");
    }
}
