//! Connections: in come clients, out go those that are served; nobody may keep others waiting.

mod doorman;
mod stalling;

pub(super) use doorman::Doorman;
