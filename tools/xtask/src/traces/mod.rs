//! The public set of traces: recipes come in; recordings, and an index of them and of the committed ones, go out.
//!
//! [`list`] says which of the [`works`] is recorded on which machine, [`recording`] boots it in QEMU and keeps what it hands
//! out, [`row`] is what a trace's file says of itself, [`index`] holds the rows as Parquet, [`page`] shows them, [`command`]
//! does all of it.

pub mod command;
pub mod index;
pub mod list;
pub mod page;
mod recording;
pub mod row;
mod works;
