//! The file of metrics that `freehold snapshot` writes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command};

use super::Machine;

pub(crate) fn metrics_file(machine: &Machine, file: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["snapshot", "--format", "metrics", "--sensor", "procfs", "--root"]).arg(machine.0.path());
    command.arg("-o").arg(file).args(more);
    command
}

/// A process that is killed when dropped.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The series of a text, each with its labels in the order of their names, as `node_exporter` writes them.
pub(crate) fn labelled_series(text: &str) -> BTreeSet<(String, BTreeSet<String>)> {
    let lines = text.lines().filter(|line| line.starts_with("freehold_"));
    let parts = |line: &str| {
        let labelled = line.rsplit_once(' ').expect("a value").0;
        let (name, labels) = labelled.split_once('{').unwrap_or((labelled, ""));
        (name.to_owned(), labels.trim_end_matches('}').split(',').map(str::to_owned).collect())
    };
    lines.map(parts).collect()
}
