//! `freehold dev completions` and `freehold dev man`: what shells and `man` know of the command line.

use std::fs;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::{Cli, Completions, Man};
use crate::exit::{Cause, Failure};
use crate::output;

/// Prints a shell's completions.
pub(crate) fn completions(args: &Completions) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "freehold", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

/// Writes a page of the manual for each command.
pub(crate) fn man(args: &Man) -> Result<(), Failure> {
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .with_context(|| format!("the manual cannot be written to {}", folder.display()))
        .map_err(|error| Failure::new(Cause::Output, error))
}
