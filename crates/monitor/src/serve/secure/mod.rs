//! TLS and basic authentication: a web configuration comes in; what a handshake and a request need goes out.
//!
//! The file has the names of the exporter toolkit of Prometheus. It, the certificate and the key are read anew when they
//! have changed.

mod error;
mod secured;
mod settings;
mod stamp;
mod tls;
mod users;
mod yaml;

pub use error::WebConfigError;

pub(super) use secured::Secured;
