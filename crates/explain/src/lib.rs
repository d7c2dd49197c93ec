//! Why an allocation failed: the kernel's own reports in, a class and its reasons out.
//!
//! A log comes in through [`Log::read`], which keeps the newest report of each kind. [`Answer`] explains the newest of
//! each kind as text, and the newest of all as JSON. Nothing here opens a file, reads a clock or prints.
#![forbid(unsafe_code)]

mod answer;
mod reason;
mod replay;
mod report;
mod text;

pub use answer::Answer;
pub use reason::{Class, Sure};
pub use report::{Kind, Log};
