//! The question before anything is changed.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::anyhow;

use crate::exit::{Cause, Failure};
use crate::output;

/// Shows the plan and asks whether it is to be carried out. Returns true if it is.
///
/// # Errors
/// If there is nobody to ask.
pub(super) fn is_wanted(plan: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let error =
            anyhow!("there is no terminal to ask on. Give --yes to do it, or --dry-run to see the plan");
        return Err(Failure::new(Cause::Input, error));
    }
    for row in plan.lines() {
        output::note(row);
    }
    let _ = write!(io::stderr(), "Do this? [y/N] ").and_then(|()| io::stderr().flush());
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
