//! Making a difference between kernel and engine as small as it gets.

use std::path::Path;

use freehold_oracle::shrink::shrink;
use freehold_oracle::{Divergence, Op, Script, Step, Verdict};

use super::campaign::{Failure, differs, hold_against};
use super::error::Result;
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
/// # Errors
/// See [`super::OracleError`].
pub fn hunt(kernel: &BuiltKernel, failure: &Failure, folder: &Path) -> Result<Prey> {
    let mut cut = failure.script.clone();
    cut.steps.truncate(failure.divergence.operation + 1);
    let mut smallest = shrink(&cut, |script| differs(kernel, script, folder), TRIES);
    let divergence = match hold_against(kernel, &smallest, folder, "hunt")? {
        Verdict::Differs(divergence) => *divergence,
        Verdict::Same { .. } => {
            smallest = cut;
            failure.divergence.clone()
        }
    };
    smallest.steps.truncate(divergence.operation + 1);
    let script = with_dumps(&smallest);
    let divergence = match hold_against(kernel, &script, folder, "hunt")? {
        Verdict::Differs(with_states) => *with_states,
        Verdict::Same { .. } => divergence,
    };
    Ok(Prey { script, divergence })
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
