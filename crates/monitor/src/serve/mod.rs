//! The monitor for browsers and Prometheus: in come samples, out go a page, its events, and metrics.
//!
//! A thread takes samples and publishes what they say; the server only renders what was published last, so
//! no request reads anything from the machine, waits for a sample, or changes anything.

mod answers;
mod connections;
mod error;
pub mod metrics;
mod notify;
mod publishing;
mod server;

pub use error::ServeError;
pub use server::{ServeOptions, serve};
