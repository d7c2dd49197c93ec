//! Comparisons that several tests look at, each made once.

use std::fs;
use std::sync::LazyLock;

use serde_json::Value;

use super::{finish, folder, freehold};

/// The output of `freehold compare` for a trace, and its files.
pub(crate) struct Compared {
    /// The printed text: the summary, or every table with `--csv`.
    pub(crate) printed: String,
    /// The trace in `report.json`; its `comparison` equals the output of `--json`.
    pub(crate) trace: Value,
    /// The page.
    pub(crate) page: String,
}

impl Compared {
    fn new(trace: &str, options: &[&str]) -> Self {
        let folder = folder();
        let out = folder.path().join("out");
        let trace = format!("traces/{trace}");
        let args = ["compare", &trace, "--out", out.to_str().expect("UTF-8")];
        // From the root, as a user runs it: the first line has the path, and what fits on the screen depends on it.
        let mut command = freehold(args.iter().chain(options));
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let printed = finish(command).ok().stdout;
        let text = |name: &str| fs::read_to_string(out.join(name)).expect("a file of the report");
        let report: Value = serde_json::from_str(&text("report.json")).expect("JSON");
        Self { printed, trace: report["traces"][0].clone(), page: text("report.html") }
    }
}

/// The longest trace, with as many replicates (jittered daemon wake-ups) as by default.
///
/// The text equals that without `--out`; `summary_is_the_same_with_an_output_folder` checks this.
pub(crate) static C_BUILD: LazyLock<Compared> =
    LazyLock::new(|| Compared::new("c-build.arrows", &["--timing-rounds", "1"]));

/// A guest of 512 MiB that runs out of memory: it steals, claims, reclaims and compacts.
///
/// What a thread notes in its second run of one era is not the next era's.
pub(crate) static PIPES: LazyLock<Compared> =
    LazyLock::new(|| Compared::new(PIPES_TRACE, &["--timing-rounds", "2", "--replicates", "2", "--csv"]));

/// The trace of [`PIPES`].
pub(crate) const PIPES_TRACE: &str = "guests/x86-6.18-512m-pipes.arrows";
