//! Where a machine's memory stands.
//!
//! A [`freehold_linux::sample::Sample`] is one look at the machine; [`model::Model`] is what two looks
//! say; every output renders the model.
#![forbid(unsafe_code)]

pub mod history;
pub mod map;
pub mod model;
pub mod monitor;
pub mod rates;
pub mod serve;
pub mod text;
pub mod threshold;
pub mod top;
pub mod trend;
pub mod verdict;
