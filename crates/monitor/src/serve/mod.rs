//! The monitor for browsers and Prometheus: samples come in; a page, its events, and metrics go out.
//!
//! A thread takes samples and publishes them. The server renders only what was published last, so no
//! request reads the machine, waits for a sample, or changes anything.

mod answers;
mod connections;
mod error;
pub mod metrics;
mod notify;
mod publishing;
mod secure;
mod server;
mod socket;
mod textfile;

pub use error::ServeError;
pub use secure::WebConfigError;
pub use server::{ServeOptions, serve};
pub use socket::serve_text;
pub use textfile::Textfile;
