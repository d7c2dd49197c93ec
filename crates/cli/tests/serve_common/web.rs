//! A server with a web configuration.

use std::path::Path;

use super::{Machine, Server};

/// `ann:secret`, as the header `Authorization` has it.
pub(crate) const ANN: &str = "Basic YW5uOnNlY3JldA==";

pub(crate) fn users(cost: u32) -> String {
    format!("basic_auth_users:\n  ann: {}\n", bcrypt::hash("secret", cost).unwrap())
}

pub(crate) fn serve(machine: &Machine, config: &Path) -> Server {
    Server::start_with(machine, &["--interval", "0.05", "--web-config", config.to_str().unwrap()])
}
