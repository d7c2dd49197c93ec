//! The arguments of `freehold dev completions` and `freehold dev man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The folder; it is created if missing.
    pub(crate) folder: PathBuf,
}
