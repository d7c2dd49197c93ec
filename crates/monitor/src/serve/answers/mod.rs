//! Answers: requests come in; the page, its events, its history, metrics and health go out.

mod events;
mod host;
mod page;
mod routes;

pub(super) use host::is_loopback;
pub(super) use routes::{Shared, router};
