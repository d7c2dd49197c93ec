//! Where a machine's memory stands: free blocks, trends, and whether a request can be served.
//!
//! A [`freehold_linux::sample::Sample`] is one reading of the machine. A [`model::Model`] is made of two
//! samples, and every output renders a model.
#![forbid(unsafe_code)]

pub mod blame;
pub mod callers;
pub mod diff;
pub mod model;
#[cfg(test)]
mod sample_tests;
pub mod series;
pub mod serve;
pub mod text;
pub mod threshold;
pub mod top;
pub mod verdict;
