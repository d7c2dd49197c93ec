//! The monitor for browsers and Prometheus: samples come in; a page, its events, and metrics go out.
//!
//! A thread in `publishing` takes samples and publishes them. `answers` renders only what was published last, so no request reads
//! the machine, waits for a sample, or changes anything. Every metric is a row of a table in `metrics`. `textfile.rs` writes the
//! same for `node_exporter`. `secure` reads TLS settings and users, again when a file changes. `socket.rs` serves the text of
//! `pagetypeinfo`.

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
