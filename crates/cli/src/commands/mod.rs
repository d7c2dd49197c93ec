//! One file or folder a command: in come arguments, out comes what `main` makes an exit code of.

pub(super) mod analyze;
pub(super) mod bench;
pub(super) mod check;
pub(super) mod compare;
pub(super) mod generate;
pub(super) mod import;
pub(super) mod predict;
pub(super) mod record;
mod record_until;
mod recorded;
pub(super) mod replay;
pub(super) mod serve;
pub(super) mod snapshot;
pub(super) mod sweep;
mod thresholds;
pub(super) mod top;
pub(super) mod trace;
pub(super) mod watch;
