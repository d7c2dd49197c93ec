//! The repository's checks and builds, as functions that tests can call.

pub mod bench;
pub mod calibrate;
pub mod counterfactual;
pub mod dist;
pub mod fuzz;
pub mod guest;
pub mod instructions;
pub mod kernel;
pub mod live;
pub mod markdown;
pub mod oracle;
pub mod proposals;
pub mod sensor;
pub mod series;
pub mod site;
pub mod supply;
pub mod tidy;
pub mod traces;

use std::path::Path;

/// Returns the repository's root.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
