//! The tests of the monitor as one program.

mod calibration;
mod kernels;
mod metrics_documents;
mod ranges;
mod top_screens;
