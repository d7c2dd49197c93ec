//! What only root may do.

use anyhow::anyhow;

use crate::exit::{Cause, Failure};

/// Fails if this process is not root's, which alone may `do_it`. `or` is what else the user can do.
pub(super) fn must_be_root(do_it: &str, or: &str) -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let error = anyhow!("only root may {do_it}. Run the same command as root, or {or}");
    Err(Failure::new(Cause::Machine, error))
}
