//! The public set of traces: takes recipes, and makes recordings and an index of all traces.
//!
//! [`list`] combines the [`works`] with machines, and [`recording`] runs each in QEMU and keeps its trace. [`row`]
//! reads the properties of a trace, [`index`] writes all rows as Parquet, and [`page`] writes them for people.
//! [`command`] is the command line.

pub mod command;
pub mod index;
pub mod list;
pub mod page;
mod recording;
pub mod row;
mod works;
