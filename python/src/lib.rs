//! The module `freehold._freehold` of the Python package `freehold`: the lab and the engine.
//!
//! `lab.rs` and `sweep.rs` parse settings with the table of the lab. `waiting.rs` runs the lab on its own thread, so
//! that signals and progress reach Python. `outcome.rs` and `table.rs` make Arrow tables, which `arrow.rs` exports;
//! `events.rs` reads a trace batch by batch. `rules.rs` calls placement rules written in Python. `memory` runs an
//! engine on the thread that owns its tables.
#![deny(unsafe_code)]

mod arrow;
mod error;
mod events;
mod html;
mod json;
mod lab;
mod memory;
mod outcome;
mod rules;
mod settings;
mod sweep;
mod table;
mod trace;
mod waiting;

use pyo3::prelude::*;

/// The lab and the engine of Freehold.
#[pymodule]
mod _freehold {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::error::{AllocError, BlockError, BugError, Error, FreeError, InputError};
    #[pymodule_export]
    use crate::events::Events;
    #[pymodule_export]
    use crate::lab::{analyze, compare, predict, replay};
    #[pymodule_export]
    use crate::memory::Memory;
    #[pymodule_export]
    use crate::outcome::Outcome;
    #[pymodule_export]
    use crate::rules::{FallbackRequest, Offer, Pageblock};
    #[pymodule_export]
    use crate::settings::{eras, settings};
    #[pymodule_export]
    use crate::sweep::{
        failed_rows, rows_of_parquet, rows_to_parquet, runs_of_a_trace, sweep, sweep_result, sweep_shard,
    };
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::trace::Trace;
}
