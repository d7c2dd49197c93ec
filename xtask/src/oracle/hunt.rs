//! Making a difference between kernel and engine as small as it gets.

use std::path::Path;

use freehold_oracle::script::shrink;
use freehold_oracle::{Divergence, Op, Script, Step};

use super::campaign::{Failure, difference};
use super::tree::BuiltKernel;

/// How many smaller scripts are tried.
const TRIES: usize = 300;

/// The smallest script found that still differs.
#[derive(Clone, Debug)]
pub struct Prey {
    /// The script, with the state written out before and after the operation that differs.
    pub script: Script,
    /// The difference, with both states.
    pub divergence: Divergence,
}

/// Shrinks a failing script, and has the states around the difference written out.
///
/// `None` if the difference does not show again: it then depends on how the kernel booted.
pub fn hunt(kernel: &BuiltKernel, failure: &Failure, folder: &Path) -> Option<Prey> {
    let mut cut = failure.script.clone();
    cut.steps.truncate(failure.divergence.operation + 1);
    let smallest = shrink(&cut, |script| difference(kernel, script, folder).is_some(), TRIES);
    [smallest, cut].into_iter().find_map(|mut script| {
        let divergence = difference(kernel, &script, folder)?;
        script.steps.truncate(divergence.operation + 1);
        let written_out = with_dumps(&script);
        match difference(kernel, &written_out, folder) {
            Some(divergence) => Some(Prey { script: written_out, divergence }),
            None => Some(Prey { script, divergence }),
        }
    })
}

/// The script with the state written out around its last operation.
fn with_dumps(script: &Script) -> Script {
    let mut script = script.clone();
    if let Some(last) = script.steps.pop() {
        let dump = Step { op: Op::Dump, slot: 0, ..last };
        script.steps.extend([dump, last, dump]);
    }
    script
}
