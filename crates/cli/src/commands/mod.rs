//! One file or folder a command: in come arguments, out comes what `main` makes an exit code of.

pub(crate) mod analyze;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod predict;
pub(crate) mod record;
mod record_until;
mod recorded;
pub(crate) mod replay;
pub(crate) mod serve;
pub(crate) mod snapshot;
pub(crate) mod sweep;
mod thresholds;
pub(crate) mod top;
pub(crate) mod trace;
pub(crate) mod watch;
