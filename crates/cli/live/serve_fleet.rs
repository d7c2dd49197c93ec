//! Five hundred machines under one Prometheus: what the fleet's dashboard and rules ask is answered in under a second.
//!
//! The machines are texts of real servers, of fixtures and of this machine, each with other numbers; a day of what the
//! rules record is written into Prometheus's blocks before it starts.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use freehold_needs::{has_program, is_root};

use crate::prometheus::{Prometheus, contrib};
use crate::serve_common::{Server, get_json, wait_for};

const MACHINES: usize = 500;

/// How long a query or a rule may take.
const BOUND: Duration = Duration::from_secs(1);

/// Minutes of what rules record that lie behind.
const PAST_MINUTES: u64 = 24 * 60;

/// Minutes between two values of pressure that lie behind: Prometheus takes one for five minutes.
const PRESSURE_MINUTES: usize = 4;

/// From one point of a picture to the next.
const STEP_SECONDS: u64 = 120;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    /// A number from 0 up to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }
}

/// The default of a real server, once its verdicts are complete.
fn recorded(root: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    let Some(fixture) = root else {
        let output = command
            .args(["snapshot", "--format", "metrics", "--need", "1"])
            .output()
            .expect("the binary starts");
        return String::from_utf8(output.stdout).expect("a text");
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures");
    command.args(["serve", "--interval", "0.1", "--need", "1", "--listen", "127.0.0.1:0", "--root"]);
    let server = Server::run(command.arg(fixtures.join(fixture)));
    wait_for("a verdict with a forecast", || {
        let text = server.get("/metrics").body;
        text.contains("when=\"after-reclaim-and-compaction\"").then_some(text)
    })
}

/// The text of one machine: blocks and free pages are shares of the recorded ones, and every counter goes on.
fn varied(text: &str, share: f64, seconds: f64) -> String {
    let mut varied = String::new();
    for line in text.lines() {
        let Some((labelled, number)) = line.rsplit_once(' ').filter(|_| !line.starts_with('#')) else {
            let _ = writeln!(varied, "{line}");
            continue;
        };
        let name = labelled.split('{').next().unwrap_or_default();
        let number: f64 = number.parse().expect("a number");
        let _ = match name {
            "freehold_verdict_blocks" | "freehold_machine_free_pages" => {
                writeln!(varied, "{labelled} {}", (number * share).floor())
            }
            _ if name.ends_with("_total") => {
                writeln!(varied, "{labelled} {}", number + (share * 100.0 * seconds).floor())
            }
            _ => writeln!(varied, "{labelled} {number}"),
        };
    }
    varied
}

/// Answers `/m/N` with the text of machine N, for as long as the test runs.
fn answer(listener: &TcpListener, texts: &[(String, f64)]) {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for stream in listener.incoming().map_while(Result::ok) {
                    // Prometheus keeps connections; one answer each is enough here.
                    let _ = one(stream, texts, start.elapsed().as_secs_f64());
                }
            });
        }
    });
}

fn one(mut stream: TcpStream, texts: &[(String, f64)], seconds: f64) -> std::io::Result<()> {
    let (mut head, mut bytes) = (Vec::new(), [0; 4096]);
    while !head.ends_with(b"\r\n\r\n") {
        let length = stream.read(&mut bytes)?;
        if length == 0 {
            return Ok(());
        }
        head.extend_from_slice(&bytes[..length]);
    }
    let head = String::from_utf8_lossy(&head);
    let number = head.split("/m/").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    let (text, share) = &texts[number.expect("a machine's number")];
    let body = varied(text, *share, seconds);
    let length = body.len();
    let kind = "Content-Type: text/plain; version=0.0.4";
    write!(stream, "HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// Returns true if the machine of a text has ranges of 1 GiB, whenever they are there.
fn has_gigabytes(text: &str) -> bool {
    let rows = text.lines().filter(|line| line.starts_with("freehold_verdict_blocks{size=\"1G\""));
    rows.filter_map(|line| line.rsplit_once(' ')).any(|(_, number)| number != "0")
}

/// The size of a text's huge pages, such as `2M`.
fn huge_size(text: &str) -> String {
    let size = text.split("freehold_verdict_blocks{size=\"").nth(1).and_then(|rest| rest.split('"').next());
    size.expect("a verdict").to_owned()
}

fn instance(number: usize) -> String {
    format!("m{number:03}")
}

/// A day of what the rules record of each machine, as Prometheus's blocks in `data`: its share of huge pages, and its pressure.
fn write_past(folder: &Path, sizes: &[String], random: &mut Random) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let mut text = String::from("# TYPE instance_size:freehold_reachable:ratio gauge\n");
    for (number, size) in sizes.iter().enumerate() {
        let mut share = 0.4 + 0.5 * random.next();
        for minute in (1..=PAST_MINUTES).rev() {
            share = (share + 0.01 * (random.next() - 0.5)).clamp(0.0, 1.0);
            let _ = writeln!(
                text,
                "instance_size:freehold_reachable:ratio{{instance=\"{}\",job=\"freehold\",size=\"{size}\"}} {share:.4} {}",
                instance(number),
                now - 60 * minute
            );
        }
    }
    text.push_str("# TYPE instance:freehold_memory_full:rate5m gauge\n");
    for number in 0..sizes.len() {
        for minute in (1..=PAST_MINUTES).rev().step_by(PRESSURE_MINUTES) {
            let _ = writeln!(
                text,
                "instance:freehold_memory_full:rate5m{{instance=\"{}\",job=\"freehold\"}} {:.4} {}",
                instance(number),
                0.3 * random.next(),
                now - 60 * minute
            );
        }
    }
    text.push_str("# EOF\n");
    let file = folder.join("past.txt");
    std::fs::write(&file, text).unwrap();
    let mut promtool = Command::new("promtool");
    promtool.args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&file).arg(folder.join("data"));
    let ran = promtool.output().expect("promtool starts");
    assert!(ran.status.success(), "{ran:?}");
    std::fs::remove_file(file).unwrap();
}

/// A query of the dashboard's.
struct Query {
    title: String,
    text: String,
    /// True if it covers a day, as a picture does.
    is_of_a_day: bool,
}

/// The queries of the fleet's dashboard.
fn dashboard() -> Vec<Query> {
    let file = contrib("../grafana/freehold-fleet.json");
    let dashboard: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut queries = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            queries.push(Query {
                title: panel["title"].as_str().unwrap().to_owned(),
                text: target["expr"].as_str().unwrap().to_owned(),
                is_of_a_day: panel["type"] == "timeseries",
            });
        }
    }
    queries
}

fn jobs(address: &str) -> String {
    let targets: Vec<_> = (0..MACHINES).map(|number| format!("\"{number}\"")).collect();
    format!(
        "- job_name: freehold\n  static_configs: [{{targets: [{}]}}]\n  relabel_configs:\n  - {{source_labels: \
         [__address__], target_label: __metrics_path__, replacement: /m/$1}}\n  - {{source_labels: [__address__], regex: \
         '(.)', target_label: instance, replacement: m00$1}}\n  - {{source_labels: [__address__], regex: '(..)', \
         target_label: instance, replacement: m0$1}}\n  - {{source_labels: [__address__], regex: '(...)', target_label: \
         instance, replacement: m$1}}\n  - {{target_label: __address__, replacement: \"{address}\"}}\n",
        targets.join(", ")
    )
}

#[test]
fn queries_of_500_machines_take_under_a_second() {
    let name = "queries_of_500_machines_take_under_a_second";
    if !has_program("prometheus", name) || !has_program("promtool", name) {
        return;
    }
    let mut random = Random(1);
    let mut samples: Vec<_> =
        ["linux-6.1", "linux-7.3", "linux-6.12-arm64-64k"].map(|root| recorded(Some(root))).into();
    if is_root(name) {
        samples.push(recorded(None));
    }
    let texts: Vec<_> =
        (0..MACHINES).map(|number| (samples[number % samples.len()].clone(), random.next())).collect();
    let series: usize =
        texts.iter().map(|(text, _)| text.lines().filter(|line| !line.starts_with('#')).count()).sum();
    let sizes: Vec<_> = texts.iter().map(|(text, _)| huge_size(text)).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // Ends with the process.
    // This machine may have none, or one, of which all shares are less.
    let gigabytes = texts.iter().any(|(text, share)| has_gigabytes(&varied(text, *share, 0.0)));
    std::thread::spawn(move || answer(&listener, &texts));
    let folder = tempfile::tempdir().unwrap();
    write_past(folder.path(), &sizes, &mut random);
    let rules = ["freehold.rules.yml", "freehold-fleet.rules.yml"];
    let prometheus = Prometheus::start(folder, &jobs(&address), &rules, "5s");
    wait_for("a scrape of all", || prometheus.query(&format!("count(up == 1) == {MACHINES}")));
    check_rules(&prometheus);
    // Rules are evaluated one after the other: this is the last.
    wait_for("the last rule's outcome", || prometheus.query("count(size_state:freehold_machines:count) > 1"));
    assert!(prometheus.query("count(instance_size:freehold_reachable_lost1d:ratio > 0)") > Some(100.0));
    check_queries(&prometheus, series, gigabytes);
}

fn check_queries(prometheus: &Prometheus, series: usize, gigabytes: bool) {
    let queries = dashboard();
    assert!(queries.len() > 12);
    let mut slowest = Duration::ZERO;
    // A moment ahead, so that the last point of a picture is not before what was just recorded.
    let now = 5 + SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    for Query { title, text, is_of_a_day } in queries {
        let start = Instant::now();
        let results = if is_of_a_day {
            prometheus.over(&text, now - 60 * PAST_MINUTES, now, STEP_SECONDS)
        } else {
            prometheus.results(&text)
        };
        let took = start.elapsed();
        let results = results.unwrap_or_else(|| panic!("{title}: no answer to {text}"));
        slowest = slowest.max(took);
        let over = if is_of_a_day { "a day" } else { "now" };
        eprintln!("{:>6.1} ms  {over:>5}  {:>3} series  {title}", took.as_secs_f64() * 1e3, results.len());
        assert!(took < BOUND, "{title} took {took:?} over {series} series of {MACHINES} machines: {text}");
        // Over a day the worst twenty are other machines at each point.
        assert!(!is_of_a_day || !text.contains("k(20, "), "{title} is no picture");
        assert!(!text.contains("k(20, ") || results.len() <= 20, "{title}: {}", results.len());
        // A rate of ten minutes is not there after seconds.
        let may_be_empty = text.contains("compact_fail") || (!gigabytes && text.contains("size=\"1G\""));
        assert!(may_be_empty || !results.is_empty(), "{title}: nothing for {text}");
    }
    eprintln!(
        "{MACHINES} machines, {series} series: the slowest query took {:.1} ms",
        slowest.as_secs_f64() * 1e3
    );
}

/// Holds what Prometheus says of its rules against the bound.
fn check_rules(prometheus: &Prometheus) {
    let rules = wait_for("an evaluation of every rule", || {
        let rules = get_json(&prometheus.address, "/api/v1/rules")?;
        let groups = rules["data"]["groups"].as_array()?.clone();
        let rules: Vec<_> =
            groups.iter().flat_map(|group| group["rules"].as_array().cloned().unwrap_or_default()).collect();
        rules.iter().all(|rule| rule["health"] == "ok").then_some(rules)
    });
    assert!(rules.len() >= 15);
    for rule in rules {
        let seconds = rule["evaluationTime"].as_f64().expect("a time");
        eprintln!("{:>6.1} ms  rule {}", seconds * 1e3, rule["name"]);
        assert!(seconds < BOUND.as_secs_f64(), "{} took {seconds} s", rule["name"]);
    }
}
