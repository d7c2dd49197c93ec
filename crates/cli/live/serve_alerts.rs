//! The alerts, tried: `promtool` replays what the monitor makes of stories of a machine's memory against the rules.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use freehold_monitor::serve::Textfile;
use freehold_monitor::serve::metrics::Series;
use freehold_monitor::verdict::{NeededBlocks, Requester};
use freehold_needs::has_program;

use crate::alert_stories::{
    AlertStory, Use, day_of_a_file_server, hour_of_storms, leak_of_a_process, leak_of_slab_objects,
    start_of_a_database,
};

/// The query to promtool at a story's end: when each alert fired first, in seconds.
const FIRST: &str = "min by (alertname) (min_over_time(timestamp(ALERTS{alertstate=\"firing\"})[30d:1m]))";

/// The name of the forecast that ends last.
const REACHABLE: &str =
    "freehold_verdict_blocks{instance=\"story\",size=\"2M\",when=\"after-reclaim-and-compaction\"}";

/// The stories' need.
const ONE: NeededBlocks = NeededBlocks { order: 9, blocks: 1, by: Requester::Hugetlb };

fn rules() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/prometheus/freehold.rules.yml");
    std::fs::read_to_string(file).expect("rules")
}

/// What a Prometheus that scrapes once a minute has of a story: the values of each series, minute by minute.
struct Scraped {
    minutes: usize,
    series: BTreeMap<String, Vec<Option<String>>>,
}

impl Scraped {
    /// Takes each minute's sample into the monitor, and the text that it publishes apart.
    fn new(story: &[Use]) -> Self {
        let mut machine = AlertStory::new();
        let mut monitor = Textfile::new(AlertStory::machine(), vec![ONE], Some(Duration::from_mins(1)));
        let mut scraped = Self { minutes: story.len(), series: BTreeMap::new() };
        for (minute, of) in story.iter().enumerate() {
            let text = monitor.text(Ok(machine.next(of)), Series::Default).expect("a text");
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                let (name, value) = line.rsplit_once(' ').expect("a value");
                let name = match name.split_once('{') {
                    Some((name, labels)) => format!("{name}{{instance=\"story\",{labels}"),
                    None => format!("{name}{{instance=\"story\"}}"),
                };
                let values = scraped.series.entry(name).or_default();
                values.resize(minute, None);
                values.push(Some(value.to_owned()));
            }
        }
        scraped
    }

    fn number(&self, series: &str, minute: usize) -> f64 {
        let values = self.series.get(series).unwrap_or_else(|| panic!("no {series}"));
        values[minute].as_ref().expect("a value").parse().expect("a number")
    }

    /// Returns the first minute in which nothing but freeing memory makes a huge page.
    fn end(&self) -> Option<usize> {
        (0..self.minutes).find(|&minute| self.number(REACHABLE, minute) < 1.0)
    }

    /// Returns the minute in which each alert fired first, by these rules.
    fn alerts(&self, rules: &str) -> BTreeMap<String, u64> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rules.yml"), rules).unwrap();
        let mut test = String::from(
            "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n",
        );
        for (series, values) in &self.series {
            let values: Vec<_> = values.iter().map(|value| value.as_deref().unwrap_or("_")).collect();
            let _ = writeln!(test, "  - series: '{series}'\n    values: '{}'", values.join(" "));
        }
        let _ = writeln!(
            test,
            "  promql_expr_test:\n  - expr: '{FIRST}'\n    eval_time: {}m\n    exp_samples: []",
            self.minutes
        );
        std::fs::write(folder.path().join("test.yml"), test).unwrap();
        let mut promtool = Command::new("promtool");
        let ran = promtool.current_dir(&folder).args(["test", "rules", "test.yml"]).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        if ran.status.success() {
            return BTreeMap::new();
        }
        let got = said.split("got: ").nth(1).unwrap_or_else(|| panic!("{said}"));
        let mut fired = BTreeMap::new();
        for alert in got.split("{alertname=\"").skip(1) {
            let (name, rest) = alert.split_once("\"} ").expect("a value");
            let seconds = rest.split([',', '\n']).next().expect("a value").trim();
            fired.insert(name.to_owned(), (seconds.parse::<f64>().expect("a time") / 60.0) as u64);
        }
        assert!(!fired.is_empty(), "{said}");
        fired
    }
}

#[test]
fn a_day_of_a_file_server_is_quiet() {
    if !has_program("promtool", "a_day_of_a_file_server_is_quiet") {
        return;
    }
    let scraped = Scraped::new(&day_of_a_file_server());
    // The story is one: what is free ends, and what can be had does not.
    let now = "freehold_verdict_blocks{instance=\"story\",size=\"2M\",when=\"now\"}";
    assert!(scraped.number(now, 0) > 1000.0 && scraped.number(now, 12 * 60) < 1.0);
    assert_eq!(scraped.end(), None);
    assert_eq!(scraped.alerts(&rules()), BTreeMap::new());
}

#[test]
fn an_hour_of_storms_is_quiet() {
    if !has_program("promtool", "an_hour_of_storms_is_quiet") {
        return;
    }
    let scraped = Scraped::new(&hour_of_storms());
    assert_eq!(scraped.end(), Some(120), "the first storm takes all");
    assert!(scraped.number(REACHABLE, 125) > 1000.0, "and gives it back");
    assert_eq!(scraped.alerts(&rules()), BTreeMap::new());
}

#[test]
fn a_database_that_starts_is_quiet() {
    if !has_program("promtool", "a_database_that_starts_is_quiet") {
        return;
    }
    let scraped = Scraped::new(&start_of_a_database());
    assert!(scraped.number(REACHABLE, 140) < 0.5 * scraped.number(REACHABLE, 100));
    assert_eq!(scraped.alerts(&rules()), BTreeMap::new());
}

#[test]
fn leak_fires_an_alert_before_the_end() {
    if !has_program("promtool", "leak_fires_an_alert_before_the_end") {
        return;
    }
    let of_process = |hours| (format!("a process, {hours} h"), leak_of_a_process(hours));
    let of_slab = |hours| (format!("slab objects, {hours} h"), leak_of_slab_objects(hours));
    let leaks = [
        (of_process(2), 20),
        (of_process(10), 120),
        (of_process(48), 60),
        (of_slab(2), 20),
        (of_slab(10), 120),
    ];
    for ((what, story), at_least) in leaks {
        let scraped = Scraped::new(&story);
        let end = scraped.end().unwrap_or_else(|| panic!("{what} has no end")) as u64;
        let fired = scraped.alerts(&rules());
        println!("{what}: the end after {} min of leaking", end - 600);
        for (alert, minute) in &fired {
            println!("  {alert} {} min before it", end.cast_signed() - minute.cast_signed());
        }
        let fired_at =
            fired.get("NeededBlocksEnd").unwrap_or_else(|| panic!("{what} fires no alert: {fired:?}"));
        assert!(*fired_at > 600, "{what}: fired before it began");
        assert!(fired_at + at_least <= end, "{what}: fired at {fired_at}, and it ends at {end}");
    }
}

/// What keeps the start of a program from looking like a leak: the half hour before falls, too.
const BEFORE: &str = "[30m] offset 30m, 4 * 3600)\n                < ignoring (when) freehold_need_blocks";

/// The same without it: what was free half an hour ago.
const WITHOUT_BEFORE: &str = "[30m] offset 30m, 0)\n                > ignoring (when) freehold_need_blocks";

/// The rules with an error: what stands in one alert's rule, and what is put there.
fn planted(alert: &str, from: &str, to: &str) -> String {
    let rules = rules();
    let at = rules.find(&format!("- alert: {alert}\n")).expect("an alert");
    let (before, rule) = rules.split_at(at);
    assert!(rule.contains(from), "{from} is not in {rule}");
    format!("{before}{}", rule.replacen(from, to, 1))
}

#[test]
fn broken_rules_fail_the_stories() {
    if !has_program("promtool", "broken_rules_fail_the_stories") {
        return;
    }
    let (server, storms) = (Scraped::new(&day_of_a_file_server()), Scraped::new(&hour_of_storms()));
    let database = Scraped::new(&start_of_a_database());
    for (scraped, alert, from, to) in [
        (&storms, "NeededBlocksUnlikely", "        for: 10m\n", ""),
        (&server, "NeededBlocksUnlikely", "== 2", "== 0"),
        (&server, "NeededBlocksUnlikely", "== 2", "== 1"),
        (&database, "NeededBlocksEnd", "< ignoring (when)", "> ignoring (when)"),
        (&server, "CompactionFails", "> 1\n", "> 0.1\n"),
        (&storms, "CompactionFails", "        for: 15m\n", ""),
        (&server, "TasksWaitForMemory", "> 0.1", "< 0.1"),
        (&database, "NeededBlocksEnd", "        for: 20m\n", ""),
        (&database, "NeededBlocksEnd", BEFORE, WITHOUT_BEFORE),
    ] {
        let fired = scraped.alerts(&planted(alert, from, to));
        assert!(fired.contains_key(alert), "{alert} with {to:?} for {from:?}: {fired:?}");
    }
    let leak = Scraped::new(&leak_of_a_process(10));
    let end = leak.end().expect("an end") as u64;
    for (from, to) in [("        for: 20m\n", "        for: 10h\n"), ("< 0.5 * max", "< 0.0 * max")] {
        let fired = leak.alerts(&planted("NeededBlocksEnd", from, to));
        assert!(fired.get("NeededBlocksEnd").is_none_or(|&minute| minute > end), "{to}: {fired:?}");
    }
}
