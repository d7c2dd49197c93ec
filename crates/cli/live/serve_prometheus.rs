//! `freehold serve` scraped by a real Prometheus, with the alert rules loaded.

use std::io::Write;
use std::process::{Command, Stdio};

use freehold_needs::has_program;
use serde_json::Value;

use crate::prometheus::{Prometheus, contrib};
use crate::serve_common::{Machine, Server, get_json, wait_for};

#[test]
fn a_real_prometheus_scrapes_it_and_takes_the_rules() {
    if !has_program("prometheus", "a_real_prometheus_scrapes_it_and_takes_the_rules") {
        return;
    }
    let machine = Machine::new();
    let server = Server::start(&machine);
    let job = format!(
        "- job_name: freehold\n  params: {{all: [\"\"]}}\n  static_configs: [{{targets: [\"{}\"]}}]\n",
        server.address
    );
    let prometheus = Prometheus::with_jobs(&job, &["freehold.rules.yml", "freehold-fleet.rules.yml"]);
    wait_for("the first scrape", || prometheus.query("up{job=\"freehold\"} == 1"));
    let free = prometheus.query("sum(freehold_free_pages)").expect("a series");
    assert!(free > 0.0);
    let scraped = prometheus.query("scrape_samples_scraped").expect("a number of samples");
    let text = server.get("/metrics?all").body;
    let samples = text.lines().filter(|line| !line.starts_with('#')).count();
    assert!((scraped - samples as f64).abs() < 5.0, "{scraped} scraped of {samples}");

    machine.set_largest_blocks(7);
    let query = "freehold_free_blocks{zone=\"Normal\",order=\"10\"} == 7";
    wait_for("the changed value", || prometheus.query(query));

    let rules = get_json(&prometheus.address, "/api/v1/rules").expect("rules");
    let groups = rules["data"]["groups"].as_array().expect("groups");
    let count: usize = groups.iter().map(|group| group["rules"].as_array().expect("rules").len()).sum();
    assert!(groups.len() == 3 && count >= 15, "{count} rules in {} groups", groups.len());
    wait_for("an evaluation of every rule", || {
        let rules = get_json(&prometheus.address, "/api/v1/rules")?;
        let groups = rules["data"]["groups"].as_array()?.clone();
        let mut rules = groups.iter().flat_map(|group| group["rules"].as_array().expect("rules"));
        rules.all(|rule: &Value| rule["health"] == "ok").then_some(())
    });
    let metadata = get_json(&prometheus.address, "/api/v1/metadata").expect("metadata");
    assert_eq!(metadata["data"]["freehold_unusable_index"][0]["type"], "gauge");
}

#[test]
fn the_alert_rules_are_sound_and_fire_when_they_should() {
    if !has_program("promtool", "the_alert_rules_are_sound_and_fire_when_they_should") {
        return;
    }
    for (what, file) in [
        ("check", "freehold.rules.yml"),
        ("test", "freehold.rules.test.yml"),
        ("check", "freehold-fleet.rules.yml"),
        ("test", "freehold-fleet.rules.test.yml"),
    ] {
        let ran = Command::new("promtool").args([what, "rules"]).arg(contrib(file)).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    }
}

#[test]
fn promtool_accepts_the_classic_text() {
    if !has_program("promtool", "promtool_accepts_the_classic_text") {
        return;
    }
    let machine = Machine::new();
    let server = Server::start(&machine);
    let text = server.get("/metrics?all").body;
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().expect("promtool starts");
    promtool.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    let ran = promtool.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.trim().is_empty(), "{said}");
}
