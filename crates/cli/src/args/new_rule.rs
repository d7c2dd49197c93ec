//! The arguments of `freehold dev new-rule`.

use std::path::PathBuf;

use clap::Args;

pub(super) const LONG_ABOUT: &str = "\
Start a crate for a rule of placement: which pageblock a request of another type claims, where it steals, what is tidied. \
The crate has a rule to begin with, and a program that compares it with the eras over a trace. It is compiled with \
Freehold's source.";

#[derive(Args, Debug)]
pub(crate) struct NewRule {
    /// The name of the rule and its crate: letters, digits, - and _.
    #[arg(value_parser = parse_name, value_name = "NAME")]
    pub(crate) name: String,
    /// A folder that does not exist yet [default: NAME].
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Freehold's source [default: this folder or the next one above that is it].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) source: Option<PathBuf>,
}

/// Names that Cargo refuses, or that Freehold's own crates have.
const TAKEN: [&str; 11] = [
    "test",
    "core",
    "std",
    "alloc",
    "build",
    "deps",
    "examples",
    "incremental",
    "freehold",
    "freehold-lab",
    "freehold-trace",
];

fn parse_name(name: &str) -> Result<String, String> {
    let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !is_plain {
        return Err("a name begins with a letter, and has letters, digits, - and _".to_owned());
    }
    if TAKEN.contains(&name) {
        return Err("that is the name of another crate".to_owned());
    }
    Ok(name.to_owned())
}
