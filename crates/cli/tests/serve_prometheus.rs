//! `freehold serve` scraped by a real Prometheus, with the alert rules loaded.

mod serve_common;

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use freehold_needs::has_program;
use serde_json::Value;
use serve_common::{Machine, Server, get_json, wait_for};

fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/prometheus").join(name)
}

/// A byte as a part of an address.
fn escaped(byte: u8) -> [char; 3] {
    let digit = |value: u8| char::from_digit(value.into(), 16).expect("half a byte");
    ['%', digit(byte >> 4), digit(byte & 15)]
}

/// A Prometheus of a test's own; killed when dropped.
struct Prometheus {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    fn start(target: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [{}]\nscrape_configs:\n- \
             job_name: freehold\n  params: {{all: [\"\"]}}\n  static_configs: [{{targets: [\"{target}\"]}}]\n",
            contrib("freehold.rules.yml").canonicalize().unwrap().display()
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
        command.arg(format!("--web.listen-address={free}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("prometheus starts");
        Self { child, address: free.to_string(), _folder: folder }
    }

    /// The first value that a query answers.
    fn query(&self, query: &str) -> Option<f64> {
        let query: String = query.bytes().flat_map(escaped).collect();
        let answer = get_json(&self.address, &format!("/api/v1/query?query={query}"))?;
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_prometheus_scrapes_it_and_takes_the_rules() {
    if !has_program("prometheus", "a_real_prometheus_scrapes_it_and_takes_the_rules") {
        return;
    }
    let machine = Machine::new();
    let server = Server::start(&machine);
    let prometheus = Prometheus::start(&server.address);
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
    let rules = rules["data"]["groups"][0]["rules"].as_array().expect("rules").clone();
    assert!(rules.len() >= 8);
    wait_for("an evaluation of every rule", || {
        let rules = get_json(&prometheus.address, "/api/v1/rules")?;
        let rules = rules["data"]["groups"][0]["rules"].as_array()?.clone();
        rules.iter().all(|rule: &Value| rule["health"] == "ok").then_some(())
    });
    let metadata = get_json(&prometheus.address, "/api/v1/metadata").expect("metadata");
    assert_eq!(metadata["data"]["freehold_unusable_index"][0]["type"], "gauge");
}

#[test]
fn the_alert_rules_are_sound_and_fire_when_they_should() {
    if !has_program("promtool", "the_alert_rules_are_sound_and_fire_when_they_should") {
        return;
    }
    for (what, file) in [("check", "freehold.rules.yml"), ("test", "freehold.rules.test.yml")] {
        let ran = Command::new("promtool").args([what, "rules"]).arg(contrib(file)).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    }
}

#[test]
fn promtool_finds_nothing_to_say_about_the_classic_text() {
    if !has_program("promtool", "promtool_finds_nothing_to_say_about_the_classic_text") {
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
