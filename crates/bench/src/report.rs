//! What a benchmark found, in three forms.

use std::fmt::Write as _;
use std::fs;

use freehold_lab::Table;
use serde::Serialize;

use crate::chart::Chart;
use crate::harness::Digest;

/// What one benchmark found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Name of the table on the command line.
    pub name: String,
    /// The tables.
    pub tables: Vec<Table>,
    /// More numbers than a person wants to read at once.
    pub details: Vec<Table>,
    /// What has to be known to read the tables.
    pub notes: Vec<String>,
    /// A digest of all frames that were handed out, and of all numbers that were read.
    pub digest: String,
    /// The pictures.
    pub charts: Vec<Chart>,
}

impl Report {
    /// An empty report.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tables: Vec::new(),
            details: Vec::new(),
            notes: Vec::new(),
            digest: String::new(),
            charts: Vec::new(),
        }
    }

    pub(crate) fn finish(mut self, digest: Digest) -> Self {
        self.digest = format!("{:016x}", digest.0);
        self
    }

    /// The tables, then the notes and the digest, a line each.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for table in &self.tables {
            text += &table.to_text();
            text += "\n\n";
        }
        for note in &self.notes {
            // Writing into a string does not fail.
            let _ = writeln!(text, "- {note}");
        }
        text + &format!("- digest of the work: {}\n", self.digest)
    }
}

/// The machine that a run was on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Environment {
    /// Version of Freehold.
    pub version: &'static str,
    /// Model of the processor.
    pub processor: String,
    /// Processors that the benchmarks may use.
    pub processors: usize,
    /// Release of the kernel.
    pub kernel: String,
    /// How many tasks were runnable when the run began, on average over a minute.
    pub load: f64,
    /// Whether the compiler optimised the program.
    pub optimised: bool,
}

impl Environment {
    /// What this machine says of itself; what it does not say is empty.
    pub fn here() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            processor: model.map(|(_, name)| name.to_owned()).unwrap_or_default(),
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default(),
            optimised: !cfg!(debug_assertions),
        }
    }

    /// One line for the top of the tables.
    pub fn headline(&self) -> String {
        let optimised = if self.optimised { "" } else { "; NOT OPTIMISED: build with --release" };
        format!(
            "freehold {}, {}, {} processors, Linux {}, load {}{optimised}",
            self.version, self.processor, self.processors, self.kernel, self.load
        )
    }
}
