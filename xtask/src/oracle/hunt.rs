//! Making a difference between kernel and engine as small as it gets.

use std::path::Path;

use freehold_oracle::families::Plan;
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
    pub plan: Plan,
    /// The difference, with both states.
    pub divergence: Divergence,
}

/// Shrinks a failing script, and has the states around the difference written out.
///
/// # Errors
/// See [`super::OracleError`].
pub fn hunt(kernel: &BuiltKernel, failure: &Failure, folder: &Path) -> Result<Prey> {
    let mut script = failure.plan.script.clone();
    script.steps.truncate(failure.divergence.operation + 1);
    let mut smallest = shrink(&script, |script| differs(kernel, &failure.plan, script, folder), TRIES);
    let mut plan = Plan { script: smallest.clone(), ..failure.plan.clone() };
    let Verdict::Differs(divergence) = hold_against(kernel, &plan, folder, "hunt")? else {
        return Ok(Prey { plan: failure.plan.clone(), divergence: failure.divergence.clone() });
    };
    smallest.steps.truncate(divergence.operation + 1);
    plan.script = with_dumps(&smallest);
    match hold_against(kernel, &plan, folder, "hunt")? {
        Verdict::Differs(divergence) => Ok(Prey { plan, divergence: *divergence }),
        Verdict::Same { .. } => Ok(Prey { plan, divergence: *divergence }),
    }
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
