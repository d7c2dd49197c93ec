//! Where a machine's memory stands.
//!
//! A [`freehold_linux::sample::Sample`] is one look at the machine; [`model::Model`] is what two looks
//! say; every output renders the model.
#![forbid(unsafe_code)]

pub mod model;
#[cfg(test)]
mod sample_tests;
pub mod series;
pub mod serve;
pub mod text;
pub mod threshold;
pub mod top;
pub mod verdict;
