//! Shrinks a difference between a kernel and the engine.

use std::path::Path;

use freehold_oracle::script::shrink;
use freehold_oracle::{Divergence, Op, Script, Step};

use super::campaign::{Failure, difference};
use super::tree::BuiltKernel;

/// The most smaller scripts that are tried.
const TRIES: usize = 300;

/// The smallest script found that still differs.
#[derive(Clone, Debug)]
pub struct ShrunkFailure {
    /// The script, which dumps the state before and after the operation that differs.
    pub script: Script,
    /// The difference, with both states.
    pub divergence: Divergence,
}

/// Shrinks a failing script and makes it dump the states around the difference.
///
/// Returns `None` if the difference does not occur again: it then depends on how the kernel booted.
pub fn shrink_failure(kernel: &BuiltKernel, failure: &Failure, folder: &Path) -> Option<ShrunkFailure> {
    let mut cut = failure.script.clone();
    cut.steps.truncate(failure.divergence.operation + 1);
    let smallest = shrink(&cut, |script| difference(kernel, script, folder).is_some(), TRIES);
    [smallest, cut].into_iter().find_map(|mut script| {
        let divergence = difference(kernel, &script, folder)?;
        script.steps.truncate(divergence.operation + 1);
        let written_out = with_dumps(&script);
        match difference(kernel, &written_out, folder) {
            Some(divergence) => Some(ShrunkFailure { script: written_out, divergence }),
            None => Some(ShrunkFailure { script, divergence }),
        }
    })
}

/// Returns the script with dumps around its last operation.
fn with_dumps(script: &Script) -> Script {
    let mut script = script.clone();
    if let Some(last) = script.steps.pop() {
        let dump = Step { op: Op::Dump, slot: 0, ..last };
        script.steps.extend([dump, last, dump]);
    }
    script
}
