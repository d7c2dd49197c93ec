//! Comparisons that several tests look at, each made once.

use std::fs;
use std::sync::LazyLock;

use serde_json::Value;

use super::{folder, run, sample};

/// What `freehold compare` prints of a trace, and what it writes beside that.
pub(crate) struct Compared {
    /// What it prints: the answer in short, or every table with `--csv`.
    pub(crate) printed: String,
    /// What `report.json` has of the trace; its `comparison` is what `--json` prints.
    pub(crate) trace: Value,
    /// The page.
    pub(crate) page: String,
}

impl Compared {
    fn new(trace: &str, options: &[&str]) -> Self {
        let folder = folder();
        let out = folder.path().join("out");
        let args = ["compare", &sample(trace), "--out", out.to_str().expect("UTF-8")];
        let printed = run(args.iter().chain(options)).ok().stdout;
        let text = |name: &str| fs::read_to_string(out.join(name)).expect("a file of the report");
        let report: Value = serde_json::from_str(&text("report.json")).expect("JSON");
        Self { printed, trace: report["traces"][0].clone(), page: text("report.html") }
    }
}

/// The longest trace, replayed with the daemons' looks shifted as often as by default.
///
/// What is printed is what the command prints without `--out`: `the_answer_in_short_is_the_same_beside_a_folder` holds that.
pub(crate) static C_BUILD: LazyLock<Compared> =
    LazyLock::new(|| Compared::new("c-build.arrows", &["--timing-rounds", "1"]));

/// A guest of 512 MiB that runs out of memory: it steals, claims, reclaims and compacts.
///
/// What a thread notes in its second run of one era is not the next era's.
pub(crate) static PIPES: LazyLock<Compared> =
    LazyLock::new(|| Compared::new(PIPES_TRACE, &["--timing-rounds", "2", "--replicates", "2", "--csv"]));

/// The trace of [`PIPES`].
pub(crate) const PIPES_TRACE: &str = "guests/x86-6.18-512m-pipes.arrows";
