//! One file a command.

pub(crate) mod analyze;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod record;
mod record_until;
pub(crate) mod replay;
pub(crate) mod serve;
pub(crate) mod snapshot;
pub(crate) mod sweep;
pub(crate) mod top;
pub(crate) mod trace;
pub(crate) mod watch;
