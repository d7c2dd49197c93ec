//! A Prometheus of a test's own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::serve_common::get_json;

pub(crate) fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/prometheus").join(name)
}

/// Copies a file of rules, whose groups are evaluated as often as all else, so that no test waits a minute.
fn hurried(name: &str, folder: &Path, interval: &str) -> String {
    let text = std::fs::read_to_string(contrib(name)).expect("rules");
    let file = folder.join(name);
    std::fs::write(&file, text.replace("    interval: 1m\n", &format!("    interval: {interval}\n")))
        .unwrap();
    file.display().to_string()
}

/// A byte as a part of an address.
fn escaped(byte: u8) -> [char; 3] {
    let digit = |value: u8| char::from_digit(value.into(), 16).expect("half a byte");
    ['%', digit(byte >> 4), digit(byte & 15)]
}

/// A Prometheus of a test's own; killed when dropped.
pub(crate) struct Prometheus {
    child: Child,
    pub(crate) address: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    /// Starts one with these scrape configurations and files of rules.
    pub(crate) fn with_jobs(jobs: &str, rules: &[&str]) -> Self {
        Self::start(tempfile::tempdir().unwrap(), jobs, rules, "1s")
    }

    /// Starts one that has its blocks in `data` below `folder`, and scrapes and evaluates every `interval`.
    pub(crate) fn start(folder: tempfile::TempDir, jobs: &str, rules: &[&str], interval: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let rules: Vec<_> = rules.iter().map(|name| hurried(name, folder.path(), interval)).collect();
        let config = format!(
            "global: {{scrape_interval: {interval}, scrape_timeout: {interval}, evaluation_interval: {interval}}}\nrule_files: \
             [{}]\nscrape_configs:\n{jobs}",
            rules.join(", ")
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
        command.arg("--storage.tsdb.retention.time=30d");
        command.arg(format!("--web.listen-address={free}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("prometheus starts");
        Self { child, address: free.to_string(), _folder: folder }
    }

    /// Everything that a query answers.
    pub(crate) fn results(&self, query: &str) -> Option<Vec<serde_json::Value>> {
        self.ask("query", query, "")
    }

    /// Everything that a query answers of the times from `start` to `end`, in seconds since 1970, as a picture asks.
    pub(crate) fn over(
        &self,
        query: &str,
        start: u64,
        end: u64,
        step: u64,
    ) -> Option<Vec<serde_json::Value>> {
        self.ask("query_range", query, &format!("&start={start}&end={end}&step={step}"))
    }

    fn ask(&self, how: &str, query: &str, more: &str) -> Option<Vec<serde_json::Value>> {
        let query: String = query.bytes().flat_map(escaped).collect();
        let answer = get_json(&self.address, &format!("/api/v1/{how}?query={query}{more}"))?;
        answer["data"]["result"].as_array().cloned()
    }

    /// The first value that a query answers.
    pub(crate) fn query(&self, query: &str) -> Option<f64> {
        self.results(query)?.first()?["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
